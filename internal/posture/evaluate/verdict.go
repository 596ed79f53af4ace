package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/search"
)

// A verdict is the result of one rule on one graph. Subjects that it does not list
// pass.
type verdict struct {
	yes, unknown []graph.Handle // violating and unknown, in ascending order
	subjects     []posture.EntityType
	reads        []posture.EntityType // types whose entities can change the result
	monotonic    bool                 // adding entities to the graph removes no violation, see isMonotonic
	about        *verdict             // the resources that the rule applies to; nil for all of its types
	perhaps      *verdict             // the resources that may violate the rule; nil if the whole query decides
	found        *gremlin.Verdict     // what the query found, before unread edges were considered
	work         int64                // gremlin.Verdict.Work of all queries that were run
}

// verdict runs the query of a rule on the graph, or returns its cached verdict. Even if it
// fails, it returns the types that the rule applies to, as far as they are known.
func (j *judging) verdict(ctx context.Context, text posture.RuleQuery) (verdict, error) {
	q, err := j.query(text)
	if err != nil {
		return verdict{}, err
	}
	if v := j.Verdicts.get(q); v != nil {
		return *v, nil
	}
	var last *verdict
	if j.since != nil {
		last = j.since.verdicts.get(q)
	}
	v, err := j.run(ctx, q, last)
	if err == nil {
		j.Verdicts.put(q, &v)
	}
	return v, err
}

// run runs a query on the graph. last is its verdict before a change, or nil.
func (j *judging) run(ctx context.Context, q *query, last *verdict) (verdict, error) {
	v := verdict{subjects: q.reads.Subjects, reads: ofCloud(q.reads.Types, j.Provider), monotonic: q.monotonic}
	if last == nil {
		last = &verdict{}
	}
	var err error
	if q.about != nil {
		if v.about, err = j.runAbout(ctx, q.about, last.about); err != nil {
			return v, err
		}
		v.work = v.about.work
	}
	if v.found, err = j.find(ctx, q, last.found); err != nil {
		return v, err
	}
	// v.found is kept for the next judgement: an append to v.yes or v.unknown must not change it.
	v.yes, v.unknown = slices.Clip(v.found.Yes), slices.Clip(v.found.Unknown)
	v.work += v.found.Work
	if len(v.found.AllUnknownBecause) > 0 {
		if err := j.settleAllUnknown(ctx, q, &v); err != nil {
			return v, err
		}
	}
	if q.perhaps != nil {
		if err := j.runPerhaps(ctx, q.perhaps, last.perhaps, &v); err != nil {
			return v, err
		}
	}
	j.markUnread(q, &v)
	return v, nil
}

// ofCloud returns the types of a cloud. A query that names no type reads those of all
// clouds, but collections of an account read only the types of its own.
func ofCloud(all []posture.EntityType, p posture.Provider) []posture.EntityType {
	isOther := func(t posture.EntityType) bool { return t.Provider() != p }
	if !slices.ContainsFunc(all, isOther) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), isOther)
}

// options are the limits of a rule's plan. The limit of results grows with the account,
// because every entity may violate the rule.
func (j *judging) options() gremlin.RunOptions {
	b := gremlin.RuleBudget
	b.Results = max(b.Results, 4*int64(j.Graph.NumVertices()))
	return gremlin.RunOptions{Budget: b}
}

