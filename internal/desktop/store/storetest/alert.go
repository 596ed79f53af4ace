package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/fault"
	"vigil/internal/secret"
)

func rule(id string) alert.Rule {
	return alert.Rule{
		ID: id, Name: "rule " + id, Enabled: true,
		Condition: alert.Condition{Type: alert.StatusIs, Kind: desktop.KindGateway, Statuses: []string{"STALE"}},
		For:       time.Minute, Repeat: time.Hour,
		Channels: []alert.Channel{
			{Type: alert.Webhook, URL: "https://hooks.example/x", Secret: secret.NewText("hush")},
			{Type: alert.Mail, To: []string{"ops@corp.example"}},
		},
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
}

// equalTexts compares secrets, whose fields are not exported.
var equalTexts = cmp.Comparer(func(a, b secret.Text) bool { return a.Equal(b) })

func rulesKeepSecrets(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("b")))
	must(t, s.AddRule(ctx, rule("a")))
	all, err := s.Rules(ctx)
	must(t, err)
	if diff := cmp.Diff([]alert.Rule{rule("a"), rule("b")}, all, equalTexts); diff != "" {
		t.Error(diff)
	}
	must(t, s.DeleteRule(ctx, "a"))
	wantKind(t, s.DeleteRule(ctx, "a"), fault.NotFound)
	wantKind(t, errorOf(s.Rule(ctx, "a")), fault.NotFound)
}

func rulesByVersion(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("a")))
	next := rule("a")
	next.SetCondition(alert.Condition{Type: alert.CertificateExpires, Days: 7}, after(time.Minute))
	next.Name, next.Enabled, next.Version, next.Channels = "renamed", false, 2, next.Channels[1:]
	must(t, s.ReplaceRule(ctx, next, 1))
	wantKind(t, s.ReplaceRule(ctx, next, 1), fault.Stale)
	wantKind(t, s.ReplaceRule(ctx, rule("none"), 1), fault.NotFound)
	got, err := s.Rule(ctx, "a")
	must(t, err)
	if diff := cmp.Diff(next, got, equalTexts); diff != "" {
		t.Error(diff)
	}
}

func firingAlert(ruleID string) alert.Alert {
	return alert.Alert{
		RuleID: ruleID, State: alert.Firing, Summary: "the status is STALE",
		Subject: alert.Subject{Ref: desktop.Ref{Kind: desktop.KindGateway, ID: "g1", Name: "edge"}, Part: "p"},
		Cause:   desktop.Ref{Kind: desktop.KindFarm, ID: "f1", Name: "farm"},
		Since:   now, FiredAt: after(time.Minute), NotifiedAt: after(time.Minute),
	}
}

func delivery(id string, a alert.Alert, due time.Time) alert.Delivery {
	return alert.Delivery{
		ID: id, RuleID: a.RuleID, Channel: 1, Target: "t", NextAt: due, ExpireAt: due.Add(time.Hour),
		Notice: alert.Notice{RuleID: a.RuleID, RuleName: "rule", Alert: a, At: due},
	}
}

// failedDelivery returns a delivery of firingAlert("a") that failed.
func failedDelivery(id string, attempts int, next time.Time) alert.Delivery {
	d := delivery(id, firingAlert("a"), now)
	d.Attempts, d.NextAt = attempts, next
	return d
}

// storeAttempts stores the attempts of a delivery one after the other, because Postpone accepts only the next one.
func storeAttempts(t *testing.T, s Store, d alert.Delivery) {
	t.Helper()
	for n := range d.Attempts {
		each := d
		each.Attempts = n + 1
		must(t, s.Postpone(t.Context(), each))
	}
}

