package walk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/gremlin"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/walk"
)

// fakeStore is a store with one account and a few entities.
type fakeStore map[posture.EntityID]posture.Entity

const account = posture.AccountID("1")

func id(name string) posture.EntityID { return posture.EntityType("AWS.X.Thing").ID(account, "", name) }

// newStore returns entities with edges: "a>b" is an edge from a to b, "a" an entity without one.
func newStore(edges ...string) fakeStore {
	s := fakeStore{}
	entity := func(name string) posture.Entity { // the stored one, or a new one
		e, ok := s[id(name)]
		if !ok {
			e = posture.Entity{ID: id(name), Type: "AWS.X.Thing", Name: name, Account: account, Provider: posture.AWS, Region: "eu", Service: "X"}
			e.Properties = []posture.Property{posture.Number("length", int64(len(name))), posture.Flag("short", len(name) < 2)}
		}
		return e
	}
	for _, edge := range edges {
		from, to, linked := strings.Cut(edge, ">")
		e := entity(from)
		if linked {
			e.Edges = append(e.Edges, posture.Edge{Label: "TO", To: id(to), Properties: []posture.Property{posture.Text("via", edge)}})
			s[id(to)] = entity(to)
		}
		s[id(from)] = e
	}
	return s
}

func (s fakeStore) Generation(_ context.Context, org posture.OrgID, a posture.AccountID) (int64, error) {
	if org != "org" || a != account {
		return 0, fault.New(fault.NotFound, "cloud account %q was not found", a)
	}
	return 1, nil
}

func (s fakeStore) EachEntity(_ context.Context, _ posture.OrgID, _ posture.AccountID, f func(posture.Entity) error) (int64, error) {
	for _, e := range s {
		if err := f(e); err != nil {
			return 0, err
		}
	}
	return 1, nil
}

func (s fakeStore) ChangesSince(context.Context, posture.OrgID, posture.AccountID, int64) (posture.PartitionChanges, bool, error) {
	return posture.PartitionChanges{}, false, nil
}

func (s fakeStore) Snapshot(context.Context, posture.OrgID, posture.AccountID) (posture.Snapshot, error) {
	return posture.Snapshot{}, nil
}

func (s fakeStore) SaveSnapshot(context.Context, posture.OrgID, posture.AccountID, posture.Snapshot) error {
	return nil
}

func (s fakeStore) EntitiesOf(_ context.Context, _ posture.OrgID, _ posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	found := map[posture.EntityID]posture.Entity{}
	for _, id := range ids {
		if e, ok := s[id]; ok {
			found[id] = e
		}
	}
	return found, nil
}

func newWalker(s fakeStore, o walk.Options) *walk.Walker {
	return walk.New(graphcache.New(s, graphcache.Options{}), s, o)
}

