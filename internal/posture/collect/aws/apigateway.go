package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	resttypes "github.com/aws/aws-sdk-go-v2/service/apigateway/types"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	httptypes "github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"vigil/internal/posture/collect"
)

var restAPIs = detailed(declaration{
	Type: restAPIType, Scope: collect.PerRegion, Service: "apigateway", Doc: "A web interface in the older way of API Gateway.",
	Permissions: []string{"apigateway:GET"},
	Properties: append(properties{
		texts("endpointTypes", "EDGE, REGIONAL or PRIVATE."),
		flag("disableExecuteApiEndpoint", "It answers only under names of its own."),
		text("createdDate", "When it was made."),
		texts("stages", "Its stages."),
		texts("unloggedStages", "The stages without an access log."),
	}, policyProperties...),
	Edges: edges{
		edge("PROTECTED_BY", "The firewall in front of a stage.", webACLType),
		edge("WRITES_TO", "Where access logs go.", logGroupType),
	},
	Events: events{on("apigateway", "CreateRestApi", "UpdateRestApi", "PutRestApi", "DeleteRestApi", "CreateStage", "UpdateStage", "DeleteStage", "CreateDeployment")},
}, func(ctx context.Context, s *scope, names []string, page func([]resttypes.RestApi) error) error {
	client := apigateway.NewFromConfig(s.config)
	if len(names) > 0 {
		out, err := client.GetRestApi(ctx, &apigateway.GetRestApiInput{RestApiId: &names[0]})
		if err != nil {
			return err
		}
		return page([]resttypes.RestApi{{
			Id: out.Id, Name: out.Name, Policy: out.Policy, EndpointConfiguration: out.EndpointConfiguration, CreatedDate: out.CreatedDate,
			DisableExecuteApiEndpoint: out.DisableExecuteApiEndpoint, Tags: out.Tags,
		}})
	}
	in := &apigateway.GetRestApisInput{Limit: aws.Int32(500)}
	return each(ctx, apigateway.NewGetRestApisPaginator(client, in), func(out *apigateway.GetRestApisOutput) error { return page(out.Items) })
}, func(ctx context.Context, s *scope, v *resttypes.RestApi) (*resource, error) {
	id := aws.ToString(v.Id)
	r := s.resource(restAPIType, id)
	r.Name, r.XID = aws.ToString(v.Name), "arn:"+s.partition.name+":apigateway:"+s.region+"::/restapis/"+id
	for name, value := range v.Tags {
		r.Tag(name, value)
	}
	r.Flag("disableExecuteApiEndpoint", v.DisableExecuteApiEndpoint)
	when(r, "createdDate", v.CreatedDate)
	if v.EndpointConfiguration != nil {
		set(r, "endpointTypes", strs(v.EndpointConfiguration.Types))
	}
	if v.Policy != nil {
		policyFacts(r, strings.ReplaceAll(*v.Policy, `\"`, `"`)) // it comes quoted twice
	}
	return r, detail(r, []string{"stages", "unloggedStages", "PROTECTED_BY", "WRITES_TO"}, func() error {
		out, err := apigateway.NewFromConfig(s.config).GetStages(ctx, &apigateway.GetStagesInput{RestApiId: v.Id})
		if err != nil {
			return err
		}
		for _, stage := range out.Item {
			var log *string
			if stage.AccessLogSettings != nil {
				log = stage.AccessLogSettings.DestinationArn
			}
			s.stage(r, stage.StageName, log)
			r.Edge("PROTECTED_BY", s.refs(stage.WebAclArn))
		}
		return nil
	})
})

// stage adds a stage and where its access log goes.
func (s *scope) stage(r *resource, name, log *string) {
	r.Text("stages", aws.ToString(name))
	if aws.ToString(log) == "" {
		r.Text("unloggedStages", aws.ToString(name))
	}
	r.Edge("WRITES_TO", s.refs(log))
}

var httpAPIs = detailed(declaration{
	Type: httpAPIType, Scope: collect.PerRegion, Service: "apigateway", Doc: "A web interface in the newer way of API Gateway.",
	Permissions: []string{"apigateway:GET"},
	Properties: properties{
		text("protocolType", "HTTP or WEBSOCKET."),
		text("apiEndpoint", "Where it answers."),
		flag("disableExecuteApiEndpoint", "It answers only under names of its own."),
		texts("corsAllowOrigins", "The web sites whose pages may call it."),
		text("createdDate", "When it was made."),
		texts("stages", "Its stages."),
		texts("unloggedStages", "The stages without an access log."),
	},
	Edges:  edges{edge("WRITES_TO", "Where access logs go.", logGroupType)},
	Events: events{on("apigateway", "CreateApi", "UpdateApi", "DeleteApi", "CreateStage", "UpdateStage", "DeleteStage")},
}, func(ctx context.Context, s *scope, names []string, page func([]httptypes.Api) error) error {
	client := apigatewayv2.NewFromConfig(s.config)
	if len(names) > 0 {
		out, err := client.GetApi(ctx, &apigatewayv2.GetApiInput{ApiId: &names[0]})
		if err != nil {
			return err
		}
		return page([]httptypes.Api{{
			ApiId: out.ApiId, Name: out.Name, ProtocolType: out.ProtocolType, ApiEndpoint: out.ApiEndpoint, CorsConfiguration: out.CorsConfiguration,
			CreatedDate: out.CreatedDate, DisableExecuteApiEndpoint: out.DisableExecuteApiEndpoint, Tags: out.Tags,
		}})
	}
	in := &apigatewayv2.GetApisInput{MaxResults: aws.String("100")}
	for {
		out, err := client.GetApis(ctx, in)
		if err != nil {
			return err
		}
		if err := page(out.Items); err != nil || aws.ToString(out.NextToken) == "" {
			return err
		}
		in.NextToken = out.NextToken
	}
}, func(ctx context.Context, s *scope, v *httptypes.Api) (*resource, error) {
	id := aws.ToString(v.ApiId)
	r := s.resource(httpAPIType, id)
	r.Name, r.XID = aws.ToString(v.Name), "arn:"+s.partition.name+":apigateway:"+s.region+"::/apis/"+id
	for name, value := range v.Tags {
		r.Tag(name, value)
	}
	r.Text("protocolType", string(v.ProtocolType)).Text("apiEndpoint", aws.ToString(v.ApiEndpoint)).
		Flag("disableExecuteApiEndpoint", aws.ToBool(v.DisableExecuteApiEndpoint))
	when(r, "createdDate", v.CreatedDate)
	if v.CorsConfiguration != nil {
		set(r, "corsAllowOrigins", v.CorsConfiguration.AllowOrigins)
	}
	return r, detail(r, []string{"stages", "unloggedStages", "WRITES_TO"}, func() error {
		out, err := apigatewayv2.NewFromConfig(s.config).GetStages(ctx, &apigatewayv2.GetStagesInput{ApiId: v.ApiId})
		if err != nil {
			return err
		}
		for _, stage := range out.Items {
			var log *string
			if stage.AccessLogSettings != nil {
				log = stage.AccessLogSettings.DestinationArn
			}
			s.stage(r, stage.StageName, log)
		}
		return nil
	})
})