// settleAllUnknown decides a verdict if keys with unknown values are used other than in
// conditions (gremlin.Verdict.AllUnknownBecause). If the query decides about each vertex separately and
// follows no edges, only vertices with unknown values are unknown. Otherwise all are.
func (j *judging) settleAllUnknown(ctx context.Context, q *query, v *verdict) error {
	touches := q.touches
	if q.reach == nil || touches.AllEdges || len(touches.Edges) > 0 || touches.AllKeys {
		all := append(j.subjects(v.subjects), v.found.Unknown...)
		slices.Sort(all)
		v.yes, v.unknown = nil, slices.Compact(all)
		return nil
	}
	plan, err := q.planAt(j.at)
	if err != nil {
		return err
	}
	certain, err := plan.Run(ctx, j.Graph, j.options())
	if err != nil {
		return err
	}
	v.work += certain.Work
	unreadable := j.withUnknown(v.subjects, touches.Keys)
	v.yes, v.unknown = nil, unreadable
	for _, it := range certain.Items {
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

// A query is a parsed and compiled query of a rule.
type query struct {
	key       posture.RuleQuery // its text and the values of its variables
	binding   posture.Binding
	plan      *gremlin.Plan
	touches   gremlin.Touches
	names     map[string]bool // touches.Keys and touches.Edges, folded; the label of unread edges is the key of an unknown property
	reach     *gremlin.Reach  // how far from an entity it reads to decide about it; nil if that is not limited
	reads     Reads
	needs     []need
	monotonic bool              // isMonotonic
	where     posture.Condition // of a search query, which has no plan, about or perhaps
	about     *query            // selects the resources that the rule applies to; nil for all
	perhaps   *query            // finds the resources that may violate the rule; nil if the whole query decides
	anywhere  bool              // a search that is not restricted to types

	mu      sync.Mutex
	bound   *gremlin.Plan // plan with the values of its variables at boundAt
	boundAt time.Time
}

// planAt returns the plan with the values of its variables at a time. It keeps the last
// one, because all runs within a Tick use the same.
func (q *query) planAt(at time.Time) (*gremlin.Plan, error) {
	at = at.Truncate(Tick)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bound == nil || !q.boundAt.Equal(at) {
		bound, err := q.plan.Bind(variables(q.binding, at), at)
		if err != nil {
			return nil, err
		}
		q.bound, q.boundAt = bound, at
	}
	return q.bound, nil
}

// queryCache keeps parsed queries. Rules are few, and change rarely.
type queryCache struct {
	mu      sync.Mutex
	queries map[posture.RuleQuery]*query
}

// maxQueries is how many queries the cache keeps before it is emptied.
const maxQueries = 4096

// query parses and compiles the query of a rule.
func (e *Evaluator) query(q posture.RuleQuery) (*query, error) {
	e.queries.mu.Lock()
	cached := e.queries.queries[q]
	e.queries.mu.Unlock()
	if cached != nil {
		return cached, nil
	}
	var parsed *query
	var err error
	if q.Language == posture.SearchQuery {
		parsed, err = e.readSearch(q.Text)
	} else {
		parsed, err = e.readGraph(q.Text, q.Bound)
	}
	if err != nil {
		return nil, err
	}
	parsed.names = foldAll(parsed.touches.Keys, parsed.touches.Edges)
	e.queries.mu.Lock()
	defer e.queries.mu.Unlock()
	if other := e.queries.queries[q]; other != nil { // VerdictCache needs the same pointer each time
		return other, nil
	}
	if e.queries.queries == nil || len(e.queries.queries) >= maxQueries {
		e.queries.queries = map[posture.RuleQuery]*query{}
	}
	e.queries.queries[q] = parsed
	return parsed, nil
}

// foldAll returns the set of all names, folded with [posture.Fold] like difference.keys.
func foldAll(lists ...[]string) map[string]bool {
	folded := map[string]bool{}
	for _, name := range slices.Concat(lists...) {
		folded[posture.Fold(name)] = true
	}
	return folded
}

func (e *Evaluator) readGraph(text string, bound string) (*query, error) {
	perhaps, run, err := splitAt(perhapsMark, strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	about, run, err := splitAt(aboutMark, run)
	if err != nil {
		return nil, err
	}
	binding, err := posture.RuleQuery{Bound: bound}.Binding()
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
	values := variables(binding, e.now())
	q := &query{key: posture.RuleQuery{Language: posture.GraphQuery, Text: text, Bound: bound}, binding: binding, plan: plan, touches: plan.Touches(values), reads: reads, monotonic: isMonotonic(text)}
	if reach, ok := plan.Reach(values); ok {
		q.reach = reach
	}
	q.reads.Clock = q.reads.Clock || len(binding.EndOfSupport) > 0
	q.needs = e.schema.needs(q)
	if about != "" {
		if q.about, err = e.readGraph(about, bound); err != nil {
			return nil, err
		}
	}
	if perhaps != "" {
		_, part, err := splitAt(aboutMark, perhaps) // the whole query defines what the rule applies to
		if err != nil {
			return nil, err
		}
		if q.perhaps, err = e.readGraph(part, bound); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// variables returns the values of a query's variables at a time.
func variables(b posture.Binding, now time.Time) map[string]graph.Value {
	if len(b.Values) == 0 && len(b.EndOfSupport) == 0 {
		return nil
	}
	values := make(map[string]graph.Value, len(b.Values)+2)
	for name, v := range b.Values {
		values[name] = valueOf(v)
	}
	if len(b.EndOfSupport) > 0 {
		ended, supported := b.Versions(now)
		values[posture.EndedVariable], values[posture.SupportedVariable] = textList(ended), textList(supported)
	}
	return values
}

// valueOf converts a decoded JSON value of a parameter: a whole number, a text, or a list
// of them.
func valueOf(v any) graph.Value {
	switch v := v.(type) {
	case float64:
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

func textList(texts []string) graph.Value {
	items := make([]graph.Value, len(texts))
	for i, t := range texts {
		items[i] = graph.String(t)
	}
	return graph.List(items...)
}

func (e *Evaluator) readSearch(text string) (*query, error) {
	where, err := search.Parse(text)
	if err != nil {
		return nil, err
	}
	q := &query{key: posture.RuleQuery{Language: posture.SearchQuery, Text: text}, where: where, reach: &gremlin.Reach{}}
	where.EachAttribute(func(a posture.Attribute) {
		if key := vertexKey(a); !slices.Contains(q.touches.Keys, key) {
			q.touches.Keys = append(q.touches.Keys, key)
		}
	})
	restricted, ok := typesOf(where)
	if !ok {
		q.anywhere, q.touches.AllLabels = true, true
		q.reads.Types, q.reads.Subjects = e.schema.types, e.schema.types
		return q, nil
	}
	names := map[string]bool{}
	for t := range restricted {
		names[posture.Fold(string(t))] = true
	}
	for _, known := range e.schema.types {
		if names[posture.Fold(string(known))] {
			q.reads.Types = append(q.reads.Types, known)
			q.touches.Labels = append(q.touches.Labels, string(known))
		}
	}
	q.reads.Subjects = q.reads.Types
	return q, nil
}