func runQuery(t *testing.T, w *walk.Walker, text string) walk.Answer {
	t.Helper()
	a, err := w.Ask(t.Context(), query(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	t.Cleanup(a.Close)
	return a
}

// query returns a query of the organisation that has the account.
func query(text string) walk.Query {
	return walk.Query{Org: "org", Account: account, Caller: "me", Text: text, Entity: func(e posture.Entity) ([]byte, error) { return json.Marshal(e.Name) }}
}

// entities returns the entities of a response by name.
func entities(t *testing.T, a walk.Answer) map[string]string {
	t.Helper()
	data, err := json.Marshal(a.Entities)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]string
	if err := json.Unmarshal(data, &all); err != nil || len(all) != a.Found {
		t.Fatalf("%d entities are %s: %v", a.Found, data, err)
	}
	return all
}

// draw formats nodes by the names of their entities: "a(b c(d))".
func draw(nodes []*walk.Node) string {
	var parts []string
	for _, n := range nodes {
		text := string(n.ID[strings.LastIndex(string(n.ID), ".")+1:])
		if len(n.Children) > 0 {
			text += "(" + draw(n.Children) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	walker := newWalker(newStore("a>b", "b>cc", "a>cc", "lone"), walk.Options{})
	for text, want := range map[string]struct {
		count    int64
		nodes    string // as draw formats them; the same vertex is one node, however often it is a result
		entities int
		values   string
	}{
		`g.V().has('entityName','a')`:                                                      {1, "a", 1, `[]`},
		`g.V().has('entityName','a').out().order().by('entityName')`:                       {2, "b cc", 2, `[]`},
		`g.V().has('entityName','cc').in().out().order().by('entityName')`:                 {3, "b cc", 2, `[]`},
		`g.V().has('entityName','a').out().out().path()`:                                   {1, "a(b(cc))", 3, `[]`},
		`g.V().has('entityName','a').repeat(out()).emit().path().order().by(count(local))`: {3, "a(b(cc) cc)", 3, `[]`},
		`g.V().has('entityName','a').outE().inV().path().by().by(label)`:                   {2, "a(b cc)", 3, `[]`},
		`g.V().has('entityName','b').out().tree()`:                                         {1, "b(cc)", 2, `[]`},
		`g.V().has('entityName','b').outE().inV().tree()`:                                  {1, "b(cc)", 2, `[]`},
		`g.V().has('entityName','b').out().tree().by('entityName')`:                        {1, "", 0, `[{"b":{"cc":{}}}]`},
		`g.V().has('entityName','b').out().tree().by().by('entityName')`:                   {1, "b", 1, `[]`},
		`g.V().hasLabel('none').tree()`:                                                    {1, "", 0, `[]`},
		`g.V().count()`:                                                                    {1, "", 0, `[4]`},
		`g.V().hasLabel('none')`:                                                           {0, "", 0, `[]`},
		`g.V().groupCount().by(label)`:                                                     {1, "", 0, `[{"AWS.X.Thing":4}]`},
		`g.V().has('short',true).values('entityName').order()`:                             {2, "", 0, `["a","b"]`},
		`g.V().values('length').order()`:                                                   {4, "", 0, `[1,1,2,4]`},
		`g.V().values('length').mean()`:                                                    {1, "", 0, `[2]`},
		`g.V().values('region').dedup()`:                                                   {1, "", 0, `["eu"]`},
		`g.V().has('entityName','b').outE()`:                                               {1, "", 2, `[{"from":"AWS.X.1.global.Thing.b","label":"TO","properties":{"via":"b\u003ecc"},"to":"AWS.X.1.global.Thing.cc"}]`},
		`g.V().has('entityName','b').fold()`:                                               {1, "", 1, `[[{"id":"AWS.X.1.global.Thing.b","type":"entity"}]]`},
		`g.V().has('entityName','b').as('x').out().as('y').select('x','y')`:                {1, "", 2, `[{"x":{"id":"AWS.X.1.global.Thing.b","type":"entity"},"y":{"id":"AWS.X.1.global.Thing.cc","type":"entity"}}]`},
		`g.V().has('entityName','b').valueMap('length')`:                                   {1, "", 0, `[{"length":[1]}]`},
		`g.V().has('entityName','b').properties('length')`:                                 {1, "", 0, `[{"length":1}]`},
		`g.V().has('entityName','lone').group().by().by(out().count())`:                    {1, "", 1, `[{"AWS.X.1.global.Thing.lone":0}]`},
		`g.V().has('entityName','lone').elementMap('length')`:                              {1, "", 0, `[{"id":"AWS.X.1.global.Thing.lone","label":"AWS.X.Thing","length":4}]`},
		`g.E().count()`:         {1, "", 0, `[3]`},
		`g.E().label().dedup()`: {1, "", 0, `["TO"]`},
	} {
		a := runQuery(t, walker, text)
		a.Close()
		values, err := json.Marshal(a.Values)
		if err != nil {
			t.Fatal(err)
		}
		if a.Count != want.count || len(entities(t, a)) != want.entities || string(values) != want.values || draw(a.Nodes) != want.nodes {
			t.Errorf("%s: count %d, nodes %s, %d entities, values %s; want %+v", text, a.Count, draw(a.Nodes), a.Found, values, want)
		}
		if a.Nodes == nil {
			t.Errorf("%s: the nodes are nil, want an empty list: %+v", text, a)
		}
	}
}

func TestNeighboursAreCountedOnce(t *testing.T) {
	t.Parallel()
	store := newStore("a>b", "a>b", "a>c", "b>a") // two edges lead from a to b
	got, err := newWalker(store, walk.Options{}).Neighbours(t.Context(), "org", account, id("a"))
	if err != nil {
		t.Fatal(err)
	}
	want := walk.Neighbourhood{
		Counts:     []walk.NeighbourCount{{walk.Outgoing, "TO", "AWS.X.Thing", 2}, {walk.Incoming, "TO", "AWS.X.Thing", 1}},
		Neighbours: []walk.Neighbour{{walk.Outgoing, "TO", id("b")}, {walk.Outgoing, "TO", id("c")}, {walk.Incoming, "TO", id("b")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPathsShareCommonPrefixes(t *testing.T) {
	t.Parallel()
	walker := newWalker(newStore("a>b", "a>c", "b>d", "b>e"), walk.Options{})
	a := runQuery(t, walker, `g.V().has('entityName','a').out().out().order().by('entityName').path()`)
	if got := draw(a.Nodes); got != "a(b(d e))" {
		t.Errorf("nodes %s", got)
	}
}

func TestInvalidQueries(t *testing.T) {
	t.Parallel()
	walker := newWalker(newStore("a>b", "b>a"), walk.Options{Budget: gremlin.Budget{Traversers: 1000, Results: 50, Time: 5 * time.Second}})
	for text, want := range map[string]string{
		`g.V().has(`:   "line 1, column 11",
		`g.V().drop()`: "drop() changes the graph",
		`g.V().otu()`:  "did you mean out()?",
		"g.V()\n.has(": "line 2, column 6",
		`g.V().repeat(__.both()).until(__.hasId('never')).count()`: "max-repeat",
		`g.V().repeat(__.both()).times(30).path()`:                 "budget",
		`g.V().repeat(__.both()).times(7)`:                         "max-results",
		`g.V().math('_ + 1')`:                                      "gremlin:",
	} {
		_, err := walker.Ask(t.Context(), walk.Query{Org: "org", Account: account, Text: text})
		blamed := fault.Details(err)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) || len(blamed) != 1 || blamed[0].Path != "gremlin" {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	// If the account is not found, an error in the text is not reported.
	for _, q := range []walk.Query{
		{Org: "other", Account: account, Text: "g.V()"}, {Org: "org", Account: "2", Text: "g.V()"}, {Org: "org", Account: "2", Text: "g.V("},
	} {
		if _, err := walker.Ask(t.Context(), q); !fault.Is(err, fault.NotFound) {
			t.Errorf("%+v: %v, want that the account is not found", q, err)
		}
	}
}

func explainQuery(text string) walk.Query {
	q := query(text)
	q.Explain = true
	return q
}

func TestExplainAndCost(t *testing.T) {
	t.Parallel()
	walker := newWalker(newStore("a>b"), walk.Options{})
	a, err := walker.Ask(t.Context(), explainQuery("g.V().out()"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.Explain == nil || len(a.Explain.Steps) == 0 || a.Cost.Work == 0 || a.Cost.Generation != 1 {
		t.Errorf("explain %v, cost %+v", a.Explain, a.Cost)
	}
	if a := runQuery(t, walker, "g.V().out()"); a.Explain != nil {
		t.Errorf("a query that does not ask for it has an explanation: %v", a.Explain)
	}
}

// TestCostCountsResultsAndResponse checks that the peak memory includes the results of the run,
// which are held until the response is written.
func TestCostCountsResultsAndResponse(t *testing.T) {
	t.Parallel()
	const n = 5000
	store := fakeStore{}
	for i := range n {
		name := fmt.Sprint(i, " ", strings.Repeat("x", 100))
		store[id(name)] = posture.Entity{ID: id(name), Type: "AWS.X.Thing", Name: name, Account: account, Provider: posture.AWS}
	}
	a := runQuery(t, newWalker(store, walk.Options{}), "g.V().id()")
	const heldPerResult = 64 + 100
	if least := n*heldPerResult + a.Values.Len(); a.Cost.Bytes < least {
		t.Errorf("peak memory of %d bytes, want at least %d", a.Cost.Bytes, least)
	}
}

// lossyStore omits an entity from the answer to the first query of entities, as if it had
// been removed after the graph was loaded.
type lossyStore struct {
	fakeStore
	queries *int
}

func (s lossyStore) EntitiesOf(ctx context.Context, org posture.OrgID, a posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	*s.queries++
	found, err := s.fakeStore.EntitiesOf(ctx, org, a, ids)
	if *s.queries == 1 {
		delete(found, id("a"))
	}
	return found, err
}

func TestAnswerHasOneGeneration(t *testing.T) {
	t.Parallel()
	f := lossyStore{newStore("a>b"), new(int)}
	walker := walk.New(graphcache.New(f, graphcache.Options{}), f, walk.Options{})
	a := runQuery(t, walker, "g.V()")
	if *f.queries != 2 || len(entities(t, a)) != 2 {
		t.Errorf("the store was asked %d times, %d entities; want 2 and 2", *f.queries, a.Found)
	}
}

func TestValuesAreJSON(t *testing.T) {
	t.Parallel()
	walker := newWalker(newStore("a>b"), walk.Options{})
	const (
		idA, idB = `"AWS.X.1.global.Thing.a"`, `"AWS.X.1.global.Thing.b"`
		vertexA  = `{"id":` + idA + `,"type":"entity"}`
		vertexB  = `{"id":` + idB + `,"type":"entity"}`
		edge     = `{"from":` + idA + `,"label":"TO","properties":{"via":"a\u003eb"},"to":` + idB + `}`
	)
	for text, want := range map[string]string{
		`g.inject(1.5, 2.5f, 3l, 'x', true, [1,2], [k:'v'])`: `[1.5,2.5,3,"x",true,[1,2],{"k":"v"}]`,
		`g.inject(null)`:                             `[null]`,
		`g.inject(12345678901234567890n)`:            `[12345678901234567890]`,
		`g.inject(1.5m)`:                             `[1.5]`,
		`g.inject(NaN)`:                              `["NaN"]`,
		`g.inject(datetime('2026-01-02T03:04:05Z'))`: `["2026-01-02T03:04:05.000Z"]`,
		`g.V().order().by('entityName').group().by('length').by(fold())`:           `[{"1":[` + vertexA + `,` + vertexB + `]}]`,
		`g.V().order().by('entityName').aggregate('x').cap('x')`:                   `[[` + vertexA + `,` + vertexB + `]]`,
		`g.V().outE().subgraph('s').cap('s')`:                                      `[{"edges":[` + edge + `],"vertices":[` + vertexA + `,` + vertexB + `]}]`,
		`g.V().order().by('entityName').path().fold()`:                             `[[[` + vertexA + `],[` + vertexB + `]]]`,
		`g.V().outE().properties()`:                                                `[{"via":"a\u003eb"}]`,
		`g.V().order().by('entityName').project('a','b').by(id).by(outE().fold())`: `[{"a":` + idA + `,"b":[` + edge + `]},{"a":` + idB + `,"b":[]}]`,
		`g.V().tree().fold()`:                                                      `[[{` + idA + `:{},` + idB + `:{}}]]`,
	} {
		a := runQuery(t, walker, text)
		values, err := json.Marshal(a.Values) // Marshal validates the output of MarshalJSON
		a.Close()
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, string(values)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
