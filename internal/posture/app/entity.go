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

// forgetArgs asks for the change logs of entities that are long gone to be
// forgotten.
type forgetArgs struct{}

// Kind implements [job.Args].
func (forgetArgs) Kind() string { return "forget_changes" }

// handleEntityJobs has change logs forgotten once a day.
func (a *App) handleEntityJobs() error {
	kept := cmp.Or(a.o.Install.Config.Posture.ChangesKept, posture.ChangesKept)
	a.queue.Every("forget_changes", 24*time.Hour, forgetArgs{}, job.Options{Attempts: 3})
	return job.Handle(a.queue, time.Hour, func(ctx context.Context, _ job.Job[forgetArgs]) error {
		return a.store.ForgetChanges(ctx, a.o.Now().Add(-kept))
	})
}

// walkOptions bounds graph queries as the settings say. A budget is that of a
// query somebody typed where they say nothing.
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
