package app_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"vigil/internal/auth"
	"vigil/internal/httpapi"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/store"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestIDsOfAnotherOrganisationAreUnknown uses every id of one organisation in every
// request of another, in paths, bodies, filters and tokens. Each response must equal
// the one for an id that does not exist. Streams, which take no ids, have their own test.
func TestIDsOfAnotherOrganisationAreUnknown(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		owner, foreignIDs := newTenant(t, in, base)
		two, _, _ := newOrg(t, in, base, "two")
		before := readAll(owner, foreignIDs)

		probes := 0
		for _, route := range a.Routes() {
			if route.Need == httpapi.Public || route.Events || slices.Contains(ownOnly, route.Operation) {
				continue
			}
			for _, body := range bodies(foreignIDs, unknown) {
				method, path := fill(route.Pattern, with(foreignIDs, "provider", "aws"))
				_, absentPath := fill(route.Pattern, with(unknown, "provider", "aws"))
				if strings.Contains(path, "{") {
					t.Fatalf("%s has an id that this test lacks: add it to newTenant and to unknown", route.Pattern)
				}
				foreign, absent := two.text(method, path, body[0]), two.text(method, absentPath, body[1])
				probes++
				if foreign.status == absent.status && foreign.text == absent.text {
					continue
				}
				if got, want := shape(foreign, foreignIDs), shape(absent, unknown); got != want {
					t.Errorf("%s:\n  with an id of another organisation %.300s\n  with an id that does not exist     %.300s", route.Pattern, got, want)
				}
			}
		}
		if probes < 300 {
			t.Errorf("only %d probes", probes)
		}
		token := owner.want(200, "POST", "/v1/cloud-accounts/query", object{"paginationInfo": object{"pageSize": 1}}).member("continuationToken")
		two.want(400, "POST", "/v1/cloud-accounts/query", object{"paginationInfo": object{"pageSize": 1, "continuationToken": token}})
		if after := readAll(owner, foreignIDs); after != before {
			t.Errorf("something has changed:\n%s\n%s", before, after)
		}
	})
}

// unknown are ids that do not exist, by their names in routes.
var unknown = map[string]string{
	"cloud_account_id": accountID(777), "credential_id": absentID, "pair": accountID(777) + "_" + absentID, "token_id": absentID, "user_id": absentID,
	"resource_id": "AWS.Test.000000000777.global.Thing.t", "rule_id": absentID, "framework_id": "missing-framework", "finding_id": absentID, "collection_id": absentID,
	"session_id": absentID, "view_id": absentID, "mute_rule_id": absentID, "channel_id": absentID, "notification_rule_id": absentID, "delivery_id": absentID,
	"control_id": "missing-control",
}

const absentID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"

