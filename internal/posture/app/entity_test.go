package app_test

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
	"vigil/internal/posture/store"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// An inventory is a server whose organisation has generated entities.
type inventory struct {
	*client
	test    *testing.T
	install *instance.Installation
	org     posture.OrgID
	store   *store.Store
	all     []posture.Entity // that were recorded
}

// newInventory starts a server without job workers, with generated accounts and a number of
// entities in each.
func newInventory(t *testing.T, dsn string, accounts, entities int, sources ...collect.Source) *inventory {
	t.Helper()
	a, in := newApp(t, dsn, new(memcloud.Cloud), sources...)
	c, org, _ := newOrg(t, in, serve(t, a), "org")
	i := &inventory{client: c, test: t, install: in, org: posture.OrgID(org.ID), store: store.New(in.DB, in.Box, nil)}
	for n := range accounts {
		i.collect(entitygen.New(n, entities))
	}
	return i
}

// collect onboards a generated account and records its entities.
func (i *inventory) collect(a entitygen.Account) {
	i.t.Helper()
	property := map[posture.Provider]string{posture.AWS: "accountId", posture.Azure: "subscriptionId", posture.GCP: "projectId"}[a.Provider]
	i.want(201, "POST", "/v1/providers/"+string(a.Provider)+"/cloud-accounts", object{
		"cloudAccountName": "made up", "properties": []object{textProperty(property, string(a.ID))},
	})
	for _, u := range a.Units() {
		i.record(collect.Scoped{Org: i.org, Account: a.ID, Type: u.Type, Region: u.Region}, slices.Collect(u.Each)...)
	}
}

// record stores entities as the complete contents of a scope.
func (i *inventory) record(scope collect.Scoped, es ...posture.Entity) {
	i.t.Helper()
	r, err := i.store.Begin(i.t.Context(), scope)
	if err != nil {
		i.t.Fatal(err)
	}
	for _, e := range es {
		if err := r.Put(i.t.Context(), e); err != nil {
			i.t.Fatal(err)
		}
	}
	if err := r.Commit(i.t.Context(), true); err != nil {
		i.t.Fatal(err)
	}
	i.all = append(i.all, es...)
}

const entities = "/v1/entities"

func (i *inventory) find(filters object, size int, token string) answer {
	i.t.Helper()
	return i.want(200, "POST", entities+"/query", object{"filters": filters, "paginationInfo": object{"pageSize": size, "continuationToken": token}})
}

func results(a answer) []object {
	all := []object{}
	list, _ := a.body["results"].([]any)
	for _, each := range list {
		all = append(all, each.(object))
	}
	return all
}

func entityPath(id string) string { return entities + "/" + url.PathEscape(id) }

func TestEntitiesOverHTTP(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 5, 60)

		first := i.want(200, "POST", entities+"/query", nil)
		// The default page size is 100.
		if n, total := len(results(first)), first.body["totalCount"]; n != 100 || total != float64(len(i.all)) {
			t.Errorf("%d results of %v, want 100 of %d", n, total, len(i.all))
		}
		seen := map[string]bool{}
		for token := ""; ; {
			page := i.find(object{}, 37, token)
			for _, e := range results(page) {
				seen[e["entityId"].(string)] = true
			}
			token = page.member("continuationToken")
			if token == "" {
				break
			}
		}
		if len(seen) != len(i.all) {
			t.Errorf("pages have %d entities, want %d", len(seen), len(i.all))
		}
		token := i.find(object{}, 5, "").member("continuationToken")
		second := i.find(object{}, 5, token)
		other := i.find(object{"regions": []string{"x"}, "query": "region = x"}, 5, token)
		if !reflect.DeepEqual(results(other), results(second)) || other.body["totalCount"] != second.body["totalCount"] {
			t.Errorf("a page token with another query uses the new query: %.200s", other.text)
		}
		i.want(400, "POST", "/v1/cloud-accounts/query", object{"paginationInfo": object{"continuationToken": token}})

		if got := i.find(object{"query": " \t"}, 1, "").body["totalCount"]; got != float64(len(i.all)) {
			t.Errorf("a query of only spaces finds %v", got)
		}
		for _, e := range results(first)[:10] {
			id := e["entityId"].(string)
			if got := i.want(200, "GET", entityPath(id), nil); !reflect.DeepEqual(got.body, e) {
				t.Errorf("GET of %s differs from the query result:\n%v\n%v", id, got.body, e)
			}
			log, _ := i.want(200, "GET", entityPath(id)+"/changelog", nil).body["changeLog"].([]any)
			if len(log) != 1 || !strings.Contains(fmt.Sprint(log[0]), "ADD") {
				t.Errorf("change log %v", log)
			}
		}
		i.want(404, "GET", entityPath("AWS.S3.000000000000.global.Bucket.none"), nil)
		i.want(404, "GET", entityPath("AWS.S3.000000000000.global.Bucket.none")+"/changelog", nil)
		if got := i.want(400, "POST", entities+"/query", object{"filters": object{"query": "noSuchField = 1"}}); !strings.Contains(got.text, "noSuchField") || !strings.Contains(got.text, "column 1") {
			t.Errorf("the error is %s", got.text)
		}
	})
}

