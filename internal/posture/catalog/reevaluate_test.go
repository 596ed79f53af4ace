package catalog_test

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
)

// TestVerdictsAfterChanges changes the entities of each rule's cases step by step. After
// each step the rule is evaluated near the change and on all entities: the verdicts are
// the same. The changes are random, but the same in every run.
func TestVerdictsAfterChanges(t *testing.T) {
	t.Parallel()
	b := sharedBench()
	at := catalog.CaseTime
	e := evaluate.New(b.schema, nil, func() time.Time { return at })
	for _, entry := range product(t).Rules {
		w := newChangingAccount(t, b, entry)
		rules := []posture.Rule{entry.Rule}
		if _, _, err := e.Judge(t.Context(), w.Account, rules); err != nil {
			t.Fatal(err)
		}
		for step := range 8 {
			before := evaluate.Before{Graph: w.Graph, Coverage: w.Coverage, Verdicts: w.Verdicts, At: at}
			changed := w.change(t)
			if _, _, err := e.Reevaluate(t.Context(), w.Account, before, changed, rules); err != nil {
				t.Fatal(err)
			}
			// Without a cache, Try evaluates the rule on all entities. For w.Account, it returns the
			// verdict that Reevaluate put into the cache.
			whole := w.Account
			whole.Verdicts = nil
			want, wantErr := e.Try(t.Context(), whole, entry.Rule)
			got, err := e.Try(t.Context(), w.Account, entry.Rule)
			if wantErr != nil || err != nil {
				if (wantErr == nil) != (err == nil) {
					t.Errorf("%s, step %d: %v near the change, %v on all entities", entry.ID, step, err, wantErr)
				}
				break
			}
			// The work differs, and functions cannot be compared.
			want[0].Work, want[0].Outside, got[0].Work, got[0].Outside = 0, nil, 0, nil
			if diff := cmp.Diff(want[0], got[0]); diff != "" {
				t.Fatalf("%s, step %d, which changed %v (-all entities +near the change):\n%s", entry.ID, step, changed, diff)
			}
		}
	}
}

// A changingAccount is an account of entities from the cases of one rule.
type changingAccount struct {
	evaluate.Account
	random  *rand.Rand
	samples []posture.Entity // states of entities, several of each
	ids     []posture.EntityID
}

func newChangingAccount(t *testing.T, b *bench, entry catalog.Entry) *changingAccount {
	seed := fnv.New64()
	_, _ = seed.Write([]byte(entry.ID))
	w := &changingAccount{random: rand.New(rand.NewPCG(seed.Sum64(), 1))}
	var kinds []posture.EntityType
	for _, c := range entry.Cases {
		_, found, _, err := b.Build(t.Context(), entry, c)
		if err != nil {
			t.Fatal(err)
		}
		w.samples = append(w.samples, found...)
	}
	for _, s := range w.samples {
		if !slices.Contains(w.ids, s.ID) {
			w.ids = append(w.ids, s.ID)
		}
		if !slices.Contains(kinds, s.Type) {
			kinds = append(kinds, s.Type)
		}
	}
	reads, err := b.schema.Read(entry.Query.Text)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.NewBuilder(graph.Limits{}).Build()
	if err != nil {
		t.Fatal(err)
	}
	w.Account = evaluate.Account{Org: "o", ID: catalog.Account(entry.Provider), Provider: entry.Provider, Graph: g, Verdicts: new(evaluate.VerdictCache)}
	for _, kind := range slices.Concat(kinds, reads.Types) {
		w.Coverage = append(w.Coverage, posture.Coverage{Type: kind, Region: posture.Global, Succeeded: catalog.CaseTime})
	}
	return w
}

// change adds, replaces or removes some entities and returns their ids.
func (w *changingAccount) change(t *testing.T) []posture.EntityID {
	var changes []graph.Change
	var changed []posture.EntityID
	for range 1 + w.random.IntN(4) {
		id := w.ids[w.random.IntN(len(w.ids))]
		if slices.Contains(changed, id) {
			continue
		}
		changed = append(changed, id)
		if w.random.IntN(4) == 0 {
			changes = append(changes, graph.Change{Record: graph.Record{ID: graph.String(string(id))}, Remove: true})
			continue
		}
		e := w.state(id)
		changes = append(changes, graph.Change{Record: graphcache.Record(&e)})
	}
	var err error
	if w.Graph, err = w.Graph.Patch(changes); err != nil {
		t.Fatal(err)
	}
	w.Verdicts = new(evaluate.VerdictCache)
	return changed
}

// state returns an entity as in one of the cases, sometimes without a property or an edge,
// or with one that could not be read.
func (w *changingAccount) state(id posture.EntityID) posture.Entity {
	e := w.samples[w.random.IntN(len(w.samples))]
	for e.ID != id {
		e = w.samples[w.random.IntN(len(w.samples))]
	}
	e.Properties, e.Edges = slices.Clone(e.Properties), slices.Clone(e.Edges)
	if n := len(e.Properties); n > 0 {
		switch i := w.random.IntN(n); w.random.IntN(5) {
		case 0:
			e.Properties[i] = posture.Unknown(e.Properties[i].Name, "denied")
		case 1:
			e.Properties = slices.Delete(e.Properties, i, i+1)
		}
	}
	if n := len(e.Edges); n > 0 {
		switch i := w.random.IntN(n); w.random.IntN(5) {
		case 0:
			e.Properties = append(e.Properties, posture.Unknown(e.Edges[i].Label, "denied"))
			e.Edges = slices.Delete(e.Edges, i, i+1)
		case 1:
			e.Edges = slices.Delete(e.Edges, i, i+1)
		}
	}
	e.Normalize()
	return e
}
