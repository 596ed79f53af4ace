package graphcache_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/graph"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/entitygen"
	"vigil/internal/posture/graphcache"
)

// fakeStore is an in-memory PartitionStore that counts builds.
type fakeStore struct {
	mu       sync.Mutex
	accounts map[posture.AccountRef]*fakeAccount
	builds   int   // calls of EachEntity, which builds a graph from all entities
	oldest   int64 // oldest generation that ChangesSince accepts
}

type fakeAccount struct {
	generation int64
	entities   map[posture.EntityID]posture.Entity
	touched    map[posture.EntityID]int64 // generation of the last change, also of removed entities
	snapshot   posture.Snapshot
}

func (s *fakeStore) change(ref posture.AccountRef, es []posture.Entity, removed ...posture.EntityID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.accounts == nil {
		s.accounts = map[posture.AccountRef]*fakeAccount{}
	}
	a := s.accounts[ref]
	if a == nil {
		a = &fakeAccount{entities: map[posture.EntityID]posture.Entity{}, touched: map[posture.EntityID]int64{}}
		s.accounts[ref] = a
	}
	a.generation++
	for _, e := range es {
		a.entities[e.ID], a.touched[e.ID] = e, a.generation
	}
	for _, id := range removed {
		delete(a.entities, id)
		a.touched[id] = a.generation
	}
}

func (s *fakeStore) accountOf(org posture.OrgID, id posture.AccountID) (*fakeAccount, error) {
	if a := s.accounts[posture.AccountRef{Org: org, Account: id}]; a != nil {
		return a, nil
	}
	return nil, fault.New(fault.NotFound, "no account")
}

func (s *fakeStore) Generation(ctx context.Context, org posture.OrgID, id posture.AccountID) (int64, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.accountOf(org, id)
	if err != nil {
		return 0, err
	}
	return a.generation, nil
}

func (s *fakeStore) EachEntity(_ context.Context, org posture.OrgID, id posture.AccountID, f func(posture.Entity) error) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.builds++
	a, err := s.accountOf(org, id)
	if err != nil {
		return 0, err
	}
	for _, e := range a.entities {
		if err := f(e); err != nil {
			return 0, err
		}
	}
	return a.generation, nil
}

func (s *fakeStore) ChangesSince(_ context.Context, org posture.OrgID, id posture.AccountID, generation int64) (c posture.PartitionChanges, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.accountOf(org, id)
	if err != nil || generation < s.oldest {
		return c, false, err
	}
	c.Generation = a.generation
	for id, g := range a.touched {
		if g <= generation {
			continue
		}
		if e, exists := a.entities[id]; exists {
			c.Changed = append(c.Changed, e)
		} else {
			c.Gone = append(c.Gone, id)
		}
	}
	return c, true, nil
}

func (s *fakeStore) Snapshot(_ context.Context, org posture.OrgID, id posture.AccountID) (posture.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.accountOf(org, id)
	if err != nil {
		return posture.Snapshot{}, err
	}
	return a.snapshot, nil
}

func (s *fakeStore) SaveSnapshot(_ context.Context, org posture.OrgID, id posture.AccountID, snap posture.Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.accountOf(org, id)
	if err == nil {
		a.snapshot = snap
	}
	return err
}

var ref = posture.AccountRef{Org: "org", Account: entitygen.New(0, 0).ID}

