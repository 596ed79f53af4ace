package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/store"
	"vigil/internal/secret"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestLimitedCallersSeeOnlyTheirAccounts gives a user, or a token, access to one of the
// two accounts of an organisation, and calls every route: with ids of the other account
// the response must equal the one for ids that do not exist, and nothing that any
// response contains may come from the other account.
func TestLimitedCallersSeeOnlyTheirAccounts(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		one, theirs := newTenant(t, in, base)
		own := ownAccount(one, in.DB, in.Box, theirs)
		foreign := with(theirs, "mute_rule_id", one.want(201, "POST", "/v1/mute-rules", object{
			"name": "Theirs", "reason": "known", "scope": object{"cloudAccountIds": []string{theirs["cloud_account_id"]}},
		}).member("id"))
		for _, name := range []string{"rule_id", "framework_id", "user_id", "token_id", "session_id", "channel_id", "notification_rule_id", "delivery_id"} {
			foreign[name] = unknown[name] // these belong to no account
		}

		user := one.want(201, "POST", "/v1/users", object{"name": "limited", "role": "analyst", "limitedTo": object{"cloudAccountIds": []string{own["cloud_account_id"]}}})
		org := auth.OrgID(one.want(200, "GET", "/console/session", nil).body["organization"].(map[string]any)["id"].(string))
		byUser := newClient(t, in, base, auth.User{ID: auth.UserID(user.member("id")), Org: org}, auth.Analyst)
		token := one.want(201, "POST", "/v1/api-tokens", object{"name": "limited", "role": "analyst", "limitedTo": object{"tags": object{"team": []string{"two"}}}})
		byToken := &client{t: t, base: base, http: one.http}
		byToken.token = byToken.exchange(token.member("token"))

		before := data(one, theirs)
		probes := 0
		for _, route := range a.Routes() {
			if route.Need == httpapi.Public || route.Events || slices.Contains(ownOnly, route.Operation) || route.Operation == "endSession" {
				continue
			}
			method, path := fill(route.Pattern, with(foreign, "provider", "aws"))
			_, absentPath := fill(route.Pattern, with(unknown, "provider", "aws"))
			_, ownPath := fill(route.Pattern, with(own, "provider", "aws"))
			if !route.Limited {
				byUser.want(403, method, path, nil)
				byToken.want(403, method, ownPath, nil)
				continue
			}
			all := bodies(foreign, unknown)
			for _, i := range []int{0, 1, 2, 6, 8, 10} { // the others are for routes that are closed to limited callers
				body := all[i]
				got, absent := byUser.text(method, path, body[0]), byUser.text(method, absentPath, body[1])
				probes++
				leaks(t, route.Pattern, got, theirs)
				if got.status == absent.status && got.text == absent.text {
					continue
				}
				if got, want := shape(got, foreign), shape(absent, unknown); got != want {
					t.Errorf("%s:\n  with an id of another account   %.300s\n  with an id that does not exist  %.300s", route.Pattern, got, want)
				}
			}
			for _, limited := range []*client{byUser, byToken} {
				for _, body := range []any{nil, object{"name": "x", "level": "Low", "partitionKey": own["cloud_account_id"], "gremlin": "g.V()", "cloudAccountId": own["cloud_account_id"]}} {
					leaks(t, route.Pattern, limited.text(method, ownPath, body), theirs)
				}
			}
		}
		if probes < 250 {
			t.Errorf("only %d probes", probes)
		}
		checkOwn(byUser, own)
		checkOwn(byToken, own)
		if after := data(one, theirs); after != before {
			t.Errorf("something has changed:\n%s\n%s", before, after)
		}
		// A continuation token of somebody else carries their filters, not their access.
		page := object{"paginationInfo": object{"pageSize": 1}}
		first := one.want(200, "POST", "/v2/findings/query", page).member("continuationToken")
		if first == "" {
			t.Fatal("the findings have only one page")
		}
		next := byUser.want(200, "POST", "/v2/findings/query", object{"paginationInfo": object{"pageSize": 1, "continuationToken": first}})
		leaks(t, "continuation token", next, theirs)
	})
}

// data returns what an organisation can list, without tokens, whose last use changes.
func data(c *client, ids map[string]string) string {
	c.t.Helper()
	lines := strings.Split(readAll(c, ids), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, `"hint"`) }), "\n") // only tokens have a hint
}

