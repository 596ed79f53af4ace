package desktop

import "time"

// Condition is a component's health, in the same terms for every kind.
type Condition struct {
	Health Health `json:"health"`
	Since  Millis `json:"since,omitempty"` // since when the component has its status; absent before the first check
	Parts  []Part `json:"parts"`
}

// A Part is the status of a component's part: a connection server's view, a
// host, a service.
type Part struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Health Health `json:"health"`
	Since  Millis `json:"since,omitempty"`
}

// A LastStatus is the last known status of a component or a part.
type LastStatus struct {
	Kind   Kind
	ID     ID
	Part   string // empty for the component itself
	Status string
	Since  time.Time
}

// tracked is the last known status of a part and its cause. It is kept while
// the part is absent from the record, as when a server stops answering, so that
// a change is detected when the part is back.
type tracked struct {
	status string
	since  time.Time
	cause  Ref
}

// track compares a record with the last known statuses, fills in its Condition
// and returns the changes.
func (l *list) track(at time.Time, r Record) []Change {
	ref, fresh := r.Ref(), r.Fresh()
	known := l.tracked[ref.ID]
	if known == nil {
		known = make(map[string]tracked)
		l.tracked[ref.ID] = known
	}
	var changes []Change
	parts := []Part{}
	var since Millis
	for _, s := range r.Statuses() {
		old, ok := known[s.Part]
		if !ok && s.Unconfirmed(ref.Kind) { // the history begins with UNKNOWN instead of this error
			old, ok = tracked{status: string(HealthUnknown), since: at, cause: s.Cause(ref)}, true
			known[s.Part] = old
		}
		if ok && old.status != s.Status && s.Unchecked {
			// Not checked since the start: keep the last known status, which may be from before the restart.
			parts = appendPart(parts, ref.Kind, s, 0)
			continue
		}
		now := tracked{status: s.Status, since: old.since, cause: s.Cause(ref)}
		if !ok || old.status != s.Status {
			now.since = at
		}
		if ok && old.status != s.Status {
			changes = append(changes, changeOf(at, ref, s, old, now, fresh.Reasons))
		}
		known[s.Part] = now
		if s.Part == "" {
			since = MillisOf(now.since)
		}
		parts = appendPart(parts, ref.Kind, s, MillisOf(now.since))
	}
	if fresh.Condition != nil {
		fresh.Condition.Since, fresh.Condition.Parts = since, parts
	}
	return changes
}

// changeOf returns the description of a change. When the new status is good,
// the cause of the old status is the cause of the change.
func changeOf(at time.Time, ref Ref, s PartStatus, old, now tracked, reasons []string) Change {
	cause := now.cause
	if HealthOf(ref.Kind, s.Part, s.Status) == HealthOK && old.cause.Kind != "" {
		cause = old.cause
	}
	return Change{At: at, Ref: ref, Part: s.Part, From: old.status, To: s.Status, Reasons: reasons, Cause: cause}
}

func appendPart(parts []Part, k Kind, s PartStatus, since Millis) []Part {
	if s.Part == "" {
		return parts
	}
	health := HealthOf(k, s.Part, s.Status)
	if s.Unchecked {
		health = HealthUnknown
	}
	return append(parts, Part{Name: s.Part, Status: s.Status, Health: health, Since: since})
}

// RestoreStatuses sets the statuses from before the server started, so that a restart
// is not reported as a change. It must be called before the first Configure
// with components.
func (b *Board) RestoreStatuses(last []LastStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = b.now()
	for _, s := range last {
		l := b.lists[s.Kind]
		if l == nil {
			continue
		}
		if l.tracked[s.ID] == nil {
			l.tracked[s.ID] = make(map[string]tracked)
		}
		l.tracked[s.ID][s.Part] = tracked{status: s.Status, since: s.Since}
	}
}
