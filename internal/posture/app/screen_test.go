package app_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/entitygen"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// network records three networks, of which one was not read completely, and a subnet of
// the first.
func (i *inventory) network() (account posture.AccountID, vpcs []posture.Entity) {
	i.t.Helper()
	a := entitygen.New(0, 0) // an empty AWS account
	i.collect(a)
	entity := func(kind posture.EntityType, name string, to posture.EntityID, ps ...posture.Property) posture.Entity {
		e := posture.Entity{
			ID: kind.ID(a.ID, "eu-west-1", name), Type: kind, Name: name, XID: name, Account: a.ID, Provider: posture.AWS,
			Region: "eu-west-1", Service: "EC2", Properties: ps,
		}
		if to != "" {
			e.Edges = []posture.Edge{{Label: "PART_OF", To: to}}
		}
		return e
	}
	vpcs = []posture.Entity{
		entity("AWS.EC2.Vpc", "bad", "", posture.Flag("isDefault", true)), entity("AWS.EC2.Vpc", "good", "", posture.Flag("isDefault", false)),
		entity("AWS.EC2.Vpc", "unreadable", "", posture.Unknown("isDefault", "denied")),
	}
	i.record(collect.Scoped{Org: i.org, Account: a.ID, Type: "AWS.EC2.Vpc", Region: "eu-west-1"}, vpcs...)
	i.record(collect.Scoped{Org: i.org, Account: a.ID, Type: "AWS.EC2.Subnet", Region: "eu-west-1"}, entity("AWS.EC2.Subnet", "part", vpcs[0].ID))
	return a.ID, vpcs
}

const defaultNetworks = `g.V().hasLabel('AWS.EC2.Vpc').has('isDefault', true)`

func (i *inventory) ownRule(query string) answer {
	i.t.Helper()
	return i.want(201, "POST", "/v1/rules", object{"name": "Mine", "displayName": "mine", "provider": "aws", "level": "Low", "query": graphQuery(query)})
}

// verdict returns the verdict of a rule on an entity, or "" if it is not listed.
func (i *inventory) verdict(entity posture.EntityID, rule string) string {
	i.t.Helper()
	for _, v := range results(i.want(200, "GET", entityPath(string(entity))+"/verdicts", nil)) {
		if v["ruleId"] == rule {
			return v["verdict"].(string)
		}
	}
	return ""
}