func TestEntityIDsWithSpecialCharacters(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 1, 10)
	account := entitygen.New(0, 0).ID
	var es []posture.Entity
	for n, name := range []string{"a/b/c", "x.y.z", "with space", "100%", "ümläut/日本", "a?b#c&d", "..", "%2F", "schema"} {
		e := collect.NewResource("AWS.Test.Thing", account, "", name).Text("n", fmt.Sprint(n)).Entity
		es = append(es, e)
	}
	i.record(collect.Scoped{Org: i.org, Account: account, Type: "AWS.Test.Thing", Region: posture.Global}, es...)
	for _, e := range es {
		got := i.want(200, "GET", entityPath(string(e.ID)), nil)
		if got.member("entityId") != string(e.ID) || got.member("entityName") != e.Name {
			t.Errorf("%s: got %s", e.ID, got.text)
		}
		i.want(200, "GET", entityPath(string(e.ID))+"/changelog", nil)
	}
}

func TestChangeFeedOverHTTP(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 1, 10)
	account := entitygen.New(0, 0).ID
	scope := collect.Scoped{Org: i.org, Account: account, Type: "AWS.Test.Thing", Region: posture.Global}
	thing := func(name, value string) posture.Entity {
		return collect.NewResource(scope.Type, account, "", name).Text("a", value).Entity
	}
	const feed = "/v1/entities/changes-query"
	i.record(scope, thing("t", "1"))
	if got := i.want(200, "POST", feed, nil); len(results(got)) != 0 {
		t.Fatalf("the first collection of a type is reported as a change: %s", got.text)
	}
	i.record(scope, thing("t", "2"), thing("u", "1"))
	first := i.want(200, "POST", feed, object{"countBy": "Hour", "paginationInfo": object{"pageSize": 1}})
	second := i.want(200, "POST", feed, object{"paginationInfo": object{"pageSize": 1, "continuationToken": first.member("continuationToken")}})
	if len(results(first)) != 1 || len(results(second)) != 1 || second.body["continuationToken"] != nil {
		t.Fatalf("pages %s, %s", first.text, second.text)
	}
	updated := results(second)[0]
	if updated["entityName"] != "t" {
		updated = results(first)[0]
	}
	delete(updated, "lastUpdateTime")
	want := object{
		"changeType": "UPDATE", "cause": "Collection", "entityId": string(thing("t", "").ID), "entityName": "t", "entityType": "AWS.Test.Thing",
		"cloudAccountId": string(account), "region": posture.Global,
		"propertyChanges": object{"a": object{"changeType": "UPDATE", "oldValue": "1", "newValue": "2"}},
	}
	if !reflect.DeepEqual(updated, want) {
		t.Errorf("got %v, want %v", updated, want)
	}
	counts, _ := first.body["counts"].([]any)
	if len(counts) != 1 || fmt.Sprint(counts[0].(object)["added"], counts[0].(object)["updated"], counts[0].(object)["deleted"]) != "1 1 0" {
		t.Errorf("counts %v", counts)
	}
	origin := posture.ChangeOrigin{Actor: "arn:aws:iam::123456789012:user/alice", Operation: "ModifyThing"}
	if err := i.store.Replace(t.Context(), posture.Scope(scope), origin, []posture.Entity{thing("t", "3")}, nil); err != nil {
		t.Fatal(err)
	}
	newest := results(i.want(200, "POST", feed, object{"paginationInfo": object{"pageSize": 1}}))
	logged := i.want(200, "GET", entityPath(string(thing("t", "").ID))+"/changelog", nil).body["changeLog"].([]any)
	for name, got := range map[string]object{"feed": newest[0], "change log": logged[0].(object)} {
		if got["cause"] != "Event" || got["actor"] != origin.Actor || got["operation"] != origin.Operation {
			t.Errorf("the newest change of the %s is %v", name, got)
		}
	}
	for _, filters := range []object{{"entityTypes": []string{"AWS.EC2.Instance"}}, {"cloudAccountIds": []string{"none"}}, {"to": "2020-01-01T00:00:00Z"}, {"from": "2100-01-01T00:00:00Z"}} {
		if got := i.want(200, "POST", feed, object{"filters": filters}); len(results(got)) != 0 {
			t.Errorf("changes with the filters %v: %s, want none", filters, got.text)
		}
	}
	for _, bad := range []object{{"countBy": "Week"}, {"filters": object{"from": "yesterday"}}, {"paginationInfo": object{"continuationToken": "x"}}} {
		i.want(400, "POST", feed, bad)
	}
}

