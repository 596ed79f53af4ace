// Package walk answers graph queries about accounts: it lets them in, runs them
// on the account's graph within a budget, and tells what they found as nodes,
// entities and values.
package walk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"vigil/gremlin"
	"vigil/gremlin/syntax"
	"vigil/internal/fault"
	"vigil/internal/gctune"
	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/queryfault"
)

// Options bound what queries may cost. The zero value is fit for use.
type Options struct {
	Budget    gremlin.Budget // of each query; gremlin.DefaultBudget where zero
	Admission Admission
	Now       func() time.Time // time.Now when nil
}

// Entities is what a walker asks of the store.
type Entities interface {
	EntitiesOf(ctx context.Context, org posture.OrgID, account posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error)
}

// Walker answers graph queries. Its methods are safe for concurrent use.
type Walker struct {
	graphs *graphcache.Graphs
	store  Entities
	budget gremlin.Budget
	gate   *gate
	plans  gremlin.Cache
	now    func() time.Time
}

// New returns a walker over the graphs of accounts.
func New(graphs *graphcache.Graphs, store Entities, o Options) *Walker {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Budget.Memory = cmp.Or(o.Budget.Memory, gremlin.DefaultBudget.Memory)
	o.Budget.Time = cmp.Or(o.Budget.Time, gremlin.DefaultBudget.Time)
	return &Walker{graphs: graphs, store: store, budget: o.Budget, gate: newGate(o.Admission), now: o.Now}
}

// A Query is what somebody asks.
type Query struct {
	Org     posture.OrgID
	Account posture.AccountID
	Caller  string // who asks: the id of a token or user
	Text    string // in Gremlin
	Explain bool   // also say how it is run

	// Entity returns an entity of the answer as JSON.
	Entity func(posture.Entity) ([]byte, error)
}

// An Answer is what a query found. It keeps the room that its query was let
// into, so it must be closed once it was sent.
type Answer struct {
	Count    int64 // results
	Nodes    []*Node
	Entities *Text  // JSON object by id, of those that occur anywhere
	Found    int    // entities
	Values   *Text  // JSON array of the results that are no vertices
	Edges    []Edge // between the entities of the answer
	Cost     Cost
	Explain  *gremlin.Explanation // when it was asked for

	budget *budget
	leave  func()
}

// NewText returns an empty text within the budget of the query.
func (a *Answer) NewText() *Text { return &Text{budget: a.budget} }

// Fits returns what a caller is told when the answer is too large, or was not
// there in time.
func (a *Answer) Fits() error {
	if a.budget.err != nil {
		return refused(a.budget.err)
	}
	return nil
}

// Close makes room for another query.
func (a *Answer) Close() {
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
}

// Cost is what a query took.
type Cost struct {
	Work       int64 // traversers handled and edges touched
	Bytes      int64 // memory that was kept at most
	Generation int64 // of the account
	Waited     time.Duration
	Ran        time.Duration
}

// Enter waits for room for a query that is not asked here but costs as much.
// Whoever was let in calls leave; too many of theirs at a time are fault.Limited,
// too many of all fault.Unavailable.
func (w *Walker) Enter(ctx context.Context, org posture.OrgID, caller string) (leave func(), err error) {
	return w.gate.enter(ctx, string(org), caller)
}

