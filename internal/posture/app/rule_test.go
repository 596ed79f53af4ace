package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/app"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/entitygen"
	"vigil/internal/sqldb/dbtest"
)

func graphQuery(text string) string {
	return `{"inventoryQueryType":"Graph","queryString":"` + text + `"}`
}

func TestRuleTrial(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0, aws.New(aws.Options{}))
		account := entitygen.New(0, 0) // an empty AWS account
		i.collect(account)
		vpc := func(name string, p posture.Property) posture.Entity {
			kind := posture.EntityType("AWS.EC2.Vpc")
			return posture.Entity{
				ID: kind.ID(account.ID, "eu-west-1", name), Type: kind, Name: name, XID: name, Account: account.ID, Provider: posture.AWS,
				Region: "eu-west-1", Service: "EC2", Properties: []posture.Property{p},
			}
		}
		i.record(collect.Scoped{Org: i.org, Account: account.ID, Type: "AWS.EC2.Vpc", Region: "eu-west-1"},
			vpc("bad", posture.Flag("isDefault", true)), vpc("good", posture.Flag("isDefault", false)), vpc("unreadable", posture.Unknown("isDefault", "denied")))
		try := func(query, account string) object { return object{"query": query, "partitionKey": account} }
		const path, text = "/v1/rules/test", `g.V().hasLabel('AWS.EC2.Vpc').has('isDefault', true)`

		for _, query := range []string{text, graphQuery(text)} {
			got := i.want(200, "POST", path, try(query, string(account.ID)))
			for member, want := range map[string]float64{"violating": 1, "unknown": 1, "passing": 1} {
				if got.body[member] != want {
					t.Errorf("%s: %v, want %v", member, got.body[member], want)
				}
			}
			verdicts := map[any]any{}
			for _, r := range results(got) {
				verdicts[r["entity"].(object)["entityName"]] = r["verdict"]
			}
			if len(verdicts) != 2 || verdicts["bad"] != "Violation" || verdicts["unreadable"] != "Unknown" {
				t.Errorf("verdicts %v", verdicts)
			}
			cost, _ := got.body["cost"].(object)
			explain, _ := got.body["explain"].(object)
			if work, _ := cost["traversers"].(float64); work <= 0 || len(explain["steps"].([]any)) == 0 {
				t.Errorf("cost %v, explain %v", cost, explain)
			}
		}
		search := i.want(200, "POST", path, try(`{"inventoryQueryType":"Search","queryString":"entityType = AWS.EC2.Vpc AND property.isDefault = true"}`, string(account.ID)))
		if search.body["violating"] != 1.0 || search.body["unknown"] != 1.0 || search.body["explain"] != nil {
			t.Errorf("a search: %s", search.text)
		}
		if page := i.want(200, "POST", "/v2/findings/query", nil); page.body["totalCount"] != 0.0 {
			t.Errorf("a trial created findings: %s", page.text)
		}

		i.want(404, "POST", path, try(text, "none"))
		for _, bad := range []string{"", "{}", "{", "g.V(", "g.V().nonsense()", "g.V().count()", "g.V().drop()", graphQuery("g.V().has("), `{"inventoryQueryType":"Search","queryString":"AND"}`} {
			if got := i.want(400, "POST", path, try(bad, string(account.ID))); !strings.Contains(got.text, "query") {
				t.Errorf("%q: %s, want an error about the query", bad, got.text)
			}
		}
	})
}

// TestUnconfirmedControls checks that a rule lists its unconfirmed controls: those that were
// assigned by the category of the rule, and that no published mapping confirms.
func TestUnconfirmedControls(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0)
		const path = "/v1/rules/gcp-sql-postgresql-version"
		rule := i.want(200, "GET", path, nil)
		controls, _ := rule.body["complianceControlIds"].([]any)
		unconfirmed, _ := rule.body["unconfirmedControlIds"].([]any)
		if !slices.Contains(unconfirmed, any("nist-csf-2.0_PR.PS-02")) {
			t.Errorf("unconfirmed are %v", unconfirmed)
		}
		for _, id := range unconfirmed {
			if !slices.Contains(controls, id) {
				t.Errorf("%v is unconfirmed but not a control of the rule", id)
			}
		}
		if got := i.want(400, "PATCH", path, object{"unconfirmedControlIds": []string{}}); !strings.Contains(got.text, "unconfirmedControlIds") {
			t.Errorf("a change of what is unconfirmed: %s", got.text)
		}
	})
}

