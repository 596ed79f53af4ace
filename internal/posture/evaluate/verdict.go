package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/search"
)

// A verdict is what a rule says of the vertices of a graph. Those it does not
// mention pass.
type verdict struct {
	yes, unknown []graph.Handle // in ascending order
	subjects     []posture.EntityType
	reads        []posture.EntityType // types that made the difference
	about        *verdict             // of the part that says what the rule is about; nil for all of the types
	work         int64
}

// verdict returns what a rule says of the graph, from memory if it was asked
// before. Also with an error it says what the rule is about, as far as that is
// known.
func (j *judging) verdict(ctx context.Context, r posture.Rule) (verdict, error) {
	if v, ok := j.Said.get(r.Query); ok {
		return v, nil
	}
	q, err := j.query(r.Query)
	if err != nil {
		return verdict{}, err
	}
	v, err := j.hold(ctx, q)
	if err == nil {
		j.Said.put(r.Query, v)
	}
	return v, err
}

// hold holds a query against the graph.
func (j *judging) hold(ctx context.Context, q *query) (verdict, error) {
	v := verdict{subjects: q.reads.Subjects, reads: q.reads.Types}
	if q.where != nil {
		j.search(q, &v)
		return v, nil
	}
	if q.about != nil {
		about, err := j.holdAbout(ctx, q.about)
		if err != nil {
			return v, err
		}
		v.about, v.work = about, about.work
	}
	found, err := q.plan.Verdict(ctx, j.Graph, j.options())
	if err != nil {
		return v, err
	}
	v.yes, v.unknown, v.work = found.Yes, found.Unknown, v.work+found.Work
	if len(found.Unsure) > 0 {
		if err := j.unsure(ctx, q, found, &v); err != nil {
			return v, err
		}
	}
	j.dim(q, &v)
	return v, nil
}

// Said is what rules said of one graph at one moment. It is safe for concurrent
// use; nil remembers nothing.
type Said struct {
	mu sync.Mutex
	by map[posture.RuleQuery]verdict
}

func (s *Said) get(q posture.RuleQuery) (verdict, bool) {
	if s == nil {
		return verdict{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.by[q]
	return v, ok
}

func (s *Said) put(q posture.RuleQuery, v verdict) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[posture.RuleQuery]verdict{}
	}
	s.by[q] = v
}

// options say what a rule may cost. Every entity may violate it, however many
// there are.
func (j *judging) options() gremlin.RunOptions {
	b := gremlin.RuleBudget
	b.Results = max(b.Results, 4*int64(j.Graph.NumVertices()))
	return gremlin.RunOptions{Budget: b, Now: j.at.Truncate(Tick)}
}

// unsure settles a verdict about values that are used for more than conditions.
// When the query follows no edges, what it says of a vertex depends on that
// vertex alone: only those with unknown values are unknown. Otherwise all are.
func (j *judging) unsure(ctx context.Context, q *query, found *gremlin.Verdict, v *verdict) error {
	touches := q.touches
	if touches.AllEdges || len(touches.Edges) > 0 || touches.AllKeys {
		all := append(j.subjects(v.subjects), found.Unknown...)
		slices.Sort(all)
		v.yes, v.unknown = nil, slices.Compact(all)
		return nil
	}
	plain, err := q.plan.Run(ctx, j.Graph, j.options())
	if err != nil {
		return err
	}
	v.work += plain.Work
	dark := j.withUnknown(v.subjects, touches.Keys)
	v.yes, v.unknown = nil, dark
	for _, it := range plain.Items {
		if it.Value.Kind() != graph.KindVertex {
			return fmt.Errorf("the query finds a %s, not vertices", it.Value.Kind())
		}
		if _, ok := slices.BinarySearch(dark, it.Value.Handle()); !ok {
			v.yes = append(v.yes, it.Value.Handle())
		}
	}
	slices.Sort(v.yes)
	v.yes = slices.Compact(v.yes)
	return nil
}

