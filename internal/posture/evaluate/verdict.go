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

// A verdict is the result of one rule on one graph. Subjects that it does not list
// pass.
type verdict struct {
	yes, unknown []graph.Handle // violating and undecided, in ascending order
	subjects     []posture.EntityType
	reads        []posture.EntityType // types whose entities can change the result
	about        *verdict             // of the part that says what the rule is about; nil for all of the types
	work         int64
}

// verdict runs a rule on the graph, or returns its cached verdict. With an error it
// still returns the types that the rule is about, as far as they are known.
func (j *judging) verdict(ctx context.Context, r posture.Rule) (verdict, error) {
	if v, ok := j.Verdicts.get(r.Query); ok {
		return v, nil
	}
	q, err := j.query(r.Query)
	if err != nil {
		return verdict{}, err
	}
	v, err := j.run(ctx, q)
	if err == nil {
		j.Verdicts.put(r.Query, v)
	}
	return v, err
}

// run runs a query on the graph.
func (j *judging) run(ctx context.Context, q *query) (verdict, error) {
	v := verdict{subjects: q.reads.Subjects, reads: q.reads.Types}
	if q.where != nil {
		j.search(q, &v)
		return v, nil
	}
	if q.about != nil {
		about, err := j.runAbout(ctx, q.about)
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
		if err := j.settleUnsure(ctx, q, found, &v); err != nil {
			return v, err
		}
	}
	j.markUnread(q, &v)
	return v, nil
}

// VerdictCache keeps the verdicts of rules on one graph at one moment. It is safe for
// concurrent use; nil keeps nothing.
type VerdictCache struct {
	mu sync.Mutex
	by map[posture.RuleQuery]verdict
}

func (c *VerdictCache) get(q posture.RuleQuery) (verdict, bool) {
	if c == nil {
		return verdict{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.by[q]
	return v, ok
}

func (c *VerdictCache) put(q posture.RuleQuery, v verdict) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[posture.RuleQuery]verdict{}
	}
	c.by[q] = v
}

// options say what a rule may cost. Every entity may violate it, however many
// there are.
func (j *judging) options() gremlin.RunOptions {
	b := gremlin.RuleBudget
	b.Results = max(b.Results, 4*int64(j.Graph.NumVertices()))
	return gremlin.RunOptions{Budget: b, Now: j.at.Truncate(Tick)}
}

// settleUnsure decides a verdict about values that are used for more than conditions.
// When the query follows no edges, what it says of a vertex depends on that
// vertex alone: only those with unknown values are unknown. Otherwise all are.
func (j *judging) settleUnsure(ctx context.Context, q *query, found *gremlin.Verdict, v *verdict) error {
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
	unreadable := j.withUnknown(v.subjects, touches.Keys)
	v.yes, v.unknown = nil, unreadable
	for _, it := range plain.Items {
		if it.Value.Kind() != graph.KindVertex {
			return fmt.Errorf("the query finds a %s, not vertices", it.Value.Kind())
		}
		if _, ok := slices.BinarySearch(unreadable, it.Value.Handle()); !ok {
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

// search evaluates a condition of the search language for the entities it can be
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

// A query is a parsed and compiled query of a rule.
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

// queryCache keeps queries by their text. Rules are few, and change rarely.
type queryCache struct {
	mu sync.Mutex
	by map[posture.RuleQuery]*query
}

// maxQueries is how many queries the cache keeps before it is emptied.
const maxQueries = 4096

// query reads the query of a rule.
func (e *Evaluator) query(q posture.RuleQuery) (*query, error) {
	e.queries.mu.Lock()
	known := e.queries.by[q]
	e.queries.mu.Unlock()
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
	e.queries.mu.Lock()
	defer e.queries.mu.Unlock()
	if e.queries.by == nil || len(e.queries.by) >= maxQueries {
		e.queries.by = map[posture.RuleQuery]*query{}
	}
	e.queries.by[q] = known
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
	where.EachAttribute(func(a posture.Attribute) {
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
