package gcp

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/api/cloudfunctions/v2"
	runlocations "google.golang.org/api/run/v1"
	"google.golang.org/api/run/v2"
)

// functions of the second generation are services of Cloud Run, whose policy says
// who may call them.
var functions = detailed(declaration{
	Type: functionType, Service: "cloudfunctions", Doc: "Code that runs when something happens.",
	Permissions: []string{"cloudfunctions.functions.list", "cloudfunctions.functions.get", "cloudfunctions.functions.getIamPolicy", "run.services.getIamPolicy"},
	Properties: append(properties{
		text("state", "ACTIVE and others."),
		text("environment", "GEN_1 or GEN_2."),
		text("runtime", "What it is written for, such as python312."),
		text("url", "Where it is called; absent when it is not by request."),
		text("ingressSettings", "Who reaches it: ALLOW_ALL, ALLOW_INTERNAL_ONLY or ALLOW_INTERNAL_AND_GCLB."),
		text("serviceAccountEmail", "Whom it runs as."),
		text("vpcConnector", "How it reaches a network; absent when it does not."),
		text("updateTime", "When it was last deployed."),
		texts("environmentVariables", "Names of its variables."),
		text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
	}, policyProperties...),
	Edges: edges{
		policyEdge,
		edge("RUNS_AS", "Whom it runs as.", serviceAccountType, principalType),
		edge("RUNS_ON", "The service of Cloud Run that it is.", runServiceType),
		edge("TRIGGERED_BY", "The topic that calls it.", topicType),
		edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType),
	},
	Events: events{
		each("cloudfunctions", "google.cloud.functions.v1.CloudFunctionsService.", "CreateFunction", "UpdateFunction", "DeleteFunction", "SetIamPolicy"),
		each("cloudfunctions", "google.cloud.functions.v2.FunctionService.", "CreateFunction", "UpdateFunction", "DeleteFunction", "SetIamPolicy"),
	},
}, func(ctx context.Context, s *scope, page func([]*cloudfunctions.Function) error) error {
	return s.functions.Projects.Locations.Functions.List("projects/"+s.project+"/locations/-").PageSize(1000).Pages(ctx, func(l *cloudfunctions.ListFunctionsResponse) error {
		if err := page(l.Functions); err != nil {
			return err
		}
		return unreachable(l.Unreachable)
	})
}, func(ctx context.Context, s *scope, at spot) (*cloudfunctions.Function, error) {
	return s.functions.Projects.Locations.Functions.Get(at.path).Context(ctx).Do()
}, func(ctx context.Context, s *scope, v *cloudfunctions.Function) (*resource, error) {
	r := s.begin(functionType, v.Name)
	r.Text("state", v.State).Text("environment", v.Environment).Text("url", v.Url).Text("kmsKeyName", v.KmsKeyName).Edge("ENCRYPTED_BY", s.keyRef(v.KmsKeyName))
	when(r, "updateTime", v.UpdateTime)
	if v.BuildConfig != nil {
		r.Text("runtime", v.BuildConfig.Runtime)
	}
	if v.EventTrigger != nil {
		r.Edge("TRIGGERED_BY", s.ref(v.EventTrigger.PubsubTopic, topicType))
	}
	service := ""
	if c := v.ServiceConfig; c != nil {
		service = c.Service
		r.Text("ingressSettings", c.IngressSettings).Text("serviceAccountEmail", c.ServiceAccountEmail).Text("vpcConnector", c.VpcConnector)
		set(r, "environmentVariables", slices.Collect(maps.Keys(c.EnvironmentVariables)))
		r.Edge("RUNS_AS", s.serviceAccount(c.ServiceAccountEmail)).Edge("RUNS_ON", s.ref(service, runServiceType))
	}
	return tag(r, v.Labels), s.detail(r, "cloudfunctions.functions.getIamPolicy", policyNames, func() error {
		policy, err := s.functions.Projects.Locations.Functions.GetIamPolicy(v.Name).OptionsRequestedPolicyVersion(3).Context(ctx).Do()
		if err != nil {
			return err
		}
		given := bindings(policy.Bindings, func(b *cloudfunctions.Binding) binding { return binding{b.Role, b.Members, b.Condition != nil} })
		if v.Environment == "GEN_2" && service != "" {
			invokers, err := s.runPolicy(ctx, service)
			if err != nil && !isGone(err) && !isOff(err) {
				return err
			}
			given = append(given, invokers...)
		}
		s.grant(r, given)
		return nil
	})
})