// Ask answers a query. What is wrong with its text, and a budget that does not
// suffice, is fault.Invalid; an account that the organisation does not have is
// fault.NotFound; queries that there is no room for fail as those of Enter. The
// budget is for the run and for the answer. Without an error, the answer must be
// closed.
func (w *Walker) Ask(ctx context.Context, q Query) (Answer, error) {
	plan, err := w.plans.Compile(q.Text, gremlin.CompileOptions{Budget: w.budget})
	if err != nil {
		// Whether the account is theirs comes before what is wrong with the text.
		if _, gone := w.graphs.Generation(ctx, q.Org, q.Account); gone != nil {
			return Answer{}, gone
		}
		return Answer{}, refused(err)
	}
	began := w.now()
	leave, err := w.gate.enter(ctx, string(q.Org), q.Caller)
	if err != nil {
		return Answer{}, err
	}
	task := gctune.Begin(w.budget.Memory)
	end := sync.OnceFunc(func() {
		task.End()
		leave()
	})
	waited := w.now().Sub(began)
	answered := false
	defer func() {
		if !answered {
			end()
		}
	}()

	// An entity that is removed between the graph and its record makes the answer
	// one of two generations; the second try sees the newer one alone.
	for try := 1; ; try++ {
		a, missing, err := w.run(ctx, q, plan, task)
		if err != nil {
			return Answer{}, err
		}
		if missing == 0 || try == 2 {
			a.Cost.Waited, a.leave, answered = waited, end, true
			return a, nil
		}
	}
}

// run runs a query once. It returns how many entities have no record any more.
func (w *Walker) run(ctx context.Context, q Query, plan *gremlin.Plan, task *gctune.Work) (Answer, int, error) {
	g, err := w.graphs.Graph(ctx, q.Org, q.Account)
	if err != nil {
		return Answer{}, 0, err
	}
	began := w.now()
	left := &budget{limit: w.budget, task: task}
	if w.budget.Time > 0 {
		left.deadline = time.Now().Add(w.budget.Time)
	}
	res, err := plan.Run(ctx, g.Graph, gremlin.RunOptions{Budget: w.budget, OnLarge: task.Grow})
	if err != nil {
		if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
			return Answer{}, 0, ctx.Err()
		}
		return Answer{}, 0, refused(err)
	}
	left.used = res.Held
	results := newResultBuilder(g.Graph, left)
	results.values.Raw("[")
	for i, item := range res.Items {
		results.add(item.Value, item.Bulk)
		res.Items[i] = gremlin.Item{} // what was written need not be kept
		if left.err != nil {
			return Answer{}, 0, refused(left.err)
		}
	}
	results.values.Raw("]")
	left.release(res.Held)
	a := Answer{
		Count: res.Count, Nodes: results.root.Children, Values: results.values, Edges: results.edges(), budget: left,
		Cost: Cost{Work: res.Work, Bytes: res.Bytes, Generation: g.Generation},
	}
	if q.Explain {
		a.Explain = plan.Explain()
	}
	ids := results.ids()
	if err := w.entities(ctx, q, &a, ids); err != nil {
		return Answer{}, 0, err
	}
	a.Cost.Bytes = max(res.Bytes, left.used)
	a.Cost.Ran = w.now().Sub(began)
	return a, len(ids) - a.Found, a.Fits()
}

// entityBatch is how many entities are read at a time: what they are before they
// are JSON is not part of the budget.
const entityBatch = 256

// entities writes the entities of an answer.
func (w *Walker) entities(ctx context.Context, q Query, a *Answer, ids []posture.EntityID) error {
	a.Entities = a.NewText()
	a.Entities.Raw("{")
	for batch := range slices.Chunk(ids, entityBatch) {
		found, err := w.store.EntitiesOf(ctx, q.Org, q.Account, batch)
		if err != nil {
			return err
		}
		for _, id := range batch {
			e, ok := found[id]
			if !ok {
				continue
			}
			data, err := q.Entity(e)
			if err != nil {
				return err
			}
			if a.Found++; a.Found > 1 {
				a.Entities.Raw(",")
			}
			a.Entities.String(string(id))
			a.Entities.Raw(":")
			write(a.Entities, data)
		}
		if err := a.Fits(); err != nil {
			return err
		}
	}
	a.Entities.Raw("}")
	return nil
}

// refused turns what the engine says about a query into what the caller did
// wrong.
func refused(err error) error {
	message := err.Error()
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		if excerpt := e.Excerpt(); excerpt != "" {
			message += "\n" + excerpt
		}
	}
	return &fault.Error{
		Kind: fault.Invalid, Message: "gremlin: " + message, Err: err,
		Details: []fault.Detail{queryfault.Detail("gremlin", message, err)},
	}
}
