package alert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/meter"
)

// finding is a subject that meets a condition, with the reason.
type finding struct {
	subject     Subject
	summary     string
	cause       desktop.Ref
	unconfirmed bool // it is not known whether the condition holds, as before the first check: an open alert stays, and none is raised
}

// find returns the subjects among the records that meet a condition.
func (n Condition) find(records []desktop.Record, now time.Time) []finding {
	var found []finding
	for _, r := range records {
		ref := r.Ref()
		if !n.isAbout(ref) {
			continue
		}
		cause := ref
		if statuses := r.Statuses(); len(statuses) > 0 {
			cause = statuses[0].Cause(ref)
		}
		raise := func(part, format string, args ...any) {
			found = append(found, finding{
				subject: Subject{ref, part}, summary: fmt.Sprintf(format, args...), cause: cause,
				unconfirmed: n.Type == CountIs && desktop.Unchecked(r, part),
			})
		}
		switch n.Type {
		case CertificateExpires:
			n.findCertificates(r, now, raise)
		case StatusIs:
			found = append(found, n.findStatuses(r)...)
		case CountIs:
			n.findCounts(r, raise)
		}
	}
	return found
}

// isAbout reports whether a condition applies to a component.
func (n Condition) isAbout(ref desktop.Ref) bool {
	return (n.Kind == "" || ref.Kind == n.Kind) && (n.Component == "" || ref.ID == n.Component)
}

// unconfirmed returns findings about the open alerts whose subjects were not checked since the start, or whose
// certificates were not seen: it is not known whether their condition still holds. If the type of the rule's condition was
// changed after an alert was raised, the alert is not among them, because it is about another condition.
func (r Rule) unconfirmed(alerts []Alert, records []desktop.Record) (found []finding) {
	if len(alerts) == 0 {
		return nil
	}
	isUnknown := desktop.Unchecked
	if r.Condition.Type == CertificateExpires {
		isUnknown = desktop.CertificateUnknown
	}
	all := make(map[desktop.Kind]map[desktop.ID]desktop.Record)
	for _, record := range records {
		ref := record.Ref()
		if all[ref.Kind] == nil {
			all[ref.Kind] = make(map[desktop.ID]desktop.Record)
		}
		all[ref.Kind][ref.ID] = record
	}
	for _, a := range alerts {
		record, ok := all[a.Subject.Ref.Kind][a.Subject.Ref.ID]
		if ok && !a.Since.Before(r.TypeSince) && r.Condition.isAbout(record.Ref()) && isUnknown(record, a.Subject.Part) {
			found = append(found, finding{subject: a.Subject, unconfirmed: true})
		}
	}
	return found
}

type raiser func(part, format string, args ...any)

func (n Condition) findCertificates(r desktop.Record, now time.Time, raise raiser) {
	for _, p := range r.Certificates() {
		expiry := p.Certificate.ValidTo.Time()
		remaining := expiry.Sub(now)
		switch {
		case remaining <= 0:
			raise(p.Part, "the certificate expired on %s", expiry.Format(time.DateOnly))
		case remaining <= time.Duration(n.Days)*24*time.Hour:
			raise(p.Part, "the certificate expires on %s, %s", expiry.Format(time.DateOnly), desktop.RemainingDays(remaining))
		}
	}
}

func (n Condition) findStatuses(r desktop.Record) (found []finding) {
	ref := r.Ref()
	for _, s := range r.Statuses() {
		if !slices.ContainsFunc(n.Statuses, func(want string) bool { return strings.EqualFold(want, s.Status) }) {
			continue
		}
		if s.Unchecked && s.Disabled {
			continue // the status is meaningless, and no check will follow
		}
		reason := ""
		if reasons := r.Fresh().Reasons; len(reasons) > 0 {
			reason = ": " + strings.Join(reasons[:min(len(reasons), 5)], "; ")
		}
		found = append(found, finding{
			subject: Subject{ref, s.Part}, summary: StatusSummary(s.Status) + reason, cause: s.Cause(ref),
			unconfirmed: s.Unchecked,
		})
	}
	return found
}

// StatusSummary returns the beginning of the summary of an alert on a status.
func StatusSummary(status string) string { return "the status is " + desktop.InWords(status) }

func (n Condition) findCounts(r desktop.Record, raise raiser) {
	for _, m := range meter.Of(r) {
		if m.Name != n.Measure {
			continue
		}
		switch {
		case n.Operator == Above && m.Value > n.Value:
			raise(m.Part, "%s is %d, above %d", desktop.InWords(m.Name), m.Value, n.Value)
		case n.Operator == Below && m.Value < n.Value:
			raise(m.Part, "%s is %d, below %d", desktop.InWords(m.Name), m.Value, n.Value)
		}
	}
}