// runPolicy returns the bindings of a service of Cloud Run.
func (s *scope) runPolicy(ctx context.Context, name string) ([]binding, error) {
	policy, err := s.run.Projects.Locations.Services.GetIamPolicy(name).OptionsRequestedPolicyVersion(3).Context(ctx).Do()
	if err != nil {
		return nil, s.sorted(err, "run.services.getIamPolicy")
	}
	return bindings(policy.Bindings, func(b *run.GoogleIamV1Binding) binding { return binding{b.Role, b.Members, b.Condition != nil} }), nil
}

var runServices = detailed(declaration{
	Type: runServiceType, Service: "run", Doc: "A container that answers requests.",
	Permissions: []string{"run.services.list", "run.services.get", "run.services.getIamPolicy", "run.locations.list"},
	Properties: append(properties{
		text("uri", "Where it is called."),
		text("ingress", "Who reaches it: INGRESS_TRAFFIC_ALL, INGRESS_TRAFFIC_INTERNAL_ONLY or INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER."),
		flag("invokerIamDisabled", "It answers without asking who it is."),
		text("serviceAccount", "Whom it runs as."),
		texts("images", "What it runs."),
		texts("environmentVariables", "Names of its variables."),
		text("vpcConnector", "How it reaches a network; absent when it does not."),
		flag("binaryAuthorization", "Only images that were signed for run."),
		text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
		text("createTime", "When it was made."),
	}, policyProperties...),
	Edges: edges{
		policyEdge,
		edge("RUNS_AS", "Whom it runs as.", serviceAccountType, principalType),
		edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType),
		edge("READS", "The secrets it is given.", secretType),
	},
	Events: events{
		each("run", "google.cloud.run.v1.Services.", "CreateService", "ReplaceService", "DeleteService", "SetIamPolicy"),
		each("run", "google.cloud.run.v2.Services.", "CreateService", "UpdateService", "DeleteService", "SetIamPolicy"),
	},
}, func(ctx context.Context, s *scope, page func([]*run.GoogleCloudRunV2Service) error) error {
	var locations []string
	err := s.runLocations.Projects.Locations.List("projects/"+s.project).PageSize(100).Pages(ctx, func(l *runlocations.ListLocationsResponse) error {
		for _, v := range l.Locations {
			locations = append(locations, v.LocationId)
		}
		return nil
	})
	if err != nil {
		return s.sorted(err, "run.locations.list")
	}
	var f failures
	err = parallel(ctx, locations, func(ctx context.Context, location string) error {
		list := s.run.Projects.Locations.Services.List("projects/" + s.project + "/locations/" + location).PageSize(100)
		return f.Note(s.sorted(list.Pages(ctx, func(l *run.GoogleCloudRunV2ListServicesResponse) error { return page(l.Services) }), "run.services.list"))
	})
	if err != nil {
		return err
	}
	return f.Err()
}, func(ctx context.Context, s *scope, at spot) (*run.GoogleCloudRunV2Service, error) {
	return s.run.Projects.Locations.Services.Get(at.path).Context(ctx).Do()
}, func(ctx context.Context, s *scope, v *run.GoogleCloudRunV2Service) (*resource, error) {
	r := s.begin(runServiceType, v.Name)
	r.Text("uri", v.Uri).Text("ingress", v.Ingress).Flag("invokerIamDisabled", v.InvokerIamDisabled).
		Flag("binaryAuthorization", v.BinaryAuthorization != nil && (v.BinaryAuthorization.UseDefault || v.BinaryAuthorization.Policy != ""))
	when(r, "createTime", v.CreateTime)
	if t := v.Template; t != nil {
		r.Text("serviceAccount", t.ServiceAccount).Edge("RUNS_AS", s.serviceAccount(t.ServiceAccount)).
			Text("kmsKeyName", t.EncryptionKey).Edge("ENCRYPTED_BY", s.keyRef(t.EncryptionKey))
		if t.VpcAccess != nil {
			r.Text("vpcConnector", t.VpcAccess.Connector)
		}
		s.contains(r, t.Containers)
	}
	return tag(r, v.Labels), s.detail(r, "run.services.getIamPolicy", policyNames, func() error {
		given, err := s.runPolicy(ctx, v.Name)
		if err == nil {
			s.grant(r, given)
		}
		return err
	})
})

// contains adds what the containers of a service are made of.
func (s *scope) contains(r *resource, all []*run.GoogleCloudRunV2Container) {
	var images, variables []string
	for _, c := range all {
		images = append(images, c.Image)
		for _, e := range c.Env {
			variables = append(variables, e.Name)
			if e.ValueSource != nil && e.ValueSource.SecretKeyRef != nil {
				r.Edge("READS", s.secretRef(e.ValueSource.SecretKeyRef.Secret))
			}
		}
	}
	set(r, "images", images)
	set(r, "environmentVariables", variables)
	sortEdges(r)
}