func TestChangeLogOverHTTP(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 1, 10)
	account := entitygen.New(0, 0).ID
	scope := collect.Scoped{Org: i.org, Account: account, Type: "AWS.Test.Thing", Region: posture.Global}
	thing := func() *collect.Resource { return collect.NewResource(scope.Type, account, "", "t") }
	i.record(scope, thing().Text("a", "1").Flag("b", false).Texts("l", "x", "y").Number("n", 0).Tag("t", "old").Entity)
	i.record(scope, thing().Text("a", "").Flag("b", true).Texts("l", "x").Number("n", 0).Tag("t", "new").Edge("TO", "AWS.Test.x.global.Thing.u").Unread(collect.ErrDenied, "u").Entity)
	got := i.want(200, "GET", entityPath(string(thing().ID))+"/changelog", nil).body["changeLog"].([]any)
	newest := got[0].(object)
	delete(newest, "lastUpdateTime")
	// An empty text is no property, and a list of one text is the same as a text.
	want := object{
		"cause": "Collection",
		"propertyChanges": object{
			"a": object{"changeType": "DELETE", "oldValue": "1"},
			"b": object{"changeType": "UPDATE", "oldValue": false, "newValue": true},
			"l": object{"changeType": "UPDATE", "oldValue": []any{"x", "y"}, "newValue": "x"},
			"u": object{"changeType": "ADD", "newValue": object{"type": "unknown", "error": "access denied"}},
		},
		"tagChanges":  object{"t": object{"changeType": "UPDATE", "oldValue": "old", "newValue": "new"}},
		"edgeChanges": []any{object{"changeType": "ADD", "label": "TO", "to": "AWS.Test.x.global.Thing.u"}},
	}
	if len(got) != 2 || !reflect.DeepEqual(newest, want) {
		t.Errorf("log %v\nwant %v", got, want)
	}
	e := i.want(200, "GET", entityPath(string(thing().ID)), nil).body["properties"].([]any)
	if !reflect.DeepEqual(e[len(e)-1], object{"name": "u", "type": "unknown", "error": "access denied"}) {
		t.Errorf("an unknown property is %v", e[len(e)-1])
	}
}

