package app_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vigil/internal/httpapi"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestNoIDOfAnotherOrganisationMeansAnything uses every id of one organisation
// in every request of another, in paths, bodies, filters and tokens. Each answer
// must be the one that an id gets which nobody has.
func TestNoIDOfAnotherOrganisationMeansAnything(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		one, _, oneAdmin := newOrg(t, in, base, "one")
		two, _, _ := newOrg(t, in, base, "two")

		theirs := map[string]string{"cloud_account_id": accountID(1), "user_id": string(oneAdmin.ID)}
		one.want(201, "POST", accounts, awsAccount(accountID(1)))
		one.want(201, "POST", accounts, awsAccount(accountID(2)))
		theirs["credential_id"] = one.want(201, "POST", credentials, awsCredential()).member("credentialId")
		one.want(201, "POST", relationships, object{"cloudAccountId": accountID(1), "credentialId": theirs["credential_id"]})
		theirs["pair"] = accountID(1) + "_" + theirs["credential_id"]
		theirs["token_id"] = one.want(201, "POST", "/v1/api-tokens", object{"name": "x"}).member("id")
		unknown := map[string]string{
			"cloud_account_id": accountID(777), "credential_id": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "pair": accountID(777) + "_6f9619ff-8b86-d011-b42d-00c04fc964ff",
			"token_id": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "user_id": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
		}
		before := one.want(200, "POST", "/v1/cloud-accounts/query", object{"getCredentials": true})

		probes := 0
		for _, route := range a.Routes() {
			if route.Need == httpapi.Public || slices.Contains(ownOnly, route.Operation) {
				continue
			}
			for _, body := range bodies(theirs, unknown) {
				method, path := fill(route.Pattern, with(theirs, "provider", "aws"))
				_, path2 := fill(route.Pattern, with(unknown, "provider", "aws"))
				if strings.Contains(path, "{") { // an id that this test has none of
					continue
				}
				foreign, absent := two.do(method, path, body[0]), two.do(method, path2, body[1])
				probes++
				if got, want := shape(foreign, theirs), shape(absent, unknown); got != want {
					t.Errorf("%s:\n  with an id of another organisation %.300s\n  with an id that nobody has         %.300s", route.Pattern, got, want)
				}
			}
		}
		if probes < 100 {
			t.Errorf("only %d probes", probes)
		}
		token := one.want(200, "POST", "/v1/cloud-accounts/query", object{"paginationInfo": object{"pageSize": 1}}).member("continuationToken")
		two.want(400, "POST", "/v1/cloud-accounts/query", object{"paginationInfo": object{"pageSize": 1, "continuationToken": token}})
		if after := one.want(200, "POST", "/v1/cloud-accounts/query", object{"getCredentials": true}); after.text != before.text {
			t.Errorf("something has changed:\n%s\n%s", before.text, after.text)
		}
	})
}

func TestTwoOrganisationsMayHaveTheSameAccount(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base := serve(t, a)
	one, _, _ := newOrg(t, in, base, "one")
	two, _, _ := newOrg(t, in, base, "two")
	first := one.want(201, "POST", accounts, awsAccount(accountID(1)))
	second := two.want(201, "POST", accounts, awsAccount(accountID(1)))
	if fmt.Sprint(first.body["properties"]) == fmt.Sprint(second.body["properties"]) {
		t.Error("both have the same LegacyCloudAccountID, and so learn of each other")
	}
	two.want(200, "DELETE", accounts+"/"+accountID(1), nil)
	one.want(200, "GET", accounts+"/"+accountID(1), nil)
}

// ownOnly are operations that take no id, and whose answers change from call to
// call.
var ownOnly = []string{"listAuditRecords", "createUser"}

// bodies returns pairs of bodies that differ in whose ids they name.
func bodies(theirs, unknown map[string]string) [][2]any {
	return pairs(theirs, unknown,
		func(ids map[string]string) any { return nil },
		func(ids map[string]string) any {
			return object{"cloudAccountId": ids["cloud_account_id"], "credentialId": ids["credential_id"]}
		},
		func(ids map[string]string) any {
			return object{"filters": object{"cloudAccountIds": []string{ids["cloud_account_id"]}, "cloudAccountId": ids["cloud_account_id"]}, "getCredentials": true}
		},
		func(ids map[string]string) any {
			return object{"provider": "aws", "cloudAccountUpdates": []object{{"action": "delete", "cloudAccountId": ids["cloud_account_id"]}}}
		},
		func(ids map[string]string) any {
			return object{"provider": "aws", "credentialUpdates": []object{{"action": "delete", "credentialId": ids["credential_id"]}}}
		},
		func(ids map[string]string) any {
			return object{"provider": "aws", "relationshipUpdates": []object{{"action": "delete", "cloudAccountId": ids["cloud_account_id"], "credentialId": ids["credential_id"]}}}
		},
		func(ids map[string]string) any {
			return object{"name": "x", "role": "viewer", "userId": ids["user_id"], "partitionKey": ids["cloud_account_id"], "gremlin": "g.V()"}
		},
	)
}

func pairs(theirs, unknown map[string]string, makes ...func(map[string]string) any) (all [][2]any) {
	for _, f := range makes {
		all = append(all, [2]any{f(theirs), f(unknown)})
	}
	return all
}

func with(m map[string]string, name, value string) map[string]string {
	m = maps.Clone(m)
	m[name] = value
	return m
}

var generated = regexp.MustCompile(`"(id|eTag|createdTime|lastUpdateTime|token|hint|time|requestId)":"[^"]*"`)

// shape is what an answer says apart from the ids that were asked for and what
// differs between any two answers.
func shape(a answer, ids map[string]string) string {
	text := generated.ReplaceAllString(a.text, `"$1":""`)
	longest := slices.SortedFunc(maps.Values(ids), func(a, b string) int { return len(b) - len(a) })
	for _, id := range longest {
		text = strings.ReplaceAll(text, id, "ID")
	}
	return fmt.Sprintf("%d %s %s", a.status, a.header.Get("Allow"), text)
}