func alertsWithNotices(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("a")))
	fired := firingAlert("a")
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Alert: fired, Send: []alert.Delivery{delivery("d1", fired, after(time.Minute))}}}))
	open, err := s.Alerts(ctx, after(time.Hour))
	must(t, err)
	if diff := cmp.Diff([]alert.Alert{fired}, open); diff != "" {
		t.Error(diff)
	}
	ended := fired
	ended.State, ended.ResolvedAt = alert.Resolved, after(2*time.Minute)
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Was: alert.Firing, Alert: ended, Send: []alert.Delivery{delivery("d2", ended, after(2*time.Minute))}}}))
	open, err = s.Alerts(ctx, after(2*time.Minute))
	if err != nil || len(open) != 0 {
		t.Errorf("open after it was resolved: %v, %v", open, err)
	}
	if recent, err := s.Alerts(ctx, after(time.Minute)); err != nil || len(recent) != 1 {
		t.Errorf("recently resolved: %v, %v", recent, err)
	}
	due, err := s.Claim(ctx, after(2*time.Minute), time.Minute, alert.Capacity{Total: 10})
	must(t, err)
	want := []alert.Delivery{delivery("d1", fired, after(time.Minute)), delivery("d2", ended, after(2*time.Minute))}
	if diff := cmp.Diff(want, due); diff != "" {
		t.Error(diff)
	}
	second := raisedAgain(fired, after(3*time.Minute))
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Alert: second}}))
	open, err = s.Alerts(ctx, after(time.Hour))
	if err != nil || len(open) != 1 {
		t.Errorf("open again: %v, %v", open, err)
	}
	all, err := s.Alerts(ctx, now)
	must(t, err)
	if diff := cmp.Diff([]alert.Alert{second, ended}, all); diff != "" {
		t.Errorf("the new alert replaced the resolved one: %s", diff)
	}
	must(t, s.Forget(ctx, ended.ResolvedAt, now)) // none was resolved before this time
	if all, err = s.Alerts(ctx, now); err != nil || len(all) != 2 {
		t.Errorf("resolved at the time before which alerts are forgotten: %v, %v", all, err)
	}
	must(t, s.Forget(ctx, ended.ResolvedAt.Add(time.Millisecond), now))
	all, err = s.Alerts(ctx, now)
	must(t, err)
	if diff := cmp.Diff([]alert.Alert{second}, all); diff != "" {
		t.Errorf("after the resolved alert was forgotten: %s", diff)
	}
	must(t, s.DeleteRule(ctx, "a"))
	open, err = s.Alerts(ctx, now)
	if err != nil || len(open) != 0 {
		t.Errorf("open without its rule: %v, %v", open, err)
	}
}

func alertsStale(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("a")))
	fired := firingAlert("a")
	first := alert.Transition{RuleVersion: 1, Alert: fired, Send: []alert.Delivery{delivery("d1", fired, now)}}
	twin := alert.Transition{RuleVersion: 1, Alert: fired, Send: []alert.Delivery{delivery("d2", fired, now)}}
	orphan := firingAlert("none") // of a rule that does not exist
	must(t, s.Apply(ctx, []alert.Transition{first, twin, {RuleVersion: 1, Alert: orphan}}))
	pending := fired // as read by a process before the alert fired; the process deletes it
	pending.State = alert.Pending
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Was: alert.Pending, Alert: pending, Gone: true}}))
	open, err := s.Alerts(ctx, now)
	must(t, err)
	if diff := cmp.Diff([]alert.Alert{fired}, open); diff != "" {
		t.Error(diff)
	}
	due, err := s.Claim(ctx, now, time.Minute, alert.Capacity{Total: 10})
	must(t, err)
	if diff := cmp.Diff([]alert.Delivery{delivery("d1", fired, now)}, due); diff != "" {
		t.Error(diff)
	}
}

func deliveriesClaimed(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("a")))
	fired := firingAlert("a")
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Alert: fired, Send: []alert.Delivery{
		delivery("d1", fired, now), delivery("d2", fired, now), delivery("d3", fired, after(time.Hour)),
	}}}))
	claimed := 0
	for _, n := range concurrently(6, func(int) int {
		due, err := s.Claim(ctx, now, time.Minute, alert.Capacity{Total: 1})
		if err != nil {
			t.Error(err)
		}
		return len(due)
	}) {
		claimed += n
	}
	if claimed != 2 {
		t.Errorf("two due deliveries were claimed %d times", claimed)
	}
	must(t, s.Delivered(ctx, "d1"))
	refused := failedDelivery("d2", 3, after(30*time.Second))
	refused.Error = "refused"
	storeAttempts(t, s, refused)
	due, err := s.Claim(ctx, after(30*time.Second), time.Minute, alert.Capacity{Total: 10})
	must(t, err)
	want := delivery("d2", fired, after(30*time.Second))
	want.Attempts, want.Error = 3, "refused"
	want.ExpireAt, want.Notice.At = now.Add(time.Hour), now
	if diff := cmp.Diff([]alert.Delivery{want}, due); diff != "" {
		t.Error(diff)
	}
	must(t, s.Forget(ctx, now, after(24*time.Hour)))
	due, err = s.Claim(ctx, after(48*time.Hour), time.Minute, alert.Capacity{Total: 10})
	if err != nil || len(due) != 0 {
		t.Errorf("expired: %v, %v", due, err)
	}
}

