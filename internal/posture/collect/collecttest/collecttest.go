// Package collecttest reads whole accounts, and compares what collectors read with what
// rules need: the rules of the product, and the list of built-in checks.
package collecttest

import (
	"encoding/json"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
	"vigil/rules"
)

// A Query is the query of a rule.
type Query struct {
	Text         string
	Params       map[string]graph.Value // the default values of its parameters
	EndOfSupport map[string]string      // last day of support by version, from the table of the rule; nil if it has none
}

// Queries returns the queries of the product's rules for a cloud by rule id.
func Queries(t testing.TB, cloud string) map[string]Query {
	t.Helper()
	queries := map[string]Query{}
	files, err := fs.Glob(rules.Files, cloud+"/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(rules.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		var rule struct {
			ID, Query, Table string
			Parameters       []struct {
				Name    string
				Default any
			}
		}
		if err := yaml.Unmarshal(text, &rule); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rule.ID != "" { // otherwise the file declares settings rules, whose queries are generated
			q := Query{Text: rule.Query, Params: map[string]graph.Value{}}
			for _, p := range rule.Parameters {
				q.Params[p.Name] = valueOf(p.Default)
			}
			if rule.Table != "" {
				q.EndOfSupport = endOfSupport(t, rule.Table)
			}
			queries[rule.ID] = q
		}
	}
	if len(queries) == 0 {
		t.Fatalf("the product has no rules for %s", cloud)
	}
	return queries
}

// endOfSupport returns the last days of support of the versions in a table of the product.
func endOfSupport(t testing.TB, table string) map[string]string {
	t.Helper()
	text, err := fs.ReadFile(rules.Files, "tables/"+table+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Versions []struct {
			Version      string
			EndOfSupport string `yaml:"endOfSupport"`
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatalf("table %s: %v", table, err)
	}
	all := map[string]string{}
	for _, row := range file.Versions {
		all[row.Version] = row.EndOfSupport
	}
	return all
}

// variables returns the values of the query's variables on a day.
func (q Query) variables(today time.Time) map[string]graph.Value {
	all := maps.Clone(q.Params)
	if q.EndOfSupport != nil {
		ended, supported := posture.Binding{EndOfSupport: q.EndOfSupport}.Versions(today)
		all[posture.EndedVariable], all[posture.SupportedVariable] = textList(ended), textList(supported)
	}
	return all
}

func textList(texts []string) graph.Value {
	items := make([]graph.Value, len(texts))
	for i, text := range texts {
		items[i] = graph.String(text)
	}
	return graph.List(items...)
}

// valueOf converts the default of a parameter, which is an integer, a string or a
// list of these.
func valueOf(v any) graph.Value {
	switch v := v.(type) {
	case int:
		return graph.Long(int64(v))
	case string:
		return graph.String(v)
	case []any:
		items := make([]graph.Value, len(v))
		for i, item := range v {
			items[i] = valueOf(item)
		}
		return graph.List(items...)
	}
	return graph.Null
}

// Findings yields the entities that queries find in an account on a day, each with the id of
// its rule.
func Findings(t testing.TB, queries map[string]Query, entities iter.Seq[posture.Entity], today time.Time) iter.Seq2[string, posture.EntityID] {
	t.Helper()
	b := graph.NewBuilder(graph.Limits{})
	for e := range entities {
		if err := b.Add(graphcache.Record(&e)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string, posture.EntityID) bool) {
		for id, query := range queries {
			plan, err := gremlin.Compile(query.Text, gremlin.CompileOptions{})
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			result, err := plan.Run(t.Context(), g, gremlin.RunOptions{Budget: gremlin.RuleBudget, Now: today, Params: query.variables(today)})
			if err != nil {
				t.Errorf("%s: %v", id, err)
				continue
			}
			for v := range result.Values() {
				if !yield(id, posture.EntityID(g.VertexID(v.Handle()).Str())) {
					return
				}
			}
		}
	}
}

// A Need is what one check in the list of built-in checks needs.
type Need struct {
	ID            string
	Provider      string
	ResourceType  posture.EntityType
	Properties    []string
	Permissions   []string
	GraphEdges    []string
	EventTriggers []string
}

// Needs reads the list of built-in checks for a cloud from a directory beside the checkout.
// It skips the test when there is none.
func Needs(t testing.TB, cloud string) []Need {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "shared", "rules", "rules.json"))
		if err != nil {
			continue
		}
		var all []Need
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(all, func(n Need) bool { return n.Provider != cloud })
	}
	t.Skip("the list of built-in checks is not beside the checkout")
	return nil
}