func load(t *testing.T, g *graphcache.Graphs, ref posture.AccountRef) graphcache.Graph {
	t.Helper()
	found, err := g.Graph(t.Context(), ref.Org, ref.Account)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// contents returns a readable form of a graph for comparison.
func contents(g *graph.Graph) map[string][]string {
	all := map[string][]string{}
	for _, v := range g.Vertices() {
		r := g.Record(v)
		var lines []string
		for _, p := range r.Properties {
			lines = append(lines, fmt.Sprint(p.Key, "=", p.Value, " ", p.Unknown, p.Reason))
		}
		for _, e := range r.Out {
			lines = append(lines, fmt.Sprint(e.Label, "->", e.To, e.Properties))
		}
		slices.Sort(lines)
		all[fmt.Sprint(r.ID, r.Label)] = append(lines, fmt.Sprint("in ", g.Degree(v, graph.In)))
	}
	return all
}

// buildGraph builds a graph from entities.
func buildGraph(t *testing.T, es map[posture.EntityID]posture.Entity) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.Limits{})
	for _, id := range slices.Sorted(maps.Keys(es)) {
		e := es[id]
		if err := b.Add(graphcache.Record(&e)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGraphFollowsEveryCommit(t *testing.T) {
	t.Parallel()
	s := new(fakeStore)
	a := entitygen.New(0, 400)
	s.change(ref, slices.Collect(a.All()))
	cold := func() *graphcache.Graphs { return graphcache.New(s, graphcache.Options{}) }
	cached := cold()
	check := func(what string, g graphcache.Graph) {
		t.Helper()
		want := s.accounts[ref]
		if g.Generation != want.generation {
			t.Errorf("%s: generation %d, want %d", what, g.Generation, want.generation)
		}
		if diff := cmp.Diff(contents(buildGraph(t, want.entities)), contents(g.Graph)); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", what, diff)
		}
	}
	check("first", load(t, cached, ref))
	if s.builds != 1 || s.accounts[ref].snapshot.Generation != 1 {
		t.Errorf("%d builds, snapshot of generation %d; want one build and generation 1", s.builds, s.accounts[ref].snapshot.Generation)
	}
	check("from the snapshot", load(t, cold(), ref))

	for round := 1; round <= 5; round++ {
		later := a
		later.Revision, later.Changed = round, 0.1
		es := slices.Collect(later.All())
		s.change(ref, es[round*10:], es[round].ID) // the first entities are not changed, except one, which is removed
		check("patched", load(t, cached, ref))
		check("snapshot and patched", load(t, cold(), ref))
	}
	if s.builds != 1 {
		t.Errorf("built %d times although the changes are known, want once", s.builds)
	}

	s.oldest = s.accounts[ref].generation + 1 // the cached graph cannot be patched
	s.change(ref, nil, slices.Collect(a.All())[30].ID)
	check("rebuilt", load(t, cached, ref))
	if s.builds != 2 {
		t.Errorf("built %d times after unknown changes, want twice", s.builds)
	}
	s.accounts[ref].snapshot.Data = []byte("damaged")
	check("despite a damaged snapshot", load(t, cold(), ref))
}

func TestGraphIsLoadedOnce(t *testing.T) {
	t.Parallel()
	s := new(fakeStore)
	s.change(ref, slices.Collect(entitygen.New(0, 200).All()))
	g := graphcache.New(s, graphcache.Options{})
	var wg sync.WaitGroup
	graphs := make([]*graph.Graph, 16)
	for i := range graphs {
		wg.Go(func() {
			found, err := g.Graph(t.Context(), ref.Org, ref.Account)
			if err != nil {
				t.Error(err)
			}
			graphs[i] = found.Graph
		})
	}
	wg.Wait()
	for _, each := range graphs {
		if each != graphs[0] {
			t.Fatal("two callers got two graphs of one generation")
		}
	}
	if s.builds != 1 {
		t.Errorf("built %d times for concurrent callers, want once", s.builds)
	}
}

func TestCacheStaysWithinItsBytes(t *testing.T) {
	t.Parallel()
	s := new(fakeStore)
	refs := make([]posture.AccountRef, 6)
	for i := range refs {
		a := entitygen.New(i, 300)
		refs[i] = posture.AccountRef{Org: "org", Account: a.ID}
		s.change(refs[i], slices.Collect(a.All()))
	}
	oneGraph := load(t, graphcache.New(s, graphcache.Options{}), refs[0]).Bytes()
	limit := oneGraph * 5 / 2 // room for two graphs
	g := graphcache.New(s, graphcache.Options{Bytes: limit})
	first := load(t, g, refs[0])
	for _, r := range refs[1:] {
		load(t, g, r)
		if load(t, g, refs[0]).Graph != first.Graph {
			t.Fatal("the graph that was used last was evicted")
		}
		if b := g.Bytes(); b > limit {
			t.Errorf("%d bytes are cached, the limit is %d", b, limit)
		}
	}

	tiny := graphcache.New(s, graphcache.Options{Bytes: 100})
	if load(t, tiny, refs[0]).NumVertices() == 0 || tiny.Bytes() != 0 {
		t.Errorf("a graph larger than the cache: %d bytes are cached", tiny.Bytes())
	}
}

func TestIndexesCountTowardsTheLimit(t *testing.T) {
	t.Parallel()
	s := new(fakeStore)
	s.change(ref, slices.Collect(entitygen.New(0, 300).All()))
	g := graphcache.New(s, graphcache.Options{})
	found := load(t, g, ref)
	before := g.Bytes()
	for l := range found.VertexLabels() {
		for k := range found.Keys() {
			found.VertexIndex(graph.Label(l), graph.Key(k))
		}
	}
	for range 20 { // the cache measures a graph again only after 16 uses
		load(t, g, ref)
	}
	if got := g.Bytes(); got <= before || got != found.Bytes() {
		t.Errorf("%d bytes are cached without indexes and %d with them, want the %d of the graph", before, got, found.Bytes())
	}
}

func TestGraphOfMissingAccount(t *testing.T) {
	t.Parallel()
	s := new(fakeStore)
	g := graphcache.New(s, graphcache.Options{})
	if _, err := g.Graph(t.Context(), ref.Org, ref.Account); !fault.Is(err, fault.NotFound) {
		t.Errorf("no account: %v", err)
	}
	s.change(ref, slices.Collect(entitygen.New(0, 100).All()))
	load(t, g, ref)
	delete(s.accounts, ref)
	if _, err := g.Graph(t.Context(), ref.Org, ref.Account); !fault.Is(err, fault.NotFound) || g.Bytes() != 0 {
		t.Errorf("removed account: %v, %d bytes are cached", err, g.Bytes())
	}
}

func TestGraphStaysCachedWhenACallerGivesUp(t *testing.T) {
	t.Parallel()
	s := new(fakeStore)
	s.change(ref, slices.Collect(entitygen.New(0, 100).All()))
	g := graphcache.New(s, graphcache.Options{})
	cached := load(t, g, ref)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Graph(ctx, ref.Org, ref.Account); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	if load(t, g, ref).Graph != cached.Graph {
		t.Error("the graph was loaded again")
	}
}

func TestRecordOfAnEntity(t *testing.T) {
	t.Parallel()
	e := posture.Entity{
		ID: "AWS.S3.1.global.Bucket.b", Type: "AWS.S3.Bucket", Name: "b", Account: "1", Provider: posture.AWS, Region: "eu", Service: "S3",
		Properties: []posture.Property{
			posture.Flag("open", true), posture.Number("size", 7), posture.Text("list", "a"), posture.Text("list", "b"),
			posture.Unknown("policy", "denied"), posture.Text("region", "mars"), // the field of this name has precedence
		},
		Tags:  map[string]string{"env": "prod"},
		Edges: []posture.Edge{{Label: "WRITES_TO", To: "x", Properties: []posture.Property{posture.Text("prefix", "p"), posture.Unknown("u", "denied")}}},
	}
	g := buildGraph(t, map[posture.EntityID]posture.Entity{e.ID: e})
	if _, ok := g.VertexByID(graph.String(string(e.ID))); !ok || g.VertexLabels()[0] != string(e.Type) {
		t.Fatalf("vertices %v", contents(g))
	}
	v := g.Vertices()[0]
	values := func(key string) (all []string) {
		k, _ := g.KeyByName(key)
		for i := range g.VertexPropertyCount(v, k) {
			all = append(all, fmt.Sprint(g.VertexPropertyValue(v, k, i)))
		}
		return all
	}
	for key, want := range map[string][]graph.Value{
		"open": {graph.Bool(true)}, "size": {graph.Long(7)}, "list": {graph.String("a"), graph.String("b")}, "region": {graph.String("eu")},
		"tag.env": {graph.String("prod")}, "entityName": {graph.String("b")}, "cloudAccountId": {graph.String("1")}, "provider": {graph.String("aws")},
		"service": {graph.String("S3")}, "policy": nil,
	} {
		var texts []string
		for _, w := range want {
			texts = append(texts, fmt.Sprint(w))
		}
		if diff := cmp.Diff(texts, values(key)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	k, _ := g.KeyByName("policy")
	if reason, unknown := g.VertexUnknown(v, k); !unknown || reason != "denied" {
		t.Errorf("policy is unknown: %v, %q; want true, denied", unknown, reason)
	}
	if g.HiddenEdges() != 1 { // the edge to x, which is not in the graph
		t.Errorf("%d hidden edges, want 1", g.HiddenEdges())
	}
}