// deliveriesOrdered has two deliveries of one group to one channel, and others that do not wait for them.
func deliveriesOrdered(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("a")))
	fired := firingAlert("a")
	other := fired
	other.Cause.ID = "f2"
	elsewhere := delivery("d4", fired, after(2*time.Second))
	elsewhere.Target = "u"
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Alert: fired, Send: []alert.Delivery{
		delivery("d2", fired, now), delivery("d1", fired, after(time.Second)), delivery("d3", other, after(2*time.Second)), elsewhere,
	}}}))
	wantClaimed := func(at time.Time, lease time.Duration, limit int, want ...string) {
		t.Helper()
		due, err := s.Claim(ctx, at, lease, alert.Capacity{Total: limit})
		must(t, err)
		var got []string
		for _, d := range due {
			got = append(got, d.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("claimed %q, want %q", got, want)
		}
	}
	wantClaimed(now, time.Minute, 10, "d2")
	wantClaimed(after(2*time.Second), time.Second, 10, "d3", "d4") // d2 is being sent
	must(t, s.Postpone(ctx, failedDelivery("d2", 1, after(time.Minute))))
	wantClaimed(after(30*time.Second), 45*time.Second, 10, "d3", "d4")
	wantClaimed(after(time.Minute), time.Second, 1, "d2")
	wantClaimed(after(2*time.Minute), time.Second, 2, "d2", "d1") // due for longer than d3 and d4, whose leases ended later
	must(t, s.Delivered(ctx, "d2"))
	wantClaimed(after(3*time.Minute), time.Second, 10, "d1", "d3", "d4")

	// A new delivery does not wait for the retry of an earlier one of its group: that retry is sent first, at once.
	storeAttempts(t, s, failedDelivery("d1", 9, after(time.Hour)))
	d3 := delivery("d3", other, now)
	d3.Attempts, d3.NextAt = 9, after(time.Hour)
	storeAttempts(t, s, d3)
	ended := fired
	ended.State, ended.ResolvedAt = alert.Resolved, after(4*time.Minute)
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Was: alert.Firing, Alert: ended, Send: []alert.Delivery{delivery("d5", ended, after(4*time.Minute))}}}))
	wantClaimed(after(4*time.Minute), time.Second, 10, "d1", "d4", "d5") // d3 is of another group and stays postponed

	// An evaluation that began before another process claimed a delivery does not make the claimed delivery due.
	wantClaimed(after(5*time.Minute), alert.Lease, 10, "d1", "d4", "d5")
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Alert: raisedAgain(fired, after(4*time.Minute)), Send: []alert.Delivery{delivery("d6", fired, after(5*time.Minute-time.Second))}}}))
	wantClaimed(after(5*time.Minute+time.Second), alert.Lease, 10)
}

// deliveriesFair has more deliveries that are due than one Claim returns. Those to a receiver that does not answer
// must not be retried before others are sent for the first time.
func deliveriesFair(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("a")))
	fired := firingAlert("a")
	other := fired
	other.Cause.ID = "f2"
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Alert: fired, Send: []alert.Delivery{
		delivery("d1", fired, now), delivery("d2", fired, after(time.Second)), delivery("d3", other, after(2*time.Second)),
	}}}))
	claim := func(at time.Time, want string) {
		t.Helper()
		due, err := s.Claim(ctx, at, time.Minute, alert.Capacity{Total: 1})
		must(t, err)
		if len(due) != 1 || due[0].ID != want {
			t.Errorf("claimed %+v, want %s", due, want)
		}
	}
	claim(after(3*time.Second), "d1")
	must(t, s.Postpone(ctx, failedDelivery("d1", 1, after(8*time.Second))))
	claim(after(33*time.Second), "d3") // it was due before d1, and before d2, which waits for d1
	claim(after(33*time.Second), "d1")
}

// deliveriesShared has many deliveries to one receiver that are due for longer than one to another. The limit of a
// receiver includes the deliveries that the caller claimed before.
func deliveriesShared(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("a")))
	fired := firingAlert("a")
	var all []alert.Delivery
	for n := range 5 {
		group := fired
		group.Cause.ID = desktop.ID(fmt.Sprint("f", n))
		all = append(all, delivery(fmt.Sprint("d", n), group, now))
	}
	elsewhere := delivery("d5", fired, after(time.Second))
	elsewhere.Target = "u"
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Alert: fired, Send: append(all, elsewhere)}}))
	wantClaimed := func(c alert.Capacity, want ...string) {
		t.Helper()
		due, err := s.Claim(ctx, after(time.Second), time.Minute, c)
		must(t, err)
		var got []string
		for _, d := range due {
			got = append(got, d.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("claimed %q, want %q", got, want)
		}
	}
	wantClaimed(alert.Capacity{Total: 2, PerReceiver: 3, Sending: map[string]int{"t": 2, "u": 2}}, "d0", "d5")
	wantClaimed(alert.Capacity{Total: 3, PerReceiver: 2}, "d1", "d2")
	wantClaimed(alert.Capacity{Total: 3, PerReceiver: 2, Sending: map[string]int{"t": 3}})
	wantClaimed(alert.Capacity{Total: 3}, "d3", "d4")
}