func TestVerdictsNeighboursAndFindingsOfAnEntity(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0, aws.New(aws.Options{}))
		account, vpcs := i.network()
		rule := i.ownRule(defaultNetworks).member("id")
		for n, want := range []string{"Violation", "Pass", "Unknown"} {
			if got := i.verdict(vpcs[n].ID, rule); got != want {
				t.Errorf("%s: %q, want %s", vpcs[n].Name, got, want)
			}
		}
		i.want(404, "GET", entityPath("none")+"/verdicts", nil)

		neighbors := i.want(200, "GET", entityPath(string(vpcs[0].ID))+"/neighbors?direction=in", nil)
		if all := results(neighbors); len(all) != 1 || all[0]["label"] != "PART_OF" || all[0]["entity"].(object)["entityName"] != "part" || len(neighbors.body["counts"].([]any)) != 1 {
			t.Errorf("neighbours: %s", neighbors.text)
		}
		if out := i.want(200, "GET", entityPath(string(vpcs[0].ID))+"/neighbors?direction=out", nil); out.body["totalCount"] != 0.0 {
			t.Errorf("neighbours: %s", out.text)
		}
		i.want(400, "GET", entityPath(string(vpcs[0].ID))+"/neighbors?direction=up", nil)
		if bad := i.want(400, "GET", entityPath(string(vpcs[0].ID))+"/neighbors?pageSize=0", nil); !strings.Contains(bad.text, `"path":"pageSize"`) {
			t.Errorf("an invalid page size: %s", bad.text)
		}
		walked := i.want(200, "POST", entities+"/graph-query", object{"gremlin": `g.V().hasLabel('AWS.EC2.Subnet').out().path()`, "partitionKey": account})
		if edges := walked.body["edges"].([]any); len(edges) != 1 || edges[0].(object)["label"] != "PART_OF" || edges[0].(object)["to"] != string(vpcs[0].ID) {
			t.Errorf("edges: %s", walked.text)
		}

		_, err := i.store.Observe(t.Context(), i.org, posture.Judgement{Account: account, RulesAt: posture.AnyRules, At: time.Now(), Rules: []posture.RuleJudgement{{
			Rule: posture.RuleID(rule), Passing: 1, Unknown: []posture.EntityID{vpcs[2].ID}, Violating: []posture.Raised{{
				Finding: posture.Finding{Provider: posture.AWS, Object: vpcs[0].ID, Type: vpcs[0].Type, Level: posture.LevelLow, Risk: posture.Risk{Score: 42}},
				Blob:    func() string { return "{}" },
			}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		found := i.want(200, "POST", entities+"/query", object{"filters": object{"entityIds": []any{vpcs[0].ID, vpcs[1].ID, "none"}}, "includeFindings": true})
		for _, e := range results(found) {
			want := map[any]float64{"bad": 42, "good": 0}[e["entityName"]]
			if e["findings"].(object)["maxRiskScore"] != want {
				t.Errorf("findings of %v: %v", e["entityName"], e["findings"])
			}
		}
		if found.body["totalCount"] != 2.0 {
			t.Errorf("by ids: %s", found.text)
		}
		verdicts := i.want(200, "POST", "/v1/rules/verdicts-query", object{"filters": object{"ruleIds": []string{rule}}, "includeUnread": true})
		if all := results(verdicts); len(all) != 1 || all[0]["violating"] != 1.0 || all[0]["passing"] != 1.0 || all[0]["unknown"] != 1.0 {
			t.Errorf("verdicts: %s", verdicts.text)
		}
	})
}

// TestRuleVerdictsAndUnknownResources checks that resources to which a rule does not
// apply neither pass nor violate it, and that resources with unread values are listed
// as unknown.
func TestRuleVerdictsAndUnknownResources(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0, aws.New(aws.Options{}))
	account, vpcs := i.network()
	// The steps before as('about') select the networks that the rule applies to, those after it the violating ones.
	const withAboutLabel = `g.V().hasLabel('AWS.EC2.Vpc').has('isDefault', true).as('about').hasNot('cidrBlock')`
	rule := i.ownRule(withAboutLabel).member("id")
	for n, want := range []string{"Violation", "NotApplicable", "Unknown"} {
		if got := i.verdict(vpcs[n].ID, rule); got != want {
			t.Errorf("%s: %q, want %s", vpcs[n].Name, got, want)
		}
	}
	tried := i.want(200, "POST", "/v1/rules/test", object{"query": withAboutLabel, "partitionKey": account}).body
	if tried["violating"] != 1.0 || tried["passing"] != 0.0 || tried["unknown"] != 1.0 || tried["notApplicable"] != 1.0 {
		t.Errorf("tried: %v", tried)
	}
	_, err := i.store.Observe(t.Context(), i.org, posture.Judgement{Account: account, RulesAt: posture.AnyRules, At: time.Now(), Rules: []posture.RuleJudgement{{
		Rule: posture.RuleID(rule), NotApplicable: 1, Unknown: []posture.EntityID{vpcs[2].ID},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	counts := i.want(200, "POST", "/v1/rules/verdicts-query", object{"filters": object{"ruleIds": []string{rule}}})
	if all := results(counts); len(all) != 1 || all[0]["notApplicable"] != 1.0 || all[0]["unknown"] != 1.0 {
		t.Errorf("verdicts: %s", counts.text)
	}
	unknown := i.want(200, "POST", "/v1/rules/"+rule+"/unknown-query", object{"paginationInfo": object{"pageSize": 1}})
	all := results(unknown)
	if len(all) != 1 || unknown.body["totalCount"] != 1.0 || all[0]["entity"].(object)["entityName"] != "unreadable" ||
		!slices.Equal(all[0]["reasons"].([]any), []any{"isDefault could not be read: denied"}) {
		t.Errorf("unknown: %s", unknown.text)
	}
	if unknown.body["continuationToken"] != nil {
		t.Errorf("the only page has a next page: %s", unknown.text)
	}
	i.want(404, "POST", "/v1/rules/none/unknown-query", nil)
	i.want(400, "POST", "/v1/rules/"+rule+"/unknown-query", object{"paginationInfo": object{"pageSize": 0}})
}

// TestUnknownResourcesContinueAfterDeletedOnes deletes the first of two unknown resources
// after their graph was read.
func TestUnknownResourcesContinueAfterDeletedOnes(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0, aws.New(aws.Options{}))
	account, vpcs := i.network()
	second := posture.Entity{
		ID: posture.EntityType("AWS.EC2.Vpc").ID(account, "us-east-1", "second"), Type: "AWS.EC2.Vpc", Name: "second", XID: "second", Account: account,
		Provider: posture.AWS, Region: "us-east-1", Service: "EC2", Properties: []posture.Property{posture.Unknown("isDefault", "denied")},
	}
	i.record(collect.Scoped{Org: i.org, Account: account, Type: second.Type, Region: second.Region}, second)
	rule := i.ownRule(defaultNetworks).member("id")
	_, err := i.store.Observe(t.Context(), i.org, posture.Judgement{Account: account, RulesAt: posture.AnyRules, At: time.Now(), Rules: []posture.RuleJudgement{{
		Rule: posture.RuleID(rule), Unknown: []posture.EntityID{vpcs[2].ID, second.ID},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/rules/" + rule + "/unknown-query"
	if all := results(i.want(200, "POST", path, nil)); len(all) != 2 {
		t.Fatalf("unknown: %v", all)
	}
	// The id of a row consists of the id of its cell, which is a type in a region, and a number of 28 bits.
	err = i.install.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`DELETE FROM entity WHERE row_id >> 28 IN (SELECT id FROM entity_cell WHERE type = $1 AND region = $2)`, "AWS.EC2.Vpc", "eu-west-1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	only := i.want(200, "POST", path, object{"paginationInfo": object{"pageSize": 1}})
	if all := results(only); len(all) != 1 || all[0]["entity"].(object)["entityName"] != "second" || only.body["continuationToken"] != nil {
		t.Errorf("the page after the deletion: %s", only.text)
	}
}

func TestEditAndCheckCustomRule(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0, aws.New(aws.Options{}))
	account, _ := i.network()
	created := i.ownRule(defaultNetworks)
	path := "/v1/rules/" + created.member("id")
	changed := i.want(200, "PUT", path, object{"name": "Other", "query": graphQuery("g.V().hasLabel('AWS.EC2.Subnet')"), "description": nil}, "If-Match", created.header.Get("ETag"))
	if changed.member("name") != "Other" || !strings.Contains(changed.member("query"), "Subnet") {
		t.Errorf("changed: %s", changed.text)
	}
	got := i.want(200, "GET", path+"?include=reads", nil)
	if reads, _ := got.body["reads"].(object); reads == nil || reads["findsTypes"].([]any)[0] != "AWS.EC2.Subnet" {
		t.Errorf("reads: %v", got.body["reads"])
	}
	for _, bad := range []object{{"query": graphQuery("g.V(")}, {"displayName": "with space"}, {"complianceControlIds": []string{"none_1"}}} {
		i.want(400, "PUT", path, bad, "If-Match", got.header.Get("ETag"))
	}
	// PATCH does not change names, and PUT does not change rules that come with Vigil.
	native := i.want(200, "GET", "/v1/rules/aws-iam-root-mfa", nil)
	i.want(400, "PATCH", path, object{"name": "x"}, "If-Match", got.header.Get("ETag"))
	i.want(400, "PUT", "/v1/rules/aws-iam-root-mfa", object{"name": "x"}, "If-Match", native.header.Get("ETag"))

	check := func(query string) object { return i.want(200, "POST", "/v1/rules/check", object{"query": query}).body }
	if ok := check(defaultNetworks); ok["valid"] != true || ok["reads"] == nil || len(ok["errors"].([]any)) != 0 {
		t.Errorf("check of a valid query: %v", ok)
	}
	bad := check("g.V()\n.hasLable('x')")
	if e := bad["errors"].([]any)[0].(object); bad["valid"] != false || e["line"] != 2.0 || e["column"] != 2.0 || e["endColumn"] == nil {
		t.Errorf("check of a misspelled step in line 2: %v", bad)
	}
	if e := check("")["errors"].([]any); len(e) != 1 {
		t.Errorf("check of an empty query: %v", e)
	}
	if err := i.store.ScopeFailed(t.Context(), posture.Scope{Org: i.org, Account: account, Type: "AWS.EC2.Vpc", Region: "us-east-1"}, "denied"); err != nil {
		t.Fatal(err)
	}
	tried := i.want(200, "POST", "/v1/rules/test", object{"query": defaultNetworks, "partitionKey": account})
	if unread := tried.body["unread"].([]any); len(unread) != 1 || unread[0].(object)["why"] != "denied" {
		t.Errorf("unread: %v", tried.body["unread"])
	}
	wrong := i.want(400, "POST", entities+"/graph-query", object{"gremlin": "g.V().nonsense()", "partitionKey": account})
	if e := wrong.body["errors"].([]any)[0].(object); e["line"] != 1.0 || e["column"] == nil {
		t.Errorf("errors: %s", wrong.text)
	}
	search := i.want(400, "POST", entities+"/query", object{"filters": object{"query": "region ="}})
	if e := search.body["errors"].([]any)[0].(object); e["column"] == nil {
		t.Errorf("errors: %s", search.text)
	}
}

func TestPulse(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0, aws.New(aws.Options{}))
		const path = "/console/pulse"
		before := i.want(200, "GET", path, nil)
		i.want(304, "GET", path, nil, "If-None-Match", before.header.Get("ETag"))
		changes := func(name string, change func()) {
			t.Helper()
			change()
			after := i.want(200, "GET", path, nil, "If-None-Match", before.header.Get("ETag"))
			if after.member(name) == before.member(name) {
				t.Errorf("%s is still %q", name, before.member(name))
			}
			before = after
		}
		changes("accounts", func() { i.want(201, "POST", accounts, awsAccount(accountID(7))) })
		changes("entities", func() { i.network() })
		changes("rules", func() { i.ownRule(defaultNetworks) })
		changes("findings", func() { i.raise("r", time.Now(), nil, 1) })
		if before.member("lastChangeTime") == "" {
			t.Errorf("the pulse after a finding was raised has no lastChangeTime: %s", before.text)
		}
	})
}

func TestCollectionsOfAnAccount(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	i.want(201, "POST", accounts, awsAccount(accountID(1)))
	validate := "/v1/cloud-accounts/" + accountID(1) + "/validation"
	i.want(404, "POST", "/v1/cloud-accounts/none/validation", nil)
	i.want(409, "POST", validate, nil)
	id := i.want(201, "POST", credentials, awsCredential()).member("credentialId")
	i.want(201, "POST", relationships, object{"cloudAccountId": accountID(1), "credentialId": id})
	i.want(202, "POST", validate, nil)
	// There are no job workers, so the test activates the account itself.
	err := i.store.Onboard(t.Context(), i.org, func(tx posture.OnboardingTx) error {
		a, err := tx.Account(posture.AccountID(accountID(1)))
		if err != nil {
			return err
		}
		a.Status.Set(posture.AccountActive, time.Now())
		return tx.SaveAccount(a)
	})
	if err != nil {
		t.Fatal(err)
	}
	run := i.want(202, "POST", "/v1/cloud-accounts/"+accountID(1)+"/collections", nil)
	list, _ := i.want(200, "POST", "/v1/cloud-accounts/query", nil).body["cloudAccounts"].([]any)
	for _, body := range []object{i.want(200, "GET", accounts+"/"+accountID(1), nil).body, list[0].(object)} {
		last, _ := body["lastCollection"].(object)
		if last["collectionId"] != run.member("collectionId") || last["status"] != "Started" || body["nextCollectionTime"] == nil {
			t.Errorf("account: %v", body)
		}
	}
	const runs = "/v1/cloud-accounts/collection-status/query"
	for filter, want := range map[string]int{"Started": 1, "failed": 0} {
		if got := len(results(i.want(200, "POST", runs, object{"filters": object{"statuses": []string{filter}, "startedFrom": "2020-01-01T00:00:00Z"}}))); got != want {
			t.Errorf("%d runs are %s, want %d", got, filter, want)
		}
	}
	if got := len(results(i.want(200, "POST", runs, object{"filters": object{"startedTo": "2020-01-01T00:00:00Z"}}))); got != 0 {
		t.Errorf("%d runs started before 2020, want none", got)
	}
	i.want(400, "POST", runs, object{"filters": object{"statuses": []string{"odd"}}})
}

func TestPostureByRuleAndAccount(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	i.raise("aws-iam-root-mfa", time.Now(), nil, 1, 2)
	path := "/v1/compliance-frameworks/cis-aws-3.0/posture"
	count := func(body object) (violating float64, rules, accounts int) {
		for _, c := range results(i.want(200, "POST", path, body)) {
			violating += c["violating"].(float64)
			r, _ := c["rules"].(object)
			a, _ := c["accounts"].(object)
			rules, accounts = rules+len(r), accounts+len(a)
		}
		return violating, rules, accounts
	}
	total, rules, accounts := count(object{})
	if total < 2 || rules+accounts != 0 {
		t.Errorf("%v violating, %d rules, %d accounts", total, rules, accounts)
	}
	if n, rules, accounts := count(object{"details": true, "cloudAccountIds": []string{"111111111111"}}); n != total || rules == 0 || accounts == 0 {
		t.Errorf("%v violating, %d rules, %d accounts", n, rules, accounts)
	}
	if n, _, _ := count(object{"cloudAccountIds": []string{"222222222222"}}); n != 0 {
		t.Errorf("%v violating in an account that does not exist", n)
	}
}

func TestSavedViews(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	created := i.want(201, "POST", "/v1/views", object{"name": " Critical ", "screen": "findings", "query": "level=High", "shared": true})
	path := "/v1/views/" + created.member("id")
	i.want(400, "POST", "/v1/views", object{"name": " ", "screen": "findings"})
	i.want(400, "POST", "/v1/views", object{"name": "x", "screen": "findings", "query": strings.Repeat("x", 9000)})
	user, err := i.install.Registry.AddUser(t.Context(), auth.Operator(auth.OrgID(i.org)), auth.UserEdit{Name: "ann", Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	ann := newClient(t, i.install, i.base, user, auth.Viewer)
	if all := results(ann.want(200, "GET", "/v1/views", nil)); len(all) != 1 || all[0]["own"] != false || all[0]["name"] != "Critical" {
		t.Errorf("views %v", all)
	}
	ann.want(404, "PUT", path, object{"name": "x", "screen": "findings"})
	ann.want(404, "DELETE", path, nil)
	i.want(200, "PUT", path, object{"name": "Mine", "screen": "findings"})
	if all := results(ann.want(200, "GET", "/v1/views", nil)); len(all) != 0 {
		t.Errorf("a view that is no longer shared: %v", all)
	}
	i.want(204, "DELETE", path, nil)
	i.want(404, "DELETE", path, nil)
}

func TestAdminListsAndEndsSessions(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	org := auth.OrgID(i.org)
	user, err := i.install.Registry.AddUser(t.Context(), auth.Operator(org), auth.UserEdit{Name: "ann", Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := i.install.Registry.IssueToken(t.Context(), auth.Operator(org), auth.TokenEdit{Name: "console", User: user.ID})
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, i.base)
	b.want(200, "POST", "/console/session", object{"apiToken": text.Reveal()})
	path := "/v1/users/" + url.PathEscape(string(user.ID)) + "/sessions"
	b.want(403, "GET", path, nil)
	all := results(i.want(200, "GET", path, nil))
	if len(all) != 1 || all[0]["method"] != "apiToken" || all[0]["current"] != false {
		t.Fatalf("sessions %v", all)
	}
	i.want(404, "GET", "/v1/users/none/sessions", nil)
	i.want(404, "DELETE", path+"/none", nil)
	i.want(204, "DELETE", path+"/"+all[0]["id"].(string), nil)
	b.want(401, "GET", "/console/session", nil)
}
