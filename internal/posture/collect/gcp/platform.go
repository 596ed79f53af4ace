package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/artifactregistry/v1"
	"google.golang.org/api/file/v1"
	"google.golang.org/api/redis/v1"
	"google.golang.org/api/serviceusage/v1"
)

var enabledServices = listed(declaration{
	Type: enabledType, Service: "serviceusage", Doc: "A service of Google that the project uses.",
	Permissions: []string{"serviceusage.services.list", "serviceusage.services.get"},
	Properties: properties{
		text("state", "ENABLED or DISABLED."),
		text("title", "As people call it."),
	},
	Events: events{each("serviceusage", "google.api.serviceusage.v1.ServiceUsage.", "EnableService", "DisableService", "BatchEnableServices")},
}, func(ctx context.Context, s *scope, page func([]*serviceusage.GoogleApiServiceusageV1Service) error) error {
	return s.usage.Services.List("projects/"+s.project).Filter("state:ENABLED").PageSize(200).
		Pages(ctx, func(l *serviceusage.ListServicesResponse) error { return page(l.Services) })
}, func(ctx context.Context, s *scope, at spot) (*serviceusage.GoogleApiServiceusageV1Service, error) {
	return s.usage.Services.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *serviceusage.GoogleApiServiceusageV1Service) *resource {
	r := s.begin(enabledType, v.Name).Text("state", v.State)
	if v.Config != nil {
		r.Text("title", v.Config.Title)
	}
	return r
})

// repositories are listed by location: there is no list across them.
var repositories = detailed(declaration{
	Type: repositoryType, Service: "artifactregistry", Doc: "Where images and packages are kept.",
	Permissions: []string{"artifactregistry.repositories.list", "artifactregistry.repositories.get", "artifactregistry.repositories.getIamPolicy", "artifactregistry.locations.list"},
	Properties: append(properties{
		text("format", "DOCKER, MAVEN, NPM and others."),
		text("mode", "STANDARD_REPOSITORY, REMOTE_REPOSITORY or VIRTUAL_REPOSITORY."),
		text("createTime", "When it was made."),
		flag("immutableTags", "Tags of images cannot be moved."),
		text("scanning", "Whether images are looked at for flaws: SCANNING_ACTIVE or SCANNING_DISABLED."),
		text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
		long("sizeBytes", "Its size."),
	}, policyProperties...),
	Edges:  edges{policyEdge, edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType)},
	Events: events{each("artifactregistry", "google.devtools.artifactregistry.v1.ArtifactRegistry.", "CreateRepository", "UpdateRepository", "DeleteRepository", "SetIamPolicy")},
}, func(ctx context.Context, s *scope, page func([]*artifactregistry.Repository) error) error {
	var locations []string
	err := s.artifacts.Projects.Locations.List("projects/"+s.project).PageSize(100).Pages(ctx, func(l *artifactregistry.ListLocationsResponse) error {
		for _, v := range l.Locations {
			locations = append(locations, v.LocationId)
		}
		return nil
	})
	if err != nil {
		return s.sorted(err, "artifactregistry.locations.list")
	}
	var f failures
	err = parallel(ctx, locations, func(ctx context.Context, location string) error {
		list := s.artifacts.Projects.Locations.Repositories.List("projects/" + s.project + "/locations/" + location).PageSize(1000)
		return f.Note(s.sorted(list.Pages(ctx, func(l *artifactregistry.ListRepositoriesResponse) error { return page(l.Repositories) }), "artifactregistry.repositories.list"))
	})
	if err != nil {
		return err
	}
	return f.Err()
}, func(ctx context.Context, s *scope, at spot) (*artifactregistry.Repository, error) {
	return s.artifacts.Projects.Locations.Repositories.Get(at.path).Context(ctx).Do()
}, func(ctx context.Context, s *scope, v *artifactregistry.Repository) (*resource, error) {
	r := when(s.begin(repositoryType, v.Name), "createTime", v.CreateTime)
	r.Text("format", v.Format).Text("mode", v.Mode).Text("kmsKeyName", v.KmsKeyName).Edge("ENCRYPTED_BY", s.keyRef(v.KmsKeyName)).
		Flag("immutableTags", v.DockerConfig != nil && v.DockerConfig.ImmutableTags)
	if v.SizeBytes > 0 {
		r.Number("sizeBytes", v.SizeBytes)
	}
	if v.VulnerabilityScanningConfig != nil {
		r.Text("scanning", v.VulnerabilityScanningConfig.EnablementState)
	}
	return tag(r, v.Labels), s.detail(r, "artifactregistry.repositories.getIamPolicy", policyNames, func() error {
		policy, err := s.artifacts.Projects.Locations.Repositories.GetIamPolicy(v.Name).OptionsRequestedPolicyVersion(3).Context(ctx).Do()
		if err == nil {
			s.grant(r, bindings(policy.Bindings, func(b *artifactregistry.Binding) binding { return binding{b.Role, b.Members, b.Condition != nil} }))
		}
		return err
	})
})