// deliveriesRetargeted corrects the URL of a webhook that has one delivery postponed for long and one claimed, and
// removes the other channel. Only the delivery to that channel is dropped.
func deliveriesRetargeted(t *testing.T, s Store) {
	ctx := t.Context()
	r := rule("a")
	must(t, s.AddRule(ctx, r))
	fired := firingAlert("a")
	other := fired
	other.Cause.ID = "f2"
	to := func(channel int, id string, a alert.Alert) alert.Delivery {
		d := delivery(id, a, now)
		d.Channel, d.Target = channel, r.Channels[channel].Target()
		return d
	}
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Alert: fired, Send: []alert.Delivery{
		to(0, "postponed", fired), to(0, "claimed", other), to(1, "removed", fired),
	}}}))
	refused := to(0, "postponed", fired)
	refused.Attempts, refused.NextAt, refused.Error = 9, after(time.Hour), "not found"
	storeAttempts(t, s, refused)
	due, err := s.Claim(ctx, now, alert.Lease, alert.Capacity{Total: 10})
	if err != nil || len(due) != 2 {
		t.Fatalf("claimed %+v, %v; want two deliveries", due, err)
	}

	next := r
	next.Version, next.UpdatedAt = 2, after(time.Second)
	next.Channels = []alert.Channel{{Type: alert.Webhook, URL: "https://hooks.example/corrected"}}
	must(t, s.ReplaceRule(ctx, next, 1))

	// Attempts to send to the old URL and to the removed channel end after the correction, as does an evaluation that read the
	// old rule.
	claimed := to(0, "claimed", other)
	claimed.Attempts, claimed.NextAt = 1, after(time.Hour)
	must(t, s.Postpone(ctx, claimed))
	must(t, s.Drop(ctx, claimed))
	must(t, s.Drop(ctx, to(1, "removed", fired)))
	ended := fired
	ended.State, ended.ResolvedAt = alert.Resolved, after(time.Second)
	must(t, s.Apply(ctx, []alert.Transition{{RuleVersion: 1, Was: alert.Firing, Alert: ended, Send: []alert.Delivery{to(0, "outdated", ended)}}}))

	target := next.Channels[0].Target()
	want := to(0, "postponed", fired)
	want.Target, want.NextAt, want.Error = target, next.UpdatedAt, "not found"
	due, err = s.Claim(ctx, next.UpdatedAt, alert.Lease, alert.Capacity{Total: 10})
	must(t, err)
	if diff := cmp.Diff([]alert.Delivery{want}, due); diff != "" {
		t.Errorf("due at once: %s", diff)
	}
	due, err = s.Claim(ctx, after(2*alert.Lease), alert.Lease, alert.Capacity{Total: 10})
	must(t, err)
	targets := make(map[string]string)
	for _, d := range due {
		targets[d.ID] = d.Target
	}
	wantTargets := map[string]string{"postponed": target, "claimed": target}
	if diff := cmp.Diff(wantTargets, targets); diff != "" {
		t.Errorf("targets: %s", diff)
	}
}

// raisedAgain returns the next alert about the subject of an alert that was resolved.
func raisedAgain(a alert.Alert, since time.Time) alert.Alert {
	a.Since, a.FiredAt, a.NotifiedAt = since, since, since
	return a
}

func notesOfGroups(t *testing.T, s Store) {
	ctx := t.Context()
	must(t, s.AddRule(ctx, rule("a")))
	_, err := s.ChangeNote(ctx, "g", "none", now, func(*alert.Note) {})
	wantKind(t, err, fault.NotFound)
	want := alert.Note{Group: "g", RuleID: "a", AcknowledgedBy: "admin", AcknowledgedAt: now, Comment: "on it"}
	got, err := s.ChangeNote(ctx, "g", "a", now, func(n *alert.Note) { *n = want })
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	want.SilencedBy, want.SilencedUntil, want.SilenceReason = "root", after(time.Hour), "works"
	_, err = s.ChangeNote(ctx, "g", "a", now, func(n *alert.Note) {
		n.SilencedBy, n.SilencedUntil, n.SilenceReason = "root", after(time.Hour), "works"
	})
	must(t, err)
	all, err := s.Notes(ctx)
	must(t, err)
	if diff := cmp.Diff([]alert.Note{want}, all); diff != "" {
		t.Error(diff)
	}
	_, err = s.ChangeNote(ctx, "g", "a", after(2*time.Hour), func(n *alert.Note) { n.AcknowledgedAt = time.Time{} })
	must(t, err)
	all, err = s.Notes(ctx)
	if err != nil || len(all) != 0 {
		t.Errorf("an empty note is kept: %v, %v", all, err)
	}
}
