package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/store"
	"vigil/internal/sqldb/dbtest"
)

// TestLastPageHasNoToken reads lists of two records each in pages of one.
func TestLastPageHasNoToken(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0, aws.New(aws.Options{}))
		i.store = store.New(i.install.DB, i.install.Box, noJobs{}) // StartRun adds a job
		first, vpcs := i.network()
		second := posture.AccountID(accountID(2))
		i.want(201, "POST", accounts, awsAccount(string(second)))
		kind := posture.EntityType("AWS.EC2.Vpc")
		other := posture.Entity{
			ID: kind.ID(second, "us-east-1", "other"), Type: kind, Name: "other", XID: "other", Account: second,
			Provider: posture.AWS, Region: "us-east-1", Service: "EC2", Properties: []posture.Property{posture.Unknown("isDefault", "denied")},
		}
		i.record(collect.Scoped{Org: i.org, Account: second, Type: kind, Region: other.Region}, other)
		rule := i.ownRule(defaultNetworks).member("id")
		for account, unknown := range map[posture.AccountID]posture.EntityID{first: vpcs[2].ID, second: other.ID} {
			i.want(201, "POST", credentials, awsCredential())
			now := time.Now()
			run := posture.Run{ID: uuid.NewString(), Provider: posture.AWS, Account: account, Status: posture.RunStarted, Start: now, Updated: now}
			if err := i.store.StartRun(t.Context(), i.org, run, now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			_, err := i.store.Observe(t.Context(), i.org, posture.Judgement{Account: account, RulesAt: posture.AnyRules, At: now, Rules: []posture.RuleJudgement{{
				Rule: posture.RuleID(rule), Unknown: []posture.EntityID{unknown},
			}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		for path, tt := range map[string]struct {
			list    string // the member with the records
			filters object
		}{
			"/v1/cloud-accounts/query":                      {"cloudAccounts", object{}},
			"/v1/cloud-credentials/query":                   {"credentials", object{}},
			"/v1/cloud-accounts/collection-status/query":    {"results", object{}},
			"/v1/rules/query":                               {"results", object{"ids": []string{rule, "aws-logs-retention"}}},
			fmt.Sprintf("/v1/rules/%s/unknown-query", rule): {"results", object{}},
		} {
			token := ""
			for page := 1; page <= 2; page++ {
				got := i.want(200, "POST", path, object{"filters": tt.filters, "paginationInfo": object{"pageSize": 1, "continuationToken": token}})
				pagination := got.body // some lists have these members at the top level
				if nested, ok := got.body["paginationInfo"].(object); ok {
					pagination = nested
				}
				token, _ = pagination["continuationToken"].(string)
				if list, _ := got.body[tt.list].([]any); len(list) != 1 || pagination["totalCount"] != 2.0 || (token == "") != (page == 2) {
					t.Fatalf("page %d of %s: %s", page, path, got.text)
				}
			}
			whole := i.want(200, "POST", path, object{"filters": tt.filters, "paginationInfo": object{"pageSize": 2}})
			nested, _ := whole.body["paginationInfo"].(object)
			if list, _ := whole.body[tt.list].([]any); len(list) != 2 || whole.body["continuationToken"] != nil || nested["continuationToken"] != nil {
				t.Errorf("%s on one page: %s", path, whole.text)
			}
		}
	})
}