func TestRuleHistory(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0)
		// versions returns "<by> <level>" of each version, newest first.
		versions := func(id string) []string {
			var all []string
			for _, v := range results(i.want(200, "GET", "/v1/rules/"+id+"/history", nil)) {
				all = append(all, v["by"].(string)+" "+v["rule"].(object)["level"].(string))
			}
			return all
		}
		created := i.want(201, "POST", "/v1/rules", object{
			"name": "Mine", "displayName": "mine", "provider": "aws", "level": "Low", "query": graphQuery("g.V().hasLabel('AWS.EC2.Vpc')"),
		})
		for _, id := range []string{created.member("id"), "aws-iam-root-mfa"} {
			old := i.want(200, "GET", "/v1/rules/"+id, nil)
			oldLevel := old.member("level")
			next := map[string]string{"High": "Med", "Med": "Low", "Low": "High"}[oldLevel]
			before := versions(id)
			changed := i.want(200, "PATCH", "/v1/rules/"+id, object{"level": next}, "If-Match", old.header.Get("ETag"))
			i.want(412, "PATCH", "/v1/rules/"+id, object{"level": oldLevel}, "If-Match", old.header.Get("ETag"))
			i.want(200, "PATCH", "/v1/rules/"+id, object{"level": oldLevel}, "If-Match", changed.header.Get("ETag"))
			got := versions(id)
			// A leading space would mean that nobody is named as the author.
			if len(got) != 3 || !strings.HasSuffix(got[0], " "+oldLevel) || !strings.HasSuffix(got[1], " "+next) || strings.HasPrefix(got[0], " ") || len(before) != 1 || got[len(got)-1] != before[0] {
				t.Errorf("%s: versions %q after %q", id, got, before)
			}
		}
		i.want(404, "GET", "/v1/rules/none/history", nil)
	})
}

// TestRuleParameters sets a parameter of a native rule, and adds a rule with a parameter.
func TestRuleParameters(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0, aws.New(aws.Options{}))
		account := entitygen.New(0, 0)
		i.collect(account)
		i.record(collect.Scoped{Org: i.org, Account: account.ID, Type: "AWS.Logs.LogGroup", Region: "eu-west-1"}, logGroup(account.ID))
		const path, text = "/v1/rules/aws-logs-retention", "g.V().hasLabel('AWS.Logs.LogGroup').has('retentionInDays', lt(days))"
		rule := i.want(200, "GET", path, nil)
		if rule.body["name"] != "Log group keeps events for less than 365 days" || rule.body["parameterValues"].(object)["days"] != 365.0 {
			t.Errorf("before: %s", rule.text)
		}
		for _, bad := range []struct {
			values  any
			message string
		}{
			{object{"days": 0}, "parameterValues.days"}, {object{"days": "90"}, "parameterValues.days"}, {object{"hours": 1}, "parameterValues.hours"},
			{object{"days": []int{1}}, "parameterValues.days"}, {[]int{1}, "parameterValues"},
		} {
			if got := i.want(400, "PATCH", path, object{"parameterValues": bad.values}, "If-Match", rule.header.Get("ETag")); !strings.Contains(got.text, bad.message) {
				t.Errorf("%v: %s, want an error about %s", bad.values, got.text, bad.message)
			}
		}
		try := object{"query": text, "partitionKey": account.ID, "ruleId": "aws-logs-retention"}
		if got := i.want(200, "POST", "/v1/rules/test", try); got.body["violating"] != 1.0 {
			t.Errorf("365 days: %s", got.text)
		}
		try["parameterValues"] = object{"days": 90}
		if got := i.want(200, "POST", "/v1/rules/test", try); got.body["violating"] != 0.0 || got.body["passing"] != 1.0 {
			t.Errorf("90 days: %s", got.text)
		}
		changed := i.want(200, "PATCH", path, object{"parameterValues": object{"days": 400}}, "If-Match", rule.header.Get("ETag"))
		if changed.body["name"] != "Log group keeps events for less than 400 days" || changed.body["parameterValues"].(object)["days"] != 400.0 {
			t.Errorf("after: %s", changed.text)
		}
		changed = i.want(200, "PATCH", path, object{"parameterValues": object{"days": nil}}, "If-Match", changed.header.Get("ETag"))
		if changed.body["parameterValues"].(object)["days"] != 365.0 {
			t.Errorf("back to the default: %s", changed.text)
		}
		i.want(400, "PATCH", path, object{"parameters": []any{}}, "If-Match", changed.header.Get("ETag")) // only their values can be changed

		customRule := object{"name": "Below {days}", "displayName": "own", "provider": "aws", "level": "Low", "query": graphQuery(text)}
		if got := i.want(400, "POST", "/v1/rules", customRule); !strings.Contains(got.text, "variable days") {
			t.Errorf("a variable without a parameter: %s", got.text)
		}
		customRule["parameters"] = []object{{"name": "days", "type": "integer", "default": 10, "minimum": 1, "description": "Days."}}
		customRule["parameterValues"] = object{"days": 20}
		created := i.want(201, "POST", "/v1/rules", customRule)
		if created.body["name"] != "Below 20" {
			t.Errorf("an own rule: %s", created.text)
		}
		described := i.want(200, "PUT", "/v1/rules/"+created.body["id"].(string), object{"description": "Below {days}"}, "If-Match", created.header.Get("ETag"))
		second := i.want(200, "PATCH", "/v1/rules/"+created.body["id"].(string), object{"parameterValues": object{"days": 30}}, "If-Match", described.header.Get("ETag"))
		if second.body["name"] != "Below 30" || second.body["description"] != "Below 30" {
			t.Errorf("an own rule with another value: %s", second.text)
		}
		deleted := i.want(200, "DELETE", "/v1/rules/"+created.body["id"].(string), nil, "If-Match", second.header.Get("ETag"))
		if deleted.body["name"] != "Below 30" {
			t.Errorf("an own rule that was deleted: %s", deleted.text)
		}
	})
}

