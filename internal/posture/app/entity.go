package app

import (
	"cmp"
	"context"
	"time"

	"vigil/gremlin"
	"vigil/internal/config"
	"vigil/internal/job"
	"vigil/internal/posture"
	"vigil/internal/posture/walk"
)

// forgetArgs are the arguments of the job that deletes old change logs.
type forgetArgs struct{}

// Kind implements [job.Args].
func (forgetArgs) Kind() string { return "forget_changes" }

// handleEntityJobs registers the daily deletion of old change logs.
func (a *App) handleEntityJobs() error {
	retention := cmp.Or(a.o.Install.Config.Posture.ChangesKept, posture.ChangesKept)
	a.queue.Every("forget_changes", 24*time.Hour, forgetArgs{}, job.Options{Attempts: 3})
	return job.Handle(a.queue, time.Hour, func(ctx context.Context, _ job.Job[forgetArgs]) error {
		return a.store.ForgetChanges(ctx, a.o.Now().Add(-retention))
	})
}

// walkOptions returns the configured limits of graph queries. The default budget is
// that of interactive queries.
func walkOptions(g config.Graph, now func() time.Time) walk.Options {
	budget := gremlin.DefaultBudget
	budget.Traversers = cmp.Or(g.Work, budget.Traversers)
	budget.Results = cmp.Or(g.Results, budget.Results)
	budget.Time = cmp.Or(g.Time, budget.Time)
	budget.Memory = cmp.Or(g.MemoryMB<<20, budget.Memory)
	return walk.Options{
		Now: now, Budget: budget,
		Admission: walk.Admission{Total: g.Queries, Org: g.OrgQueries, Caller: g.TokenQueries, Queue: g.Waiting, Wait: g.Wait},
	}
}