// leaks reports an error if a response contains an id of the other account.
func leaks(t *testing.T, what string, a answer, theirs map[string]string) {
	t.Helper()
	if a.status >= 400 {
		return // an error may repeat the id of its request
	}
	for _, name := range []string{"cloud_account_id", "credential_id", "resource_id", "finding_id", "collection_id"} {
		if strings.Contains(a.text, theirs[name]) {
			t.Errorf("%s: the response contains %s of the other account: %.400s", what, name, a.text)
		}
	}
}

// ownAccount gives the tenant's second account the tag team=two, an entity and a finding.
// It returns the ids of the account and its records by their names in routes.
func ownAccount(c *client, db *sqldb.DB, box *secret.Box, theirs map[string]string) map[string]string {
	c.t.Helper()
	id := accountID(2)
	spec := awsAccount(id)
	spec["tags"] = object{"team": "two"}
	c.want(200, "PUT", accounts+"/"+id, spec)
	session := c.want(200, "GET", "/console/session", nil)
	org := posture.OrgID(session.body["organization"].(map[string]any)["id"].(string))
	st, now := store.New(db, box, noJobs{}), time.Now()
	i := &inventory{client: c, org: org, store: st}
	thing := collect.NewResource("AWS.Test.Thing", posture.AccountID(id), "", "mine").Text("secret", "of two").Entity
	i.record(collect.Scoped{Org: org, Account: posture.AccountID(id), Type: thing.Type, Region: posture.Global}, thing)
	// An entity appears and disappears in each account, for the change feed. The feed leaves out the first
	// collection of a type, which is therefore empty.
	for _, account := range []string{id, theirs["cloud_account_id"]} {
		scope := collect.Scoped{Org: org, Account: posture.AccountID(account), Type: "AWS.Test.Changed", Region: posture.Global}
		i.record(scope)
		i.record(scope, collect.NewResource(scope.Type, scope.Account, "", "changed").Entity)
		i.record(scope)
	}
	raised := posture.Finding{Provider: posture.AWS, Object: thing.ID, Name: "mine", Service: "Test", Region: posture.Global, Level: posture.LevelHigh}
	if _, err := st.Observe(c.t.Context(), org, posture.Judgement{Account: posture.AccountID(id), RulesAt: posture.AnyRules, At: now, Rules: []posture.RuleJudgement{
		{Rule: posture.RuleID(theirs["rule_id"]), Violating: []posture.Raised{{Finding: raised, Blob: func() string { return "{}" }}}},
	}}); err != nil {
		c.t.Fatal(err)
	}
	own := with(unknown, "cloud_account_id", id)
	own["resource_id"], own["rule_id"], own["framework_id"] = string(thing.ID), theirs["rule_id"], theirs["framework_id"]
	for _, f := range results(c.want(200, "POST", "/v2/findings/query", object{"filters": object{"cloudAccountIds": []string{id}}})) {
		own["finding_id"], _ = f["id"].(string)
	}
	return own
}

// checkOwn checks that a limited caller can read and change records of its accounts.
func checkOwn(c *client, own map[string]string) {
	c.t.Helper()
	for _, path := range []string{
		"/v1/cloud-accounts/{cloud_account_id}", "/v1/entities/{resource_id}", "/v1/entities/{resource_id}/changelog", "/v1/entities/{resource_id}/neighbors",
		"/v2/findings/{finding_id}", "/v2/findings/{finding_id}/history", "/v1/rules/{rule_id}", "/v1/entities/{resource_id}/verdicts",
	} {
		method, path := fill("GET "+path, own)
		c.want(200, method, path, nil)
	}
	for path, body := range map[string]object{
		"/v1/cloud-accounts/query": {}, "/v1/entities/query": {}, "/v2/findings/query": {"filters": object{"ruleIds": []string{own["rule_id"]}}},
	} {
		if got := c.want(200, "POST", path, body); fmt.Sprint(got.body["totalCount"]) != "1" {
			c.t.Errorf("%s: %s, want a total of 1", path, got.text)
		}
	}
	changes := c.want(200, "POST", "/v1/entities/changes-query", object{"countBy": "Day"})
	for _, each := range results(changes) {
		if each["cloudAccountId"] != own["cloud_account_id"] {
			c.t.Errorf("the change feed has %v", each)
		}
	}
	if n := len(results(changes)); n != 2 || fmt.Sprint(changes.body["counts"].([]any)[0].(object)["deleted"]) != "1" {
		c.t.Errorf("change feed: %s", changes.text)
	}
	c.want(200, "POST", "/v1/entities/graph-query", object{"partitionKey": own["cloud_account_id"], "gremlin": "g.V()"})
	suppression := fmt.Sprintf("/v2/findings/%s/suppression", own["finding_id"])
	c.want(200, "PUT", suppression, object{"reason": "known"})
	c.want(200, "DELETE", suppression, nil)
	if me := c.want(200, "GET", "/console/session", nil); me.body["limited"] != true {
		c.t.Errorf("the session of a limited caller: %s", me.text)
	}
}

