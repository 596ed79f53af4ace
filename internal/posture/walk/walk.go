// Package walk answers graph queries about accounts: it lets them in, runs them
// on the account's graph within a budget, and tells what they found as nodes,
// entities and values.
package walk

import (
	"context"
	"errors"
	"time"

	"vigil/gremlin"
	"vigil/gremlin/syntax"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/partition"
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
	graphs *partition.Graphs
	store  Entities
	budget gremlin.Budget
	gate   *gate
	plans  gremlin.Cache
	now    func() time.Time
}

// New returns a walker over the graphs of accounts.
func New(graphs *partition.Graphs, store Entities, o Options) *Walker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Walker{graphs: graphs, store: store, budget: o.Budget, gate: newGate(o.Admission), now: o.Now}
}

// A Query is what somebody asks.
type Query struct {
	Org     posture.OrgID
	Account posture.AccountID
	Caller  string // who asks: the id of a token or user
	Text    string // in Gremlin
	Explain bool   // also say how it is run
}

// A Node is a vertex of an answer, and what was reached from it.
type Node struct {
	ID       posture.EntityID
	Children []*Node
}

// An Answer is what a query found.
type Answer struct {
	Count    int64 // results
	Nodes    []*Node
	Entities map[posture.EntityID]posture.Entity
	Values   []any  // results that are no vertices, as JSON knows them
	Edges    []Edge // between the entities of the answer
	Cost     Cost
	Explain  *gremlin.Explanation // when it was asked for
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
// fault.NotFound; queries that there is no room for fail as those of Enter.
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
	defer leave()
	waited := w.now().Sub(began)

	// An entity that is removed between the graph and its record makes the answer
	// one of two generations; the second try sees the newer one alone.
	for try := 1; ; try++ {
		a, missing, err := w.run(ctx, q, plan)
		if err != nil || missing == 0 || try == 2 {
			a.Cost.Waited = waited
			return a, err
		}
	}
}

// run runs a query once. It returns how many entities have no record any more.
func (w *Walker) run(ctx context.Context, q Query, plan *gremlin.Plan) (Answer, int, error) {
	g, err := w.graphs.Graph(ctx, q.Org, q.Account)
	if err != nil {
		return Answer{}, 0, err
	}
	began := w.now()
	res, err := plan.Run(ctx, g.Graph, gremlin.RunOptions{Budget: w.budget})
	if err != nil {
		if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
			return Answer{}, 0, ctx.Err()
		}
		return Answer{}, 0, refused(err)
	}
	teller := newTeller(g.Graph)
	for _, item := range res.Items {
		teller.tell(item.Value, item.Bulk)
	}
	a := Answer{
		Count: res.Count, Nodes: teller.nodes.list(), Values: teller.values, Edges: teller.edges(),
		Cost: Cost{Work: res.Work, Bytes: res.Bytes, Generation: g.Generation, Ran: w.now().Sub(began)},
	}
	if q.Explain {
		a.Explain = plan.Explain()
	}
	ids := teller.ids()
	a.Entities, err = w.store.EntitiesOf(ctx, q.Org, q.Account, ids)
	if a.Entities == nil {
		a.Entities = map[posture.EntityID]posture.Entity{}
	}
	return a, len(ids) - len(a.Entities), err
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
