package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/storage/v1"

	"vigil/internal/posture"
)

var buckets = detailed(declaration{
	Type: bucketType, Service: "storage", Doc: "A container of objects.",
	Permissions: []string{"storage.buckets.list", "storage.buckets.get", "storage.buckets.getIamPolicy"},
	Properties: append(properties{
		text("location", "Where it is: a region, or several, such as us."),
		text("storageClass", "STANDARD, NEARLINE, COLDLINE or ARCHIVE."),
		text("timeCreated", "When it was made."),
		flag("uniformBucketLevelAccess", "Policies alone say who has access; objects have no lists of their own."),
		text("publicAccessPrevention", "enforced when nobody can make it public, else inherited."),
		texts("acl", "Who is given what by its access control list, such as READER allUsers."),
		flag("publicAcl", "Its access control list gives something to allUsers or allAuthenticatedUsers."),
		flag("retentionPolicyIsLocked", "How long objects are kept cannot be shortened any more."),
		long("retentionPeriod", "How many seconds objects are kept at least; absent when there is no such time."),
		flag("versioning", "Objects that are replaced or deleted are kept."),
		text("logBucket", "Where its access is logged to."),
		text("kmsKeyName", "The customer's key that encrypts new objects; absent when Google's does."),
	}, policyProperties...),
	Edges: edges{
		policyEdge,
		edge("ENCRYPTED_BY", "The key that encrypts new objects.", cryptoKeyType),
		edge("LOGS_TO", "Where its access is logged to.", bucketType),
	},
	Events: events{on("storage", "storage.buckets.create", "storage.buckets.update", "storage.buckets.patch", "storage.buckets.delete", "storage.setIamPermissions",
		"storage.buckets.setIamPolicy", "storage.buckets.lockRetentionPolicy")},
}, func(ctx context.Context, s *scope, page func([]*storage.Bucket) error) error {
	return s.storage.Buckets.List(s.project).Projection("full").MaxResults(1000).Pages(ctx, func(l *storage.Buckets) error { return page(l.Items) })
}, func(ctx context.Context, s *scope, at spot) (*storage.Bucket, error) {
	return s.storage.Buckets.Get(at.name).Projection("full").Context(ctx).Do()
}, func(ctx context.Context, s *scope, v *storage.Bucket) (*resource, error) {
	r := s.begin(bucketType, "projects/_/buckets/"+v.Name)
	r.Region, r.XID = strings.ToLower(v.Location), v.SelfLink
	r.Text("location", strings.ToLower(v.Location)).Text("storageClass", v.StorageClass).Flag("versioning", v.Versioning != nil && v.Versioning.Enabled)
	when(r, "timeCreated", v.TimeCreated)
	s.access(r, v)
	r.Flag("retentionPolicyIsLocked", v.RetentionPolicy != nil && v.RetentionPolicy.IsLocked)
	if v.RetentionPolicy != nil {
		r.Number("retentionPeriod", v.RetentionPolicy.RetentionPeriod)
	}
	if v.Logging != nil {
		r.Text("logBucket", v.Logging.LogBucket).Edge("LOGS_TO", s.bucket(v.Logging.LogBucket))
	}
	if v.Encryption != nil {
		r.Text("kmsKeyName", v.Encryption.DefaultKmsKeyName).Edge("ENCRYPTED_BY", s.keyRef(v.Encryption.DefaultKmsKeyName))
	}
	return tag(r, v.Labels), s.detail(r, "storage.buckets.getIamPolicy", policyNames, func() error {
		policy, err := s.storage.Buckets.GetIamPolicy(v.Name).OptionsRequestedPolicyVersion(3).Context(ctx).Do()
		if err == nil {
			s.grant(r, bindings(policy.Bindings, func(b *storage.PolicyBindings) binding { return binding{b.Role, b.Members, b.Condition != nil} }))
		}
		return err
	})
})

// access adds how a bucket's own settings limit access.
func (s *scope) access(r *resource, v *storage.Bucket) {
	uniform, prevention := false, "inherited"
	if c := v.IamConfiguration; c != nil {
		uniform = c.UniformBucketLevelAccess != nil && c.UniformBucketLevelAccess.Enabled || c.BucketPolicyOnly != nil && c.BucketPolicyOnly.Enabled
		if c.PublicAccessPrevention != "" {
			prevention = c.PublicAccessPrevention
		}
	}
	var all []string
	public := false
	for _, entry := range v.Acl {
		all = append(all, entry.Role+" "+entry.Entity)
		public = public || entry.Entity == "allUsers" || entry.Entity == "allAuthenticatedUsers"
	}
	r.Flag("uniformBucketLevelAccess", uniform).Text("publicAccessPrevention", prevention).Flag("publicAcl", public)
	set(r, "acl", all)
}

// bucket returns the id of a bucket. Its name does not say whose it is.
func (s *session) bucket(name string) posture.EntityID {
	if name == "" {
		return ""
	}
	return bucketType.ID(s.account, "", name)
}
