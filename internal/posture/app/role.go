package app

import (
	"slices"

	"vigil/internal/config"
	"vigil/internal/job"
)

// has reports whether this process has a role.
func (a *App) has(role string) bool { return slices.Contains(a.roles, role) }

// evaluateQueue is the queue of rule evaluations.
const evaluateQueue = "evaluate"

// queues returns the queues of a process with the given roles, and their numbers of
// workers. Every process that runs jobs has the default queue, with short jobs, and
// notifications.
func queues(roles []string, collectors int) map[string]int {
	all := map[string]int{}
	for role, want := range map[string]struct {
		queue   string
		workers int
	}{
		config.RoleCollect: {collectQueue, collectors}, config.RoleEvaluate: {evaluateQueue, 8}, config.RoleStream: {streamQueue, streamWorkers},
	} {
		if slices.Contains(roles, role) {
			all[want.queue], all["default"], all[notifyQueue] = want.workers, 8, notifyWorkers
		}
	}
	return all
}

// divideRateLimits sets this process's share of the rate limits: API limits are divided
// among processes that serve requests, cloud limits among those that call the clouds.
func (a *App) divideRateLimits(living []job.Member) {
	api, callers := 0, 0
	for _, m := range living {
		if slices.Contains(m.Roles, config.RoleAPI) {
			api++
		}
		if slices.Contains(m.Roles, config.RoleCollect) || slices.Contains(m.Roles, config.RoleStream) {
			callers++
		}
	}
	a.mux.SetProcesses(api)
	if a.o.Limits != nil {
		a.o.Limits.SetProcesses(callers)
	}
}