// TestChangedParameterIsEvaluated changes a parameter of a native rule, after which the rule
// must be evaluated again.
func TestChangedParameterIsEvaluated(t *testing.T) {
	t.Parallel()
	source := aws.New(aws.Options{})
	i := newInventory(t, dbtest.SQLite(t), 0, 0, source)
	account := entitygen.New(0, 0)
	i.collect(account)
	i.record(collect.Scoped{Org: i.org, Account: account.ID, Type: "AWS.Logs.LogGroup", Region: "eu-west-1"}, logGroup(account.ID))
	i.startAnother(func(o *app.Options) { o.Sources = []collect.Source{source} })
	const path = "/v1/rules/aws-logs-retention"
	etag := i.want(200, "GET", path, nil).header.Get("ETag")
	for _, tt := range []struct{ days, open float64 }{{400, 1}, {90, 0}, {101, 1}} { // the log group keeps events for 100 days
		changed := i.want(200, "PATCH", path, object{"parameterValues": object{"days": tt.days}}, "If-Match", etag)
		etag = changed.header.Get("ETag")
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			found := i.want(200, "POST", findings, object{"filters": object{"ruleIds": []string{"aws-logs-retention"}, "status": []string{"Open"}}})
			if found.body["totalCount"] == tt.open {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v days: %v open findings after five minutes, want %v", tt.days, found.body["totalCount"], tt.open)
			}
		}
	}
}

// logGroup returns a log group that keeps events for 100 days.
func logGroup(account posture.AccountID) posture.Entity {
	kind := posture.EntityType("AWS.Logs.LogGroup")
	return posture.Entity{
		ID: kind.ID(account, "eu-west-1", "app"), Type: kind, Name: "app", XID: "app", Account: account, Provider: posture.AWS,
		Region: "eu-west-1", Service: "Logs", Properties: []posture.Property{posture.Number("retentionInDays", 100)},
	}
}

func TestCustomFrameworks(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0)
		const path = "/v1/compliance-frameworks/house"
		body := object{"name": "House rules", "controls": []object{{"controlId": "1.1", "title": "No default networks"}, {"controlId": "1.2", "title": "Nothing else"}}}
		i.want(400, "PUT", path, object{"name": "x", "controls": []object{{"controlId": "1", "title": "a"}, {"controlId": "1", "title": "b"}}})
		i.want(409, "PUT", "/v1/compliance-frameworks/cis-aws-3.0", body)
		// The filter of "house" would match the controls of "house_v2".
		if got := i.want(400, "PUT", path+"_v2", body); !strings.Contains(got.text, "must not contain _") {
			t.Errorf("framework with _: %s", got.text)
		}
		if got := i.want(200, "PUT", path, body); got.body["custom"] != true {
			t.Errorf("put %s", got.text)
		}
		rule := object{
			"name": "Mine", "displayName": "mine", "provider": "aws", "level": "Low", "query": graphQuery("g.V().hasLabel('AWS.EC2.Vpc')"),
			"complianceControlIds": []string{"house_1.1"},
		}
		id := i.want(201, "POST", "/v1/rules", rule).member("id")
		rule["complianceControlIds"] = []string{"house_9.9"}
		i.want(400, "POST", "/v1/rules", rule)
		controls := results(i.want(200, "GET", path+"/controls", nil))
		if len(controls) != 2 || len(controls[0]["ruleIds"].([]any)) != 1 || controls[0]["ruleIds"].([]any)[0] != id || len(controls[1]["ruleIds"].([]any)) != 0 {
			t.Errorf("controls %v", controls)
		}
		found := i.want(200, "POST", "/v1/rules/query", object{"filters": object{"complianceFrameworkIds": []string{"house"}}})
		if found.body["totalCount"] != 1.0 {
			t.Errorf("rules of the framework: %s", found.text)
		}
		if p := results(i.want(200, "POST", path+"/posture", nil)); len(p) != 2 {
			t.Errorf("posture %v", p)
		}
		i.want(200, "DELETE", path, nil)
		i.want(404, "GET", path, nil)
	})
}