// newTenant adds an organisation with one record of each type. It returns its admin and
// the ids by their names in routes.
func newTenant(t *testing.T, in *instance.Installation, base string) (*client, map[string]string) {
	t.Helper()
	c, org, admin := newOrg(t, in, base, "one")
	id, run := accountID(1), uuid.NewString()
	c.want(201, "POST", accounts, awsAccount(id))
	c.want(201, "POST", accounts, awsAccount(accountID(2)))
	credential := c.want(201, "POST", credentials, awsCredential()).member("credentialId")
	c.want(201, "POST", relationships, object{"cloudAccountId": id, "credentialId": credential})
	c.want(200, "PUT", "/v1/compliance-frameworks/house-of-one", object{"name": "House rules", "controls": []object{{"controlId": "1-of-one", "title": "None"}}})
	c.want(200, "PUT", "/v1/compliance-frameworks/house-of-one/controls/1-of-one/assessment", object{"verdict": "Pass", "reason": "seen by one"})
	rule := c.want(201, "POST", "/v1/rules", object{
		"name": "Mine", "displayName": "mine", "provider": "aws", "level": "Low", "query": graphQuery("g.V().hasLabel('AWS.EC2.Vpc')"),
	}).member("id")

	st, now := store.New(in.DB, in.Box, noJobs{}), time.Now()
	i := &inventory{client: c, org: posture.OrgID(org.ID), store: st}
	thing := collect.NewResource("AWS.Test.Thing", posture.AccountID(id), "", "t").Text("secret", "of one").Entity
	i.record(collect.Scoped{Org: i.org, Account: posture.AccountID(id), Type: thing.Type, Region: posture.Global}, thing)
	if err := st.StartRun(t.Context(), i.org, posture.Run{ID: run, Provider: posture.AWS, Account: posture.AccountID(id), Status: posture.RunStarted, Start: now, Updated: now}, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	raised := posture.Finding{Provider: posture.AWS, Object: thing.ID, Name: "t", Service: "Test", Region: posture.Global, Level: posture.LevelHigh}
	_, err := st.Observe(t.Context(), i.org, posture.Judgement{Account: posture.AccountID(id), RulesAt: posture.AnyRules, At: now, Rules: []posture.RuleJudgement{
		{Rule: posture.RuleID(rule), Violating: []posture.Raised{{Finding: raised, Blob: func() string { return "{}" }}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	findings := results(c.want(200, "POST", "/v2/findings/query", nil))
	if len(findings) != 1 {
		t.Fatalf("findings %v", findings)
	}
	finding, _ := findings[0]["id"].(string)
	_, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(org.ID), auth.TokenEdit{Name: "console", User: admin.ID})
	if err != nil {
		t.Fatal(err)
	}
	newBrowser(t, base).want(200, "POST", "/console/session", object{"apiToken": text.Reveal()})
	sessions := results(c.want(200, "GET", "/v1/users/"+string(admin.ID)+"/sessions", nil))
	if len(sessions) != 1 {
		t.Fatalf("sessions %v", sessions)
	}
	session, _ := sessions[0]["id"].(string)
	channel := c.want(201, "POST", "/v1/notification-channels", object{"name": "x", "type": "webhook", "settings": object{"url": "https://receiver.invalid/"}}).member("id")
	notifyRule := c.want(201, "POST", "/v1/notification-rules", object{"name": "x", "events": []string{"FindingResolved"}, "channelIds": []string{channel}}).member("id")
	// A finding of a rule that is then removed is resolved, which makes a delivery of FindingResolved.
	second := posture.Judgement{Account: posture.AccountID(id), RulesAt: posture.AnyRules, At: now, Rules: []posture.RuleJudgement{{Rule: "gone", Violating: []posture.Raised{{Finding: raised, Blob: func() string { return "{}" }}}}}}
	for _, removed := range []bool{false, true} {
		second.Rules[0].Gone = removed
		if removed {
			second.Rules[0].Violating = nil
		}
		if _, err := st.Observe(t.Context(), i.org, second); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Dispatch(t.Context(), i.org, "", now); err != nil {
		t.Fatal(err)
	}
	deliveries := results(c.want(200, "GET", "/v1/notification-deliveries", nil))
	if len(deliveries) != 1 {
		t.Fatalf("deliveries %v", deliveries)
	}
	delivery, _ := deliveries[0]["id"].(string)
	return c, map[string]string{
		"channel_id": channel, "notification_rule_id": notifyRule, "delivery_id": delivery,
		"cloud_account_id": id, "credential_id": credential, "pair": id + "_" + credential, "user_id": string(admin.ID),
		"token_id": c.want(201, "POST", "/v1/api-tokens", object{"name": "x"}).member("id"), "resource_id": string(thing.ID),
		"rule_id": rule, "framework_id": "house-of-one", "control_id": "1-of-one", "finding_id": finding, "collection_id": run, "session_id": session,
		"view_id":      c.want(201, "POST", "/v1/views", object{"name": "Mine", "screen": "findings", "shared": true}).member("id"),
		"mute_rule_id": c.want(201, "POST", "/v1/mute-rules", object{"name": "Mine", "reason": "known", "scope": object{"ruleIds": []string{rule}}}).member("id"),
	}
}

// noJobs discards jobs.
type noJobs struct{ store.Jobs }

// Collect implements [store.Jobs].
func (noJobs) Collect(*sqldb.Tx, posture.OrgID, posture.Run) error { return nil }

// readAll returns all that an organisation can list.
func readAll(c *client, ids map[string]string) string {
	c.t.Helper()
	text := c.want(200, "POST", "/v1/cloud-accounts/query", object{"getCredentials": true}).text
	for _, path := range []string{
		"/v1/entities/{resource_id}", "/v1/rules/{rule_id}", "/v1/rules/{rule_id}/history", "/v1/compliance-frameworks/{framework_id}/controls",
		"/v2/findings/{finding_id}", "/v2/findings/{finding_id}/history", "/v1/cloud-accounts/{cloud_account_id}/collections/{collection_id}",
		"/v1/users/{user_id}", "/v1/api-tokens", "/v1/mute-rules/{mute_rule_id}",
	} {
		method, path := fill("GET "+path, ids)
		text += "\n" + c.want(200, method, path, nil).text
	}
	return text
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
		t.Error("both organisations have the same LegacyCloudAccountID")
	}
	two.want(200, "DELETE", accounts+"/"+accountID(1), nil)
	one.want(200, "GET", accounts+"/"+accountID(1), nil)
}

// ownOnly are operations that are not probed, because they take no id of an organisation.
// Responses of some differ between calls. The login of a program belongs to no
// organisation until a user confirms it.
var ownOnly = []string{"listAuditRecords", "getMetrics", "createUser", "getDeviceLogin", "decideDeviceLogin"}

// bodies returns pairs of request bodies that differ only in whose ids they contain.
func bodies(foreign, unknown map[string]string) [][2]any {
	return pairs(foreign, unknown,
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
			return object{"filters": object{"objectIds": []string{ids["resource_id"]}, "ruleIds": []string{ids["rule_id"]}, "complianceFrameworkIds": []string{ids["framework_id"]}}}
		},
		func(ids map[string]string) any {
			return object{"name": "x", "level": "Low", "reason": "x", "controls": []object{{"controlId": "1", "title": "x"}}, "complianceControlIds": []string{ids["framework_id"] + "_1"}}
		},
		func(ids map[string]string) any {
			return object{"name": "x", "reason": "x", "scope": object{"cloudAccountIds": []string{ids["cloud_account_id"]}, "ruleIds": []string{ids["rule_id"]}}}
		},
		func(ids map[string]string) any {
			return object{"name": "x", "channelIds": []string{ids["channel_id"]}, "type": "syslog", "settings": object{"server": "receiver.invalid:514"}}
		},
		func(ids map[string]string) any {
			return object{"name": "x", "role": "viewer", "userId": ids["user_id"], "partitionKey": ids["cloud_account_id"], "gremlin": "g.V()"}
		},
	)
}

func pairs(foreign, unknown map[string]string, makes ...func(map[string]string) any) (all [][2]any) {
	for _, f := range makes {
		all = append(all, [2]any{f(foreign), f(unknown)})
	}
	return all
}

func with(m map[string]string, name, value string) map[string]string {
	m = maps.Clone(m)
	m[name] = value
	return m
}

var generated = regexp.MustCompile(`"(id|eTag|createdTime|creationTime|lastUpdateTime|expiryTime|token|hint|time|requestId)":("[^"]*"|\d+)`)

// shape returns a response without the requested ids and without members that differ in
// every response.
func shape(a answer, ids map[string]string) string {
	text := generated.ReplaceAllString(a.text, `"$1":""`)
	// Longer ids first, because some contain others.
	longestFirst := slices.SortedFunc(maps.Values(ids), func(a, b string) int { return len(b) - len(a) })
	for _, id := range longestFirst {
		text = strings.ReplaceAll(text, id, "ID")
	}
	return fmt.Sprintf("%d %s %s", a.status, a.header.Get("Allow"), text)
}
