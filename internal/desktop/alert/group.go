package alert

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"vigil/internal/desktop"
)

// groupSpace is the UUID name space of group ids.
var groupSpace = uuid.MustParse("7f0c7a52-7f0e-5f43-9d0b-2f6b3c1c9a11")

// GroupID returns the id of the group of a rule's alerts with the same cause.
// It depends only on the arguments.
func GroupID(ruleID string, cause desktop.Ref) string {
	return uuid.NewSHA1(groupSpace, []byte(ruleID+"/"+string(cause.Kind)+"/"+string(cause.ID))).String()
}

// Group returns the id of the alert's group.
func (a Alert) Group() string { return GroupID(a.RuleID, a.Cause) }

// Open reports whether an alert is not resolved.
func (a Alert) Open() bool { return a.State != Resolved }

// A Note contains what administrators set on a group of alerts.
type Note struct {
	Group  string
	RuleID string

	// No notice of an acknowledged group is repeated until it is resolved.
	AcknowledgedBy string
	AcknowledgedAt time.Time // zero if not acknowledged
	Comment        string

	// No notice of a silenced group is sent.
	SilencedBy    string
	SilencedUntil time.Time // zero if not silenced
	SilenceReason string
}

// Silenced reports whether notices are suppressed.
func (n Note) Silenced(now time.Time) bool { return now.Before(n.SilencedUntil) }

// empty reports whether a note has no effect.
func (n Note) empty(now time.Time) bool { return n.AcknowledgedAt.IsZero() && !n.Silenced(now) }

// An Episode is the alerts of one group from the first that was raised until
// the last was resolved.
type Episode struct {
	Group  string
	RuleID string
	Cause  desktop.Ref
	State  State     // Firing if any alert fires, else Pending if any is pending
	Since  time.Time // of the first alert
	Ended  time.Time // of the last alert; zero while one is open
	Alerts []Alert   // oldest first
}

// episodeGap is the longest time between two alerts of the same episode.
const episodeGap = time.Minute

// Episodes groups alerts into episodes, newest first.
func Episodes(alerts []Alert) []Episode {
	sorted := slices.Clone(alerts)
	slices.SortStableFunc(sorted, func(a, b Alert) int { return a.Since.Compare(b.Since) })
	last := make(map[string]int) // group -> index of its newest episode
	var out []Episode
	for _, a := range sorted {
		i, ok := last[a.Group()]
		if !ok || !out[i].Ended.IsZero() && a.Since.Sub(out[i].Ended) > episodeGap {
			i = len(out)
			last[a.Group()] = i
			// These are initial values of State and Ended; add changes them.
			out = append(out, Episode{Group: a.Group(), RuleID: a.RuleID, Cause: a.Cause, Since: a.Since, State: Resolved, Ended: a.Since})
		}
		out[i].add(a)
	}
	slices.SortStableFunc(out, func(a, b Episode) int { return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Group, b.Group)) })
	return out
}

func (e *Episode) add(a Alert) {
	e.Alerts = append(e.Alerts, a)
	if a.State == Firing || a.State == Pending && e.State == Resolved {
		e.State = a.State
	}
	switch {
	case a.Open():
		e.Ended = time.Time{}
	case !e.Ended.IsZero() && a.ResolvedAt.After(e.Ended):
		e.Ended = a.ResolvedAt
	}
}

// quietTime is the time after a notice of a group in which alerts that join the
// group cause no notice: they are most likely consequences of the same event.
const quietTime = 5 * time.Minute

// oneNoticePerGroup reduces the notices of a rule: a group causes one notice when its
// first alert fires, one when others join it and its last notice is at least quietTime
// old, and one when its last firing alert is resolved. It drops the notices of silenced groups.
func oneNoticePerGroup(r Rule, changes []Transition, existing []Alert, notes map[string]Note, now time.Time) {
	after := make(map[string]Alert) // open alerts after the transitions
	for _, a := range existing {
		if a.Open() {
			after[a.Key()] = a
		}
	}
	for _, t := range changes {
		if t.Gone || !t.Alert.Open() {
			delete(after, t.Alert.Key())
		} else {
			after[t.Alert.Key()] = t.Alert
		}
	}
	open, firing := make(map[string]int), make(map[string]int)
	for _, a := range after {
		open[a.Group()]++
		if a.State == Firing {
			firing[a.Group()]++
		}
	}
	lastNotice := func(self Alert) (last time.Time) { // of the other alerts of its group
		for _, a := range existing {
			if a.State == Firing && a.Key() != self.Key() && a.Group() == self.Group() && a.NotifiedAt.After(last) {
				last = a.NotifiedAt
			}
		}
		return last
	}
	notified := make(map[string]bool)
	for i, t := range changes {
		group := t.Alert.Group()
		note := notes[group]
		var drop bool
		switch {
		case len(t.Send) == 0:
			continue
		case note.Silenced(now):
			drop = true
			if t.Alert.State == Firing {
				changes[i].Alert.NotifiedAt = time.Time{} // it is sent when the silence ends
			}
		case t.Alert.State == Resolved:
			// Pending alerts do not suppress this notice: they may end without a notice of their own.
			drop = notified[group] || firing[group] > 0
		case !notified[group]:
			within := quietTime
			if t.repeat {
				within = min(quietTime, r.Repeat) // a rule may repeat its notices more often than every quietTime
			}
			if last := lastNotice(t.Alert); now.Sub(last) < within {
				drop = true
				// Keep the time of the notice that was sent: if the alert had its own time, two alerts would suppress each other for ever.
				changes[i].Alert.NotifiedAt = last
			}
		default:
			drop = true
		}
		if drop {
			changes[i].Send = nil
			continue
		}
		notified[group] = true
		others := open[group]
		if t.Alert.Open() {
			others--
		}
		for j := range t.Send {
			changes[i].Send[j].Notice.Related = others
		}
	}
}
