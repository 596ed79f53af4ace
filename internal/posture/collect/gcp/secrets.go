package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/apikeys/v2"
	"google.golang.org/api/secretmanager/v1"

	"vigil/internal/posture"
)

var apiKeys = listed(declaration{
	Type: apiKeyType, Service: "apikeys", Doc: "A key that programs show instead of an identity.",
	Permissions: []string{"apikeys.keys.list", "apikeys.keys.get"},
	Properties: properties{
		text("displayName", "As people call it."),
		text("createTime", "When it was made."),
		texts("restrictions", "How its use is limited: apiTargets, browserKeyRestrictions, serverKeyRestrictions, androidKeyRestrictions, iosKeyRestrictions."),
		texts("apiTargets", "The services it is for; all when absent."),
		texts("allowedReferrers", "The web sites it is for."),
		texts("allowedIps", "The addresses it is for."),
		text("serviceAccountEmail", "Whom it acts as; nobody when absent."),
	},
	Events: events{each("apikeys", "google.api.apikeys.v2.ApiKeys.", "CreateKey", "UpdateKey", "DeleteKey", "UndeleteKey")},
}, func(ctx context.Context, s *scope, page func([]*apikeys.V2Key) error) error {
	return s.apiKeys.Projects.Locations.Keys.List("projects/"+s.project+"/locations/global").PageSize(300).
		Pages(ctx, func(l *apikeys.V2ListKeysResponse) error { return page(l.Keys) })
}, func(ctx context.Context, s *scope, at spot) (*apikeys.V2Key, error) {
	return s.apiKeys.Projects.Locations.Keys.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *apikeys.V2Key) *resource {
	r := when(s.begin(apiKeyType, v.Name), "createTime", v.CreateTime).Text("displayName", v.DisplayName).Text("serviceAccountEmail", v.ServiceAccountEmail)
	if v.DisplayName != "" {
		r.Name = v.DisplayName
	}
	if c := v.Restrictions; c != nil {
		restrict(r, c)
	}
	return r
})

// restrict adds how the use of a key is limited.
func restrict(r *resource, c *apikeys.V2Restrictions) {
	var kinds, targets []string
	for _, t := range c.ApiTargets {
		targets = append(targets, t.Service)
	}
	if len(targets) > 0 {
		kinds = append(kinds, "apiTargets")
	}
	if b := c.BrowserKeyRestrictions; b != nil {
		kinds = append(kinds, "browserKeyRestrictions")
		set(r, "allowedReferrers", b.AllowedReferrers)
	}
	if v := c.ServerKeyRestrictions; v != nil {
		kinds = append(kinds, "serverKeyRestrictions")
		set(r, "allowedIps", v.AllowedIps)
	}
	if c.AndroidKeyRestrictions != nil {
		kinds = append(kinds, "androidKeyRestrictions")
	}
	if c.IosKeyRestrictions != nil {
		kinds = append(kinds, "iosKeyRestrictions")
	}
	set(r, "restrictions", kinds)
	set(r, "apiTargets", targets)
}

var secrets = listed(declaration{
	Type: secretType, Service: "secretmanager", Doc: "Something that is kept secret. What it is is never read.",
	Permissions: []string{"secretmanager.secrets.list", "secretmanager.secrets.get"},
	Properties: properties{
		text("createTime", "When it was made."),
		text("expireTime", "When it ends; absent when it does not."),
		text("rotationPeriod", "How often it is to be replaced; absent when it is not."),
		text("nextRotationTime", "When it is to be replaced next."),
		text("replication", "automatic, or userManaged when its owner chose where it is kept."),
		texts("replicaLocations", "Where it is kept, when its owner chose."),
		texts("kmsKeyNames", "The customer's keys that encrypt it; absent when Google's do."),
	},
	Edges: edges{
		edge("ENCRYPTED_BY", "The keys that encrypt it.", cryptoKeyType),
		edge("NOTIFIES", "The topics that hear of it.", topicType),
	},
	Events: events{each("secretmanager", "google.cloud.secretmanager.v1.SecretManagerService.", "CreateSecret", "UpdateSecret", "DeleteSecret")},
}, func(ctx context.Context, s *scope, page func([]*secretmanager.Secret) error) error {
	return s.secrets.Projects.Secrets.List("projects/"+s.project).PageSize(1000).Pages(ctx, func(l *secretmanager.ListSecretsResponse) error { return page(l.Secrets) })
}, func(ctx context.Context, s *scope, at spot) (*secretmanager.Secret, error) {
	return s.secrets.Projects.Secrets.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *secretmanager.Secret) *resource {
	r := when(s.begin(secretType, v.Name), "createTime", v.CreateTime)
	when(r, "expireTime", v.ExpireTime)
	if v.Rotation != nil {
		when(r.Text("rotationPeriod", v.Rotation.RotationPeriod), "nextRotationTime", v.Rotation.NextRotationTime)
	}
	for _, t := range v.Topics {
		r.Edge("NOTIFIES", s.ref(t.Name, topicType))
	}
	s.replicas(r, v.Replication)
	return tag(r, v.Labels)
})

// replicas adds where a secret is kept.
func (s *scope) replicas(r *resource, v *secretmanager.Replication) {
	var places, keys []string
	add := func(c *secretmanager.CustomerManagedEncryption) {
		if c != nil && c.KmsKeyName != "" {
			keys = append(keys, c.KmsKeyName)
			r.Edge("ENCRYPTED_BY", s.keyRef(c.KmsKeyName))
		}
	}
	switch {
	case v == nil:
		return
	case v.UserManaged != nil:
		r.Text("replication", "userManaged")
		for _, replica := range v.UserManaged.Replicas {
			places = append(places, replica.Location)
			add(replica.CustomerManagedEncryption)
		}
	case v.Automatic != nil:
		r.Text("replication", "automatic")
		add(v.Automatic.CustomerManagedEncryption)
	}
	set(r, "replicaLocations", places)
	set(r, "kmsKeyNames", keys)
}

// secretRef returns the id of a secret, which may be named without its project.
func (s *session) secretRef(name string) posture.EntityID {
	if name != "" && !strings.Contains(name, "/") {
		return secretType.ID(s.account, "", name)
	}
	return s.ref(name, secretType)
}
