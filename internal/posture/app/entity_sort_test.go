package app_test

import (
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
	"vigil/internal/sqldb/dbtest"
)

func TestEntitiesAreFoundByPartsOfNamesAndSorted(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 1, 10)
	account := entitygen.New(0, 0).ID
	var es []posture.Entity
	for _, thing := range []struct {
		name string
		size int64
	}{{"prod-web-server-2", 0}, {"ProdDbServer", -2}, {"staging-web", -2}, {"prod-web-server-10", 0}} {
		es = append(es, collect.NewResource("AWS.Test.Thing", account, "", thing.name).Number("size", thing.size).Entity)
	}
	i.record(collect.Scoped{Org: i.org, Account: account, Type: "AWS.Test.Thing", Region: posture.Global}, es...)
	// names returns the names of all pages, sorted if the query has no order.
	names := func(filters, sort object) string {
		var all []string
		for token := ""; ; {
			body := object{"filters": filters, "paginationInfo": object{"pageSize": 3, "continuationToken": token}}
			if sort != nil {
				body["sorts"] = []object{sort}
			}
			page := i.want(200, "POST", entities+"/query", body)
			for _, e := range results(page) {
				all = append(all, e["entityName"].(string))
			}
			if token = page.member("continuationToken"); token == "" {
				if sort == nil {
					slices.Sort(all)
				}
				return strings.Join(all, " ")
			}
		}
	}
	for search, want := range map[string]string{
		"serv prod": "ProdDbServer prod-web-server-10 prod-web-server-2",
		"WEB":       "prod-web-server-10 prod-web-server-2 staging-web",
		"web-2":     "prod-web-server-2",
		"erver":     "", // it begins no word
	} {
		if got := names(object{"nameSearch": search, "entityTypes": []string{"AWS.Test.Thing"}}, nil); got != want {
			t.Errorf("%q finds %q, want %q", search, got, want)
		}
	}
	things := object{"entityTypes": []string{"AWS.Test.Thing"}}
	// Entities with equal values, or without one, are in the order in which they were stored.
	for _, c := range []struct{ field, order, want string }{
		{"entityName", "asc", "prod-web-server-10 prod-web-server-2 ProdDbServer staging-web"},
		{"entityName", "desc", "staging-web ProdDbServer prod-web-server-2 prod-web-server-10"},
		{"property.size", "asc", "ProdDbServer staging-web prod-web-server-2 prod-web-server-10"},
		{"property.none", "asc", "prod-web-server-2 ProdDbServer staging-web prod-web-server-10"},
		{"lastUpdateTime", "asc", "prod-web-server-2 ProdDbServer staging-web prod-web-server-10"},
	} {
		if got := names(things, object{"fieldName": c.field, "order": c.order}); got != c.want {
			t.Errorf("sorted by %s %s: %q, want %q", c.field, c.order, got, c.want)
		}
	}
	for path, body := range map[string]object{ // the path of the invalid member
		"filters.nameSearch": {"filters": object{"nameSearch": "--"}},
		"sorts":              {"sorts": []object{{"fieldName": "entityName"}, {"fieldName": "region"}}},
		"sorts[0].fieldName": {"sorts": []object{{"fieldName": "findings"}}},
		"sorts[0].order":     {"sorts": []object{{"fieldName": "region", "order": "up"}}},
		"entityIds":          {"sorts": []object{{"fieldName": "region"}}, "filters": object{"entityIds": []string{"x"}}},
	} {
		if got := i.want(400, "POST", entities+"/query", body); !strings.Contains(got.text, path) {
			t.Errorf("the response for an invalid %s is %s", path, got.text)
		}
	}
	many := strings.Repeat("a ", posture.MaxNameWords+1)
	i.want(400, "POST", entities+"/aggregations-query", object{"filters": object{"nameSearch": many}})
	if got := i.want(400, "POST", entities+"/aggregations-query", object{"filters": object{"entityIds": []string{"x"}}}); !strings.Contains(got.text, "filters.entityIds") {
		t.Errorf("aggregations of entities by id: %s", got.text)
	}
}
