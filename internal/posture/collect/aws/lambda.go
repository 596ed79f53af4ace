package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"vigil/internal/posture/collect"
)

// Functions are read without their code and without the values of their
// environment: both may hold secrets.
var functions = detailed(declaration{
	Type: functionType, Scope: collect.PerRegion, Service: "lambda", Doc: "Code that runs when it is called.",
	Permissions: []string{"lambda:ListFunctions", "lambda:GetFunctionConfiguration", "lambda:GetPolicy", "lambda:ListFunctionUrlConfigs"},
	Properties: append(properties{
		text("runtime", "What runs it, such as python3.12; absent for an image."),
		text("handler", "Where it begins."),
		text("packageType", "Zip or Image."),
		texts("architectures", "Of the processors it runs on."),
		long("memorySizeMiB", "Its memory in MiB."),
		long("timeoutSeconds", "After how many seconds it is stopped."),
		text("lastModified", "When it was last changed."),
		text("state", "Active when it can be called."),
		text("tracingMode", "Active when its calls are traced."),
		text("kmsKeyArn", "The key its environment is encrypted with; absent when the service's own is."),
		texts("layers", "The layers it is put together from."),
		texts("urlAuthType", "How callers of its web addresses are checked: AWS_IAM, or NONE."),
		texts("functionUrls", "Its web addresses."),
	}, policyProperties...),
	Edges: edges{
		edge("HAS_ROLE", "The role it acts with.", roleType),
		edge("IN_VPC", "The VPC it can reach.", vpcType),
		edge("IN_SUBNET", "The subnets it is in.", subnetType),
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("ENCRYPTED_BY", "The key of its environment.", keyType),
		edge("FAILS_TO", "Where calls that failed go.", topicType, queueType),
		edge("WRITES_TO", "Its log.", logGroupType),
	},
	Events: events{on("lambda", "CreateFunction*", "DeleteFunction*", "UpdateFunctionConfiguration*", "UpdateFunctionCode*", "AddPermission*", "RemovePermission*",
		"CreateFunctionUrlConfig", "UpdateFunctionUrlConfig", "DeleteFunctionUrlConfig")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.FunctionConfiguration) error) error {
	client := lambda.NewFromConfig(s.config)
	if len(names) > 0 {
		out, err := client.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &names[0]})
		if err != nil {
			return err
		}
		return page([]types.FunctionConfiguration{{
			FunctionName: out.FunctionName, FunctionArn: out.FunctionArn, Runtime: out.Runtime, Handler: out.Handler, PackageType: out.PackageType,
			Architectures: out.Architectures, MemorySize: out.MemorySize, Timeout: out.Timeout, LastModified: out.LastModified, State: out.State,
			TracingConfig: out.TracingConfig, KMSKeyArn: out.KMSKeyArn, Layers: out.Layers, Role: out.Role, VpcConfig: out.VpcConfig,
			DeadLetterConfig: out.DeadLetterConfig, LoggingConfig: out.LoggingConfig,
		}})
	}
	return each(ctx, lambda.NewListFunctionsPaginator(client, &lambda.ListFunctionsInput{}), func(out *lambda.ListFunctionsOutput) error { return page(out.Functions) })
}, func(ctx context.Context, s *scope, v *types.FunctionConfiguration) (*resource, error) {
	r := s.describeFunction(v)
	client := lambda.NewFromConfig(s.config)
	err := detail(r, policyNames, func() error {
		out, err := client.GetPolicy(ctx, &lambda.GetPolicyInput{FunctionName: v.FunctionName})
		if err == nil {
			policyFacts(r, aws.ToString(out.Policy))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, detail(r, []string{"urlAuthType", "functionUrls"}, func() error {
		in := &lambda.ListFunctionUrlConfigsInput{FunctionName: v.FunctionName}
		return each(ctx, lambda.NewListFunctionUrlConfigsPaginator(client, in), func(out *lambda.ListFunctionUrlConfigsOutput) error {
			for _, u := range out.FunctionUrlConfigs {
				r.Text("urlAuthType", string(u.AuthType)).Text("functionUrls", aws.ToString(u.FunctionUrl))
			}
			return nil
		})
	})
})

func (s *scope) describeFunction(v *types.FunctionConfiguration) *resource {
	r := s.resource(functionType, aws.ToString(v.FunctionName))
	r.XID = aws.ToString(v.FunctionArn)
	r.Text("runtime", string(v.Runtime)).Text("handler", aws.ToString(v.Handler)).Text("packageType", string(v.PackageType)).
		Text("lastModified", aws.ToString(v.LastModified)).Text("state", string(v.State)).Text("kmsKeyArn", aws.ToString(v.KMSKeyArn))
	set(r, "architectures", strs(v.Architectures))
	number(r, "memorySizeMiB", v.MemorySize)
	number(r, "timeoutSeconds", v.Timeout)
	if v.TracingConfig != nil {
		r.Text("tracingMode", string(v.TracingConfig.Mode))
	}
	for _, l := range v.Layers {
		r.Text("layers", aws.ToString(l.Arn))
	}
	if n := v.VpcConfig; n != nil {
		r.Edge("IN_VPC", s.id(vpcType, n.VpcId))
		for _, id := range n.SubnetIds {
			r.Edge("IN_SUBNET", s.id(subnetType, &id))
		}
		for _, id := range n.SecurityGroupIds {
			r.Edge("MEMBER_OF", s.id(securityGroupType, &id))
		}
	}
	if v.DeadLetterConfig != nil {
		r.Edge("FAILS_TO", s.refs(v.DeadLetterConfig.TargetArn))
	}
	if v.LoggingConfig != nil {
		r.Edge("WRITES_TO", s.id(logGroupType, v.LoggingConfig.LogGroup))
	}
	return r.Edge("HAS_ROLE", s.refs(v.Role)).Edge("ENCRYPTED_BY", s.key(v.KMSKeyArn))
}