// transitions compares the findings of a rule with its alerts and returns the
// transitions. It is a pure function except for newID, which generates the ids
// of deliveries.
func transitions(r Rule, found []finding, existing []Alert, notes map[string]Note, now time.Time, newID func() string) []Transition {
	open := map[string]Alert{}
	for _, a := range existing {
		if a.State != Resolved {
			open[a.Key()] = a
		}
	}
	var out []Transition
	seen := map[string]bool{} // parts of a component may have the same name; the first finding counts
	for _, f := range found {
		a := Alert{RuleID: r.ID, Subject: f.subject, Cause: f.cause, State: Pending, Since: now}
		if seen[a.Key()] {
			continue
		}
		seen[a.Key()] = true
		old, known := open[a.Key()]
		delete(open, a.Key())
		if f.unconfirmed {
			continue
		}
		previous := State("")
		if known {
			a, previous = old, old.State
		}
		a.Summary = f.summary
		rule := r
		if !notes[a.Group()].AcknowledgedAt.IsZero() {
			rule.Repeat = 0 // the notices of an acknowledged group are not repeated
		}
		if t, changed := rule.advance(a, previous, now, newID); changed {
			out = append(out, t)
		}
	}
	for _, a := range open {
		out = append(out, r.end(a, now, newID))
	}
	// Sort the alert about the cause itself first: its notice represents the group.
	slices.SortFunc(out, func(a, b Transition) int {
		return cmp.Or(cmp.Compare(a.distanceFromCause(), b.distanceFromCause()), strings.Compare(a.Alert.Key(), b.Alert.Key()))
	})
	oneNoticePerGroup(r, out, existing, notes, now)
	// A firing alert whose notice was dropped by a silence does not change: without this, every evaluation would store it again.
	return slices.DeleteFunc(out, func(t Transition) bool {
		return t.Was == Firing && t.Alert.State == Firing && t.Alert.NotifiedAt.IsZero()
	})
}

// distanceFromCause returns 0 for an alert about its cause itself, 1 about a part of
// it and 2 about another component.
func (t Transition) distanceFromCause() int {
	switch {
	case t.Alert.Subject.Ref != t.Alert.Cause:
		return 2
	case t.Alert.Subject.Part != "":
		return 1
	}
	return 0
}

// advance returns the transition of an alert whose condition holds, and whether there is one.
func (r Rule) advance(a Alert, old State, now time.Time, newID func() string) (Transition, bool) {
	t := Transition{RuleVersion: r.Version, Was: old, Alert: a}
	switch {
	case old != Firing && now.Sub(a.Since) >= r.For:
		t.Alert.State, t.Alert.FiredAt, t.Alert.NotifiedAt = Firing, now, now
		t.Send = r.deliveries(t.Alert, now, newID)
		return t, true
	case old == "":
		return t, true
	case old == Firing && a.NotifiedAt.IsZero(): // it fired while silenced
		t.Alert.NotifiedAt = now
		t.Send = r.deliveries(t.Alert, now, newID)
		return t, true
	case old == Firing && r.Repeat > 0 && now.Sub(a.NotifiedAt) >= r.Repeat:
		t.Alert.NotifiedAt, t.repeat = now, true
		t.Send = r.deliveries(t.Alert, now, newID)
		return t, true
	}
	return t, false
}

// end returns the transition of an alert whose condition no longer holds. A
// pending alert is deleted.
func (r Rule) end(a Alert, now time.Time, newID func() string) Transition {
	t := Transition{RuleVersion: r.Version, Was: a.State, Alert: a}
	if a.State == Pending {
		t.Gone = true
		return t
	}
	t.Alert.State, t.Alert.ResolvedAt = Resolved, now
	if !a.NotifiedAt.IsZero() {
		t.Send = r.deliveries(t.Alert, now, newID)
	}
	return t
}

// expiry is how long a notice is retried.
const expiry = 24 * time.Hour

func (r Rule) deliveries(a Alert, now time.Time, newID func() string) []Delivery {
	out := make([]Delivery, len(r.Channels))
	for i, ch := range r.Channels {
		out[i] = Delivery{
			ID: newID(), RuleID: r.ID, Channel: i, Target: ch.Target(), NextAt: now, ExpireAt: now.Add(expiry),
			Notice: Notice{RuleID: r.ID, RuleName: r.Name, Alert: a, At: now},
		}
	}
	return out
}
