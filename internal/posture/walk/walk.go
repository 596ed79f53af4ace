// Package walk answers graph queries about accounts: it limits concurrent queries, runs
// them on the account's graph within a budget, and returns the results as nodes, entities
// and values. The API calls a [Walker]; rules are evaluated by package evaluate.
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

// Options limit the cost of queries. The zero value uses defaults.
type Options struct {
	Budget    gremlin.Budget // per query; gremlin.DefaultBudget for zero fields
	Admission Admission
	Now       func() time.Time // time.Now when nil
}

// Entities is the part of the store that a walker needs.
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

// A Query is a graph query with its context.
type Query struct {
	Org     posture.OrgID
	Account posture.AccountID
	Caller  string // id of the token or user
	Text    string // Gremlin text
	Explain bool   // include the execution plan

	// Entity encodes an entity of the response as JSON.
	Entity func(posture.Entity) ([]byte, error)
}

// An Answer is the result of a query. It occupies a place in the admission limits until it is
// closed, so it must be closed after it was sent.
type Answer struct {
	Count    int64 // number of results
	Nodes    []*Node
	Entities *Text  // JSON object of all entities in the response by id
	Found    int    // number of entities
	Values   *Text  // JSON array of the results that are not vertices
	Edges    []Edge // edges between the entities
	Cost     Cost
	Explain  *gremlin.Explanation // set when the query asks for it

	budget *budget
	leave  func()
}

// NewText returns an empty text within the budget of the query.
func (a *Answer) NewText() *Text { return &Text{budget: a.budget} }

// Fits returns the error for the caller when the response exceeds the memory or
// time budget, or nil.
func (a *Answer) Fits() error {
	if a.budget.err != nil {
		return queryError(a.budget.err)
	}
	return nil
}

// Close releases the query's place in the admission limits.
func (a *Answer) Close() {
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
}

// Cost is the cost of a query.
type Cost struct {
	Work       int64 // number of traversers processed and edges visited
	Bytes      int64 // peak memory
	Generation int64 // generation of the account's graph
	Waited     time.Duration
	Ran        time.Duration
}

// Admit waits until the limits of concurrent queries permit another one, as Ask does. Code that
// runs queries of similar cost without Ask must call Admit before, and leave afterwards. Admit
// fails with fault.Limited when the caller or organisation has too many queries, and with
// fault.Unavailable when the server has.
func (w *Walker) Admit(ctx context.Context, org posture.OrgID, caller string) (leave func(), err error) {
	return w.gate.enter(ctx, string(org), caller)
}

// Ask runs a query. It fails with fault.Invalid when the text is wrong or the
// budget is exceeded, with fault.NotFound when the organisation does not have
// the account, and like Admit when a limit of concurrent queries is reached. The
// budget covers the run and the response. Without an error, the answer must be
// closed.
func (w *Walker) Ask(ctx context.Context, q Query) (Answer, error) {
	plan, err := w.plans.Compile(q.Text, gremlin.CompileOptions{Budget: w.budget})
	if err != nil {
		// Access to the account is checked before errors in the text are reported.
		if _, genErr := w.graphs.Generation(ctx, q.Org, q.Account); genErr != nil {
			return Answer{}, genErr
		}
		return Answer{}, queryError(err)
	}
	start := w.now()
	leave, err := w.gate.enter(ctx, string(q.Org), q.Caller)
	if err != nil {
		return Answer{}, err
	}
	task := gctune.Begin(w.budget.Memory)
	end := sync.OnceFunc(func() {
		task.End()
		leave()
	})
	waited := w.now().Sub(start)
	answered := false
	defer func() {
		if !answered {
			end()
		}
	}()

	// If an entity was removed after the graph was loaded, the result mixes two generations of
	// the account. A second run uses a graph of the newer generation.
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

// run runs a query once. It returns the number of entities that no longer have a record.
func (w *Walker) run(ctx context.Context, q Query, plan *gremlin.Plan, task *gctune.Work) (Answer, int, error) {
	g, err := w.graphs.Graph(ctx, q.Org, q.Account)
	if err != nil {
		return Answer{}, 0, err
	}
	start := w.now()
	remaining := &budget{limit: w.budget, task: task}
	if w.budget.Time > 0 {
		remaining.deadline = time.Now().Add(w.budget.Time)
	}
	res, err := plan.Run(ctx, g.Graph, gremlin.RunOptions{Budget: w.budget, OnLarge: task.Grow})
	if err != nil {
		// err is a DeadlineExceeded if the query took too long: either the time of its budget or
		// the deadline of ctx has passed. With any other err, a ctx that is done was cancelled.
		if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
			return Answer{}, 0, ctx.Err()
		}
		return Answer{}, 0, queryError(err)
	}
	remaining.used, remaining.peak = res.Held, res.Bytes
	results := newResultBuilder(g.Graph, remaining)
	results.values.Raw("[")
	for i, item := range res.Items {
		results.add(item.Value, item.Bulk)
		res.Items[i] = gremlin.Item{} // release items that have been written
		if remaining.err != nil {
			return Answer{}, 0, queryError(remaining.err)
		}
	}
	results.values.Raw("]")
	remaining.release(res.Held)
	a := Answer{
		Count: res.Count, Nodes: results.root.Children, Values: results.values, Edges: results.edges(), budget: remaining,
		Cost: Cost{Work: res.Work, Generation: g.Generation},
	}
	if q.Explain {
		a.Explain = plan.Explain()
	}
	ids := results.ids()
	if err := w.entities(ctx, q, &a, ids); err != nil {
		return Answer{}, 0, err
	}
	a.Cost.Bytes, a.Cost.Ran = remaining.peak, w.now().Sub(start)
	return a, len(ids) - a.Found, a.Fits()
}

// entityBatch is the number of entities that are read at a time. It is small, because decoded
// entities are not counted against the budget.
const entityBatch = 256

// entities writes the entities of a response.
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
			a.Found++
			if a.Found > 1 {
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

// queryError converts an error of the query engine to fault.Invalid.
func queryError(err error) error {
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