func TestAggregationsOverHTTP(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 5, 60)
	terms := func(field string) object { return object{"fieldName": field, "aggregationType": "Terms"} }
	nested := terms("Provider") // names of fields ignore case
	nested["subAggregations"] = object{"t": terms("entityType")}
	got := i.want(200, "POST", entities+"/aggregations-query", object{"aggregations": object{"p": nested, "env": terms("tag.ENV"), "e": terms("property.encrypted")}})
	p := got.body["aggregations"].(object)["p"].(object)
	sum := 0.0
	for _, b := range p["buckets"].(object) {
		inner := 0.0
		for _, t := range b.(object)["subAggregations"].(object)["t"].(object)["buckets"].(object) {
			inner += t.(object)["count"].(float64)
		}
		if inner != b.(object)["count"] {
			t.Errorf("inner counts add up to %v of %v", inner, b)
		}
		sum += inner
	}
	if sum != float64(len(i.all)) || p["bucketCount"] != 3.0 || got.body["totalCount"] != sum {
		t.Errorf("counted %v of %d: %v", sum, len(i.all), got.text)
	}
	for member, want := range map[string]string{
		"fieldName": "aggregations.a.fieldName", "aggregationType": "aggregations.a.aggregationType",
	} {
		a := terms("region")
		delete(a, member)
		if got := i.want(400, "POST", entities+"/aggregations-query", object{"aggregations": object{"a": a}}); !strings.Contains(got.text, want) {
			t.Errorf("without %s: %s", member, got.text)
		}
	}
	deep := terms("region")
	for range posture.MaxAggregationDepth {
		deep = object{"fieldName": "region", "aggregationType": "Terms", "subAggregations": object{"x": deep}}
	}
	tooMany := object{}
	for n := range posture.MaxAggregations + 1 {
		tooMany[fmt.Sprint(n)] = terms("region")
	}
	wide := terms("provider")
	wide["subAggregations"] = tooMany
	for _, page := range []object{{"pageSize": 0}, {"pageSize": posture.MaxPage + 1}, {"continuationToken": "made up"}} {
		i.want(400, "POST", entities+"/aggregations-query", object{"aggregations": object{"a": terms("region")}, "paginationInfo": page})
	}
	i.want(200, "POST", entities+"/aggregations-query", object{"aggregations": object{"a": terms("region")}, "paginationInfo": object{"pageSize": 1000}})
	for _, bad := range []object{deep, wide, terms("noSuchField"), {"fieldName": "region", "aggregationType": "Median"}, {"fieldName": "region", "aggregationType": "Terms", "termsCount": 0}} {
		i.want(400, "POST", entities+"/aggregations-query", object{"aggregations": object{"a": bad}})
	}
}

