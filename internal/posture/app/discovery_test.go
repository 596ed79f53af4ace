package app_test

import (
	"strings"
	"testing"

	simazure "vigil/internal/sim/azure"
	"vigil/internal/sqldb/dbtest"
)

// TestDiscovery lists the accounts of an organisation, the subscriptions of a
// management group and the projects of a service account in simulated clouds.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := newCloudFixtureOf(t, dbtest.SQLite(t), 2)
	// The second account is a member of the organisation that the first one manages.
	root, member := s.aws.Account(0), s.aws.Account(1)
	reader, denied, key := s.azure.Reader(simazure.PublicCloud), s.azure.Denied(simazure.PublicCloud), s.gcp.Reader().Key
	azure := func(id, key, group string) object {
		return object{"applicationId": id, "applicationKey": key, "directoryId": reader.Tenant, "managementGroupId": group}
	}
	for _, c := range []struct {
		name, cloud string
		body        object
		status      int
		want        []string // in the response
	}{
		{"organisation", "aws", object{"roleArn": root.RoleArn, "externalId": root.ExternalID}, 200, []string{`"accountId":"` + root.ID + `"`, `"isRoot":true`, `"accountId":"` + member.ID + `"`, `"state":"ACTIVE"`}},
		{"a member", "aws", object{"roleArn": member.RoleArn, "externalId": member.ExternalID}, 400, []string{"permission organizations:ListAccounts is missing"}},
		{"another external id", "aws", object{"roleArn": root.RoleArn, "externalId": "another"}, 400, []string{"trust policy"}},
		{"no role", "aws", object{"roleArn": "arn:aws:iam::1:user/x"}, 400, []string{`"path":"roleArn"`, "must be a role resource name"}},
		{"nothing", "aws", object{}, 400, []string{`"path":"roleArn"`}},
		{"an empty role", "aws", object{"roleArn": ""}, 400, []string{`"path":"roleArn"`}},
		{"all subscriptions", "azure", azure(reader.Application, reader.Key, ""), 200, []string{s.azure.Subscriptions()[0].ID, s.azure.Subscriptions()[1].ID, `"state":"Enabled"`}},
		{"a group", "azure", azure(reader.Application, reader.Key, "platform"), 200, []string{s.azure.Subscriptions()[0].ID, s.azure.Subscriptions()[1].ID}},
		{"a path as group", "azure", azure(reader.Application, reader.Key, "../x"), 400, []string{"must be an id"}},
		{"no role assigned", "azure", azure(denied.Application, denied.Key, ""), 200, []string{`"subscriptions":[]`}},
		{"a wrong secret", "azure", azure(reader.Application, "wrong", ""), 400, []string{"refuses to list the subscriptions"}},
		{"an empty secret", "azure", azure(reader.Application, "", ""), 400, []string{`"path":"applicationKey"`, "must not be empty"}},
		{"a secret's identifier", "azure", azure(reader.Application, reader.Application, ""), 400, []string{`"path":"applicationKey"`, "secret's identifier"}},
		{"projects", "gcp", object{"serviceAccountKey": key}, 200, []string{s.gcp.Projects()[0].ID, s.gcp.Projects()[1].ID}},
	} {
		got := s.do("POST", "/v1/cloud-accounts/"+c.cloud+"-discovery-task", c.body)
		if got.status != c.status {
			t.Errorf("%s: got %d %s, want %d", c.name, got.status, got.text, c.status)
		}
		for _, want := range c.want {
			if !strings.Contains(got.text, want) {
				t.Errorf("%s: %s lacks %s", c.name, got.text, want)
			}
		}
		for _, secret := range []string{reader.Key, denied.Key, key, "PRIVATE KEY"} {
			if strings.Contains(got.text, secret) {
				t.Errorf("%s: the response contains a secret", c.name)
			}
		}
	}
}