var redisInstances = listed(declaration{
	Type: redisType, Service: "redis", Doc: "A Redis server.",
	Permissions: []string{"redis.instances.list", "redis.instances.get"},
	Properties: properties{
		text("tier", "BASIC, or STANDARD_HA when another takes over."),
		text("redisVersion", "Such as REDIS_7_0."),
		text("state", "READY and others."),
		flag("authEnabled", "It asks for a password."),
		text("transitEncryptionMode", "SERVER_AUTHENTICATION when connections are encrypted, else DISABLED."),
		text("connectMode", "DIRECT_PEERING or PRIVATE_SERVICE_ACCESS."),
		long("memorySizeGb", "Its size."),
		text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
		text("createTime", "When it was made."),
	},
	Edges: edges{
		edge("IN", "The network from which it is reached.", networkType),
		edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType),
	},
	Events: events{each("redis", "google.cloud.redis.v1.CloudRedis.", "CreateInstance", "UpdateInstance", "DeleteInstance")},
}, func(ctx context.Context, s *scope, page func([]*redis.Instance) error) error {
	return s.redis.Projects.Locations.Instances.List("projects/"+s.project+"/locations/-").PageSize(1000).Pages(ctx, func(l *redis.ListInstancesResponse) error {
		if err := page(l.Instances); err != nil {
			return err
		}
		return unreachable(l.Unreachable)
	})
}, func(ctx context.Context, s *scope, at spot) (*redis.Instance, error) {
	return s.redis.Projects.Locations.Instances.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *redis.Instance) *resource {
	r := when(s.begin(redisType, v.Name), "createTime", v.CreateTime)
	r.Text("tier", v.Tier).Text("redisVersion", v.RedisVersion).Text("state", v.State).Flag("authEnabled", v.AuthEnabled).
		Text("transitEncryptionMode", v.TransitEncryptionMode).Text("connectMode", v.ConnectMode).Number("memorySizeGb", v.MemorySizeGb).
		Text("kmsKeyName", v.CustomerManagedKey)
	r.Edge("IN", s.ref(v.AuthorizedNetwork, networkType)).Edge("ENCRYPTED_BY", s.keyRef(v.CustomerManagedKey))
	return tag(r, v.Labels)
})

var filestores = listed(declaration{
	Type: filestoreType, Service: "file", Doc: "A file server.",
	Permissions: []string{"file.instances.list", "file.instances.get"},
	Properties: properties{
		text("tier", "Its kind, such as BASIC_HDD or ENTERPRISE."),
		text("state", "READY and others."),
		texts("fileShares", "What it shares."),
		flag("openToNetwork", "Every address of its network may use a share: a share has no list of its own."),
		flag("deletionProtection", "It cannot be deleted by mistake."),
		text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
		text("createTime", "When it was made."),
	},
	Edges: edges{
		edge("IN", "The networks from which it is reached.", networkType),
		edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType),
	},
	Events: events{each("file", "google.cloud.filestore.v1.CloudFilestoreManager.", "CreateInstance", "UpdateInstance", "DeleteInstance")},
}, func(ctx context.Context, s *scope, page func([]*file.Instance) error) error {
	return s.files.Projects.Locations.Instances.List("projects/"+s.project+"/locations/-").PageSize(1000).Pages(ctx, func(l *file.ListInstancesResponse) error {
		if err := page(l.Instances); err != nil {
			return err
		}
		return unreachable(l.Unreachable)
	})
}, func(ctx context.Context, s *scope, at spot) (*file.Instance, error) {
	return s.files.Projects.Locations.Instances.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *file.Instance) *resource {
	r := when(s.begin(filestoreType, v.Name), "createTime", v.CreateTime)
	r.Text("tier", v.Tier).Text("state", v.State).Flag("deletionProtection", v.DeletionProtectionEnabled).Text("kmsKeyName", v.KmsKeyName)
	var shares []string
	open := false
	for _, f := range v.FileShares {
		shares = append(shares, f.Name)
		open = open || len(f.NfsExportOptions) == 0
	}
	set(r, "fileShares", shares).Flag("openToNetwork", open)
	for _, n := range v.Networks {
		name := n.Network
		if !strings.Contains(name, "/") {
			name = "projects/" + s.project + "/global/networks/" + name
		}
		r.Edge("IN", s.ref(name, networkType))
	}
	return tag(r.Edge("ENCRYPTED_BY", s.keyRef(v.KmsKeyName)), v.Labels)
})
