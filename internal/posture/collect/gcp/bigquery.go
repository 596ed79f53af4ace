package gcp

import (
	"context"
	"strings"
	"time"

	"google.golang.org/api/bigquery/v2"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// datasets take a call each: the list has their names alone.
var datasets = detailed(declaration{
	Type: datasetType, Service: "bigquery", Doc: "Tables that are shared as one.",
	Permissions: []string{"bigquery.datasets.get"},
	Properties: properties{
		text("location", "Where it is."),
		text("creationTime", "When it was made."),
		texts("access", "Who has access: a role and somebody each, such as READER specialGroup:allAuthenticatedUsers."),
		flag("allUsers", "Everybody has access."),
		flag("allAuthenticatedUsers", "Everybody who has an account with Google has access."),
		text("kmsKeyName", "The customer's key that encrypts new tables; absent when Google's does."),
		long("defaultTableExpirationMs", "How long tables live; absent when they stay."),
	},
	Edges: edges{
		edge("ENCRYPTED_BY", "The key that encrypts new tables.", cryptoKeyType),
		edge("GRANTS", "Who has access, with the role.", principalType, serviceAccountType),
	},
	Events: events{
		each("bigquery", "google.cloud.bigquery.v2.DatasetService.", "InsertDataset", "UpdateDataset", "PatchDataset", "DeleteDataset"),
		on("bigquery", "SetIamPolicy"),
	},
}, func(ctx context.Context, s *scope, page func([]*bigquery.Dataset) error) error {
	return s.bigquery.Datasets.List(s.project).All(true).MaxResults(1000).Pages(ctx, func(l *bigquery.DatasetList) error {
		if err := unreachable(l.Unreachable); err != nil {
			return err
		}
		items := make([]*bigquery.Dataset, len(l.Datasets))
		for i, d := range l.Datasets {
			items[i] = &bigquery.Dataset{DatasetReference: d.DatasetReference, Location: d.Location, Labels: d.Labels}
		}
		return page(items)
	})
}, func(_ context.Context, s *scope, at spot) (*bigquery.Dataset, error) {
	return &bigquery.Dataset{DatasetReference: &bigquery.DatasetReference{ProjectId: s.project, DatasetId: at.name}}, nil
}, func(ctx context.Context, s *scope, v *bigquery.Dataset) (*resource, error) {
	if v.DatasetReference == nil {
		v.DatasetReference = new(bigquery.DatasetReference)
	}
	id := v.DatasetReference.DatasetId
	r := s.begin(datasetType, "projects/"+s.project+"/datasets/"+id)
	if r.ID == "" {
		return r, nil
	}
	r.Region = strings.ToLower(v.Location)
	whole, err := s.bigquery.Datasets.Get(s.project, id).Context(ctx).Do()
	if err != nil {
		err = s.sorted(err, "bigquery.datasets.get")
		if isGone(err) && v.Location == "" {
			return nil, err // it was asked for by name
		}
		return r, collect.Detail(r, func() error { return err }, "location", "access", "allUsers", "allAuthenticatedUsers", "kmsKeyName", "ENCRYPTED_BY", "GRANTS")
	}
	r.Region = strings.ToLower(whole.Location)
	r.Text("location", r.Region)
	if whole.CreationTime > 0 {
		r.Text("creationTime", time.UnixMilli(whole.CreationTime).UTC().Format(time.RFC3339))
	}
	if whole.DefaultTableExpirationMs > 0 {
		r.Number("defaultTableExpirationMs", whole.DefaultTableExpirationMs)
	}
	if c := whole.DefaultEncryptionConfiguration; c != nil {
		r.Text("kmsKeyName", c.KmsKeyName).Edge("ENCRYPTED_BY", s.keyRef(c.KmsKeyName))
	}
	s.share(r, whole.Access)
	return tag(r, whole.Labels), nil
})

// share adds who has access to a dataset.
func (s *scope) share(r *resource, access []*bigquery.DatasetAccess) {
	var all []string
	public := map[string]bool{}
	for _, a := range access {
		for _, who := range []struct{ kind, name string }{
			{"specialGroup", a.SpecialGroup}, {"user", a.UserByEmail}, {"group", a.GroupByEmail}, {"domain", a.Domain}, {"iamMember", a.IamMember},
		} {
			if who.name == "" {
				continue
			}
			all = append(all, strings.TrimSpace(a.Role+" "+who.kind+":"+who.name))
			public[who.name] = true
			member := who.kind + ":" + who.name
			switch {
			case who.kind == "iamMember", strings.HasPrefix(who.name, "all"):
				member = who.name
			case strings.HasSuffix(who.name, "gserviceaccount.com"):
				member = "serviceAccount:" + who.name
			}
			r.Edge("GRANTS", s.member(member), posture.Text("role", a.Role))
		}
	}
	set(r, "access", all)
	sortEdges(r)
	r.Flag("allUsers", public["allUsers"]).Flag("allAuthenticatedUsers", public["allAuthenticatedUsers"])
}