// withUnknown returns the vertices of some types that have an unknown value under
// one of the keys.
func (j *judging) withUnknown(ts []posture.EntityType, keys []string) []graph.Handle {
	var all []graph.Handle
	for _, t := range ts {
		l, ok := j.Graph.VertexLabelByName(string(t))
		if !ok {
			continue
		}
		rows := j.Graph.VertexRows(l)
		for _, key := range keys {
			k, ok := j.Graph.KeyByName(key)
			if !ok {
				continue
			}
			c := j.Graph.VertexColumn(l, k)
			if c == nil || !c.HasUnknown() {
				continue
			}
			for _, row := range c.UnknownRows() {
				if h := rows[row]; h != graph.NoHandle {
					all = append(all, h)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// search holds a condition of the search language against the entities it can be
// about.
func (j *judging) search(q *query, v *verdict) {
	hs := j.Graph.Vertices()
	if !q.anywhere {
		hs = j.subjects(v.subjects)
	} else {
		v.subjects = nil
	}
	v.work = int64(len(hs))
	for _, h := range hs {
		e := entityOf(j.Graph, h)
		switch q.where.Of(&e) {
		case posture.Yes:
			v.yes = append(v.yes, h)
		case posture.Maybe:
			v.unknown = append(v.unknown, h)
		}
	}
}

// A query is the query of a rule, read and understood.
type query struct {
	text     string // of a Gremlin query
	plan     *gremlin.Plan
	touches  gremlin.Touches
	reads    Reads
	needs    []need
	where    posture.Condition // of a search, in place of a plan
	about    *query            // what the rule is about; nil for all that it finds
	anywhere bool              // a search that does not say of which type
}

// memory keeps queries by their text. Rules are few, and change rarely.
type memory struct {
	mu sync.Mutex
	by map[posture.RuleQuery]*query
}

// forgetAt is how many queries are kept before all are forgotten.
const forgetAt = 4096

// query reads the query of a rule.
func (e *Evaluator) query(q posture.RuleQuery) (*query, error) {
	e.known.mu.Lock()
	known := e.known.by[q]
	e.known.mu.Unlock()
	if known != nil {
		return known, nil
	}
	var err error
	if q.Language == posture.SearchQuery {
		known, err = e.readSearch(q.Text)
	} else {
		known, err = e.readGraph(q.Text)
	}
	if err != nil {
		return nil, err
	}
	e.known.mu.Lock()
	defer e.known.mu.Unlock()
	if e.known.by == nil || len(e.known.by) >= forgetAt {
		e.known.by = map[posture.RuleQuery]*query{}
	}
	e.known.by[q] = known
	return known, nil
}

func (e *Evaluator) readGraph(text string) (*query, error) {
	about, run, err := splitAbout(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	plan, err := e.compile(run)
	if err != nil {
		return nil, err
	}
	reads, err := e.schema.Read(text)
	if err != nil {
		return nil, err
	}
	q := &query{text: text, plan: plan, touches: plan.Touches(), reads: reads}
	q.needs = e.schema.needs(q)
	if about != "" {
		q.about, err = e.readGraph(about)
	}
	return q, err
}

func (e *Evaluator) readSearch(text string) (*query, error) {
	where, err := search.Parse(text)
	if err != nil {
		return nil, err
	}
	q := &query{where: where}
	where.Ask(func(a posture.Attribute) {
		if key := vertexKey(a); !slices.Contains(q.touches.Keys, key) {
			q.touches.Keys = append(q.touches.Keys, key)
		}
	})
	kinds, ok := typesOf(where)
	if !ok {
		q.anywhere, q.touches.AllLabels = true, true
		q.reads.Types = e.schema.types
		return q, nil
	}
	for t := range kinds {
		for _, known := range e.schema.types {
			if posture.Fold(string(known)) == posture.Fold(string(t)) {
				q.reads.Types = append(q.reads.Types, known)
				q.touches.Labels = append(q.touches.Labels, string(known))
			}
		}
	}
	q.reads.Subjects = q.reads.Types
	return q, nil
}
