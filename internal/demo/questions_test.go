package demo

import (
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/onboard"
	"vigil/internal/posture/scan"
)

// accountGraph collects an account of the demo and returns the graph of its resources.
func accountGraph(t *testing.T, source collect.Source, set onboard.Changes) *graph.Graph {
	t.Helper()
	given := set.Credentials[0].Properties
	access := posture.Access{
		Org: "org", Account: posture.Account{ID: set.Links[0].Account, Provider: set.Provider},
		Credential: posture.Credential{Provider: set.Provider, Properties: given}, Secrets: posture.Secrets{},
	}
	for _, p := range given {
		if p.Name == posture.PropApplicationKey || p.Name == posture.PropServiceAccountKey {
			access.Secrets[p.Name] = p.String
		}
	}
	b := graph.NewBuilder(graph.Limits{})
	_, err := scan.Run(t.Context(), scan.Options{
		Source: source, Access: access, AllTypes: true, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Rules: []posture.Rule{{ // a scan needs a rule; this one finds nothing
			ID: "none", Provider: set.Provider, Status: posture.RuleEnabled, Level: posture.Low,
			Query: posture.RuleQuery{Language: posture.GraphQuery, Text: "g.V().hasLabel('none')"},
		}},
		Each: func(e posture.Entity) error { return b.Add(graphcache.Record(&e)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestQuestionsHaveAnswersInTheDemo runs every query that Explore offers on one account
// of each cloud. Each must have a result in one of them.
func TestQuestionsHaveAnswersInTheDemo(t *testing.T) {
	t.Parallel()
	var questions []struct{ Text, Gremlin string }
	text, err := os.ReadFile("../../web/src/posture/explore/questions.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &questions); err != nil {
		t.Fatal(err)
	}
	if len(questions) < 30 {
		t.Errorf("%d questions, want at least 30", len(questions))
	}
	w, err := newWorld(slog.New(slog.DiscardHandler), prometheus.NewRegistry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	var graphs []*graph.Graph
	for _, s := range w.clouds.Sources() {
		i := slices.IndexFunc(w.sets, func(set onboard.Changes) bool { return set.Provider == s.Provider() })
		graphs = append(graphs, accountGraph(t, s, w.sets[i]))
	}
	for _, q := range questions {
		plan, err := gremlin.Compile(q.Gremlin, gremlin.CompileOptions{})
		if err != nil {
			t.Errorf("%s: %v", q.Text, err)
			continue
		}
		results := 0
		for _, g := range graphs {
			result, err := plan.Run(t.Context(), g, gremlin.RunOptions{})
			if err != nil {
				t.Errorf("%s: %v", q.Text, err)
				continue
			}
			for range result.Values() {
				results++
			}
		}
		if results == 0 {
			t.Errorf("%s: no account of the demo has a result", q.Text)
		}
	}
}