func TestAccountLimitsOfUsersAndTokens(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base := serve(t, a)
	c, org, _ := newOrg(t, in, base, "org")
	one, two := accountID(1), accountID(2)
	for _, id := range []string{one, two} {
		c.want(201, "POST", accounts, awsAccount(id))
	}
	to := func(ids ...string) object { return object{"cloudAccountIds": ids} }
	for _, bad := range []object{
		{"name": "x", "role": "admin", "limitedTo": to(one)},
		{"name": "x", "role": "viewer", "limitedTo": object{}},
		{"name": "x", "role": "viewer", "limitedTo": to("a b")},
		{"name": "x", "role": "viewer", "limitedTo": to("")},
		{"name": "x", "role": "viewer", "limitedTo": object{"tags": object{"a=b": []string{"c"}}}},
		{"name": "x", "role": "viewer", "limitedTo": object{"tags": object{"team": []string{}}}},
		{"name": "x", "role": "viewer", "limitedTo": object{"tags": object{"team": []string{"a\nb=c"}}}},
	} {
		c.want(400, "POST", "/v1/users", bad)
		c.want(400, "POST", "/v1/api-tokens", bad)
	}
	made := c.want(201, "POST", "/v1/users", object{"name": "ann", "role": "viewer", "limitedTo": to(one)})
	path := "/v1/users/" + made.member("id")
	ann := newClient(t, in, base, auth.User{ID: auth.UserID(made.member("id")), Org: org.ID}, auth.Viewer)
	see := func(c *client, want ...string) {
		t.Helper()
		var ids []string
		list, _ := c.want(200, "POST", "/v1/cloud-accounts/query", nil).body["cloudAccounts"].([]any)
		for _, r := range list {
			ids = append(ids, fmt.Sprint(r.(map[string]any)["cloudAccountId"]))
		}
		if slices.Sort(ids); !slices.Equal(ids, want) {
			t.Errorf("the accounts %v are visible, not %v", ids, want)
		}
	}
	see(ann, one)
	// A token narrows the limit of its user, and never widens it.
	narrow := c.want(201, "POST", "/v1/api-tokens", object{"name": "n", "role": "viewer", "userId": made.member("id"), "limitedTo": to(two)})
	both := &client{t: t, base: base, http: c.http}
	both.token = both.exchange(narrow.member("token"))
	see(both)
	both.want(404, "GET", "/v1/cloud-accounts/"+one, nil)
	// A changed limit applies to tokens that were issued before. Limits by tags compare the current tags and ignore case.
	c.want(200, "PUT", path, object{"name": "ann", "role": "viewer", "limitedTo": object{"tags": object{"team": []string{"b", "c"}}}})
	see(ann)
	spec := awsAccount(two)
	spec["tags"] = object{"Team": "B"}
	c.want(200, "PUT", accounts+"/"+two, spec)
	see(ann, two)
	see(both, two)
	// A change without limitedTo keeps the limit; null removes it. An admin cannot be limited.
	c.want(200, "PUT", path, object{"name": "ann", "role": "viewer"})
	see(ann, two)
	c.want(400, "PUT", path, object{"name": "ann", "role": "admin"})
	c.want(200, "PUT", path, object{"name": "ann", "role": "viewer", "limitedTo": nil})
	see(ann, one, two)
}