func TestGraphQueriesOverHTTP(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 1, 200)
		account := entitygen.New(0, 0).ID
		query := func(text string) object {
			t.Helper()
			got := i.want(200, "POST", entities+"/graph-query", object{"gremlin": text, "partitionKey": account})
			if got.header.Get("X-Query-Cost") == "" {
				t.Error("the response has no cost")
			}
			return got.body
		}
		if v := query("g.V().count()")["values"]; !reflect.DeepEqual(v, []any{float64(len(i.all))}) {
			t.Errorf("count is %v, want %d", v, len(i.all))
		}
		got := query("g.V().limit(3)")
		if n := len(got["tree"].(object)["nodes"].([]any)); n != 3 || got["count"] != 3.0 || len(got["entities"].(object)) != 3 {
			t.Errorf("three vertices: %v", got)
		}
		for id, e := range got["entities"].(object) {
			if entity := i.want(200, "GET", entityPath(id), nil); !reflect.DeepEqual(entity.body, e) {
				t.Errorf("the entity of the graph is %v, that of GET %v", e, entity.body)
			}
		}
		for _, node := range query("g.V().out().path().limit(5)")["tree"].(object)["nodes"].([]any) {
			if len(node.(object)["childNodes"].([]any)) == 0 {
				t.Errorf("a path without a second vertex: %v", node)
			}
		}
		explained := i.want(200, "POST", entities+"/graph-query", object{"gremlin": "g.V().has('tag.env','prod').out('USES')", "partitionKey": account, "explain": true}).body
		if explained["explain"] == nil || explained["cost"] == nil {
			t.Errorf("no explanation: %v", explained)
		}

		// Queries see a change immediately.
		entity := i.all[0]
		if err := i.store.Replace(t.Context(), posture.Scope{Org: i.org, Account: account, Type: entity.Type, Region: entity.Region}, posture.ChangeOrigin{}, nil, []posture.EntityID{entity.ID}); err != nil {
			t.Fatal(err)
		}
		if v := query("g.V().count()")["values"]; !reflect.DeepEqual(v, []any{float64(len(i.all) - 1)}) {
			t.Errorf("count is %v after a removal, want %d", v, len(i.all)-1)
		}

		for text, want := range map[string]string{
			"g.V().drop()": "not read only", "g.V().has(": "line 1, column 11", "g.addV('x')": "not read only",
			"g.V().repeat(__.identity()).until(__.hasId('never')).count()": "budget",
			// The number of paths grows with each loop, and exceeds 64 bits before the budget is spent.
			"g.V().repeat(__.both()).until(__.hasId('never')).count()": "long overflow",
		} {
			if got := i.want(400, "POST", entities+"/graph-query", object{"gremlin": text, "partitionKey": account}); !strings.Contains(got.text, want) {
				t.Errorf("%s: %s, want %q", text, got.text, want)
			}
		}
		i.want(404, "POST", entities+"/graph-query", object{"gremlin": "g.V()", "partitionKey": "000000000000"})
		for _, member := range []string{"gremlin", "partitionKey"} {
			body := object{"gremlin": "g.V()", "partitionKey": account}
			delete(body, member)
			if got := i.want(400, "POST", entities+"/graph-query", body); !strings.Contains(got.text, member) {
				t.Errorf("without %s: %s", member, got.text)
			}
		}
	})
}

// TestEntitiesOfAnotherOrganisation queries as two organisations that have onboarded
// the same account.
func TestEntitiesOfAnotherOrganisation(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		orgs := make([]*inventory, 2)
		for n := range orgs {
			orgs[n] = inventoryOf(t, in, base, fmt.Sprint("org ", n))
		}
		orgs[0].collect(entitygen.New(0, 50))
		id := string(orgs[0].all[0].ID)
		orgs[0].want(200, "GET", entityPath(id), nil)
		orgs[1].want(404, "GET", entityPath(id), nil)
		orgs[1].want(404, "GET", entityPath(id)+"/changelog", nil)
		orgs[1].want(404, "POST", entities+"/graph-query", object{"gremlin": "g.V()", "partitionKey": entitygen.New(0, 0).ID})
		// The query matches every entity of the organisation that asks.
		if got := orgs[1].find(object{"query": "NOT tag.none = x"}, 10, ""); got.body["totalCount"] != 0.0 {
			t.Errorf("another organisation sees %v", got.text)
		}
		orgs[1].collect(entitygen.New(0, 20))
		if got := orgs[1].find(object{}, 1, ""); got.body["totalCount"] != float64(len(orgs[1].all)) {
			t.Errorf("total %v, want %d", got.body["totalCount"], len(orgs[1].all))
		}
		if got := orgs[0].find(object{}, 1, ""); got.body["totalCount"] != float64(len(orgs[0].all)) {
			t.Errorf("total %v, want %d", got.body["totalCount"], len(orgs[0].all))
		}
	})
}

// inventoryOf adds an organisation without accounts to a running server.
func inventoryOf(t *testing.T, in *instance.Installation, base, name string) *inventory {
	t.Helper()
	c, org, _ := newOrg(t, in, base, name)
	return &inventory{client: c, org: posture.OrgID(org.ID), store: store.New(in.DB, in.Box, nil)}
}
