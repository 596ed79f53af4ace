package app

import (
	"slices"

	"vigil/internal/config"
	"vigil/internal/job"
)

// has reports whether this process has a role.
func (a *App) has(role string) bool { return slices.Contains(a.roles, role) }

// evaluating is the queue of rules that are to be evaluated.
const evaluating = "evaluate"

// queues returns the queues whose jobs a process with some roles does, and how many
// at once. Short jobs of the default queue and notifications are done by everyone who
// does jobs.
func queues(roles []string, collectors int) map[string]int {
	all := map[string]int{}
	for role, of := range map[string]struct {
		queue   string
		workers int
	}{
		config.RoleCollect: {collecting, collectors}, config.RoleEvaluate: {evaluating, 8}, config.RoleStream: {streaming, streamWorkers},
	} {
		if slices.Contains(roles, role) {
			all[of.queue], all["default"], all[notifying] = of.workers, 8, notifyWorkers
		}
	}
	return all
}

// shareLimits gives this process its part of the limits: those of the API are shared
// by all that answer requests, those of the clouds by all that call them.
func (a *App) shareLimits(living []job.Member) {
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
