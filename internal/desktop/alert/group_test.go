package alert

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
)

var failedServer = desktop.Ref{Kind: desktop.KindConnectionServer, ID: "c2", Name: "cs2"}

// consequences returns the findings of a rule when one of n servers is down.
func consequences(n int) []finding {
	out := []finding{{subject: Subject{Ref: failedServer}, summary: "the status is NOT_RESPONDING", cause: failedServer}}
	for i := range n - 1 {
		ref := desktop.Ref{Kind: desktop.KindConnectionServer, ID: desktop.ID(fmt.Sprint("p", i)), Name: fmt.Sprint("peer", i)}
		out = append(out, finding{subject: Subject{ref, "replication cs2"}, summary: "the status is ERROR", cause: failedServer})
	}
	return out
}

func TestOneCauseSendsOneNotice(t *testing.T) {
	t.Parallel()
	r := Rule{ID: "r", Name: "rule", Repeat: time.Hour, Channels: []Channel{{Type: Mail}}}
	existing := map[string]Alert{}
	notes := map[string]Note{}
	group := GroupID("r", failedServer)
	ids := 0
	for _, tt := range []struct {
		name     string
		after    time.Duration
		found    []finding
		note     Note
		alerts   int // number of transitions
		notified []string
	}{
		{"a server goes down", 0, consequences(3), Note{}, 3, []string{"FIRING cs2 +2"}},
		{"its other peers detect it", 20 * time.Second, consequences(20), Note{}, 17, nil},
		{"the notice is repeated", 61 * time.Minute, consequences(20), Note{}, 20, []string{"FIRING cs2 +19"}},
		{"the group is acknowledged", 122 * time.Minute, consequences(20), Note{AcknowledgedAt: now}, 0, nil},
		{"some are resolved", 130 * time.Minute, consequences(5), Note{AcknowledgedAt: now}, 15, nil},
		{"all are resolved", 131 * time.Minute, nil, Note{AcknowledgedAt: now}, 5, []string{"RESOLVED cs2 +0"}},
		{"it happens again, silenced", 200 * time.Minute, consequences(3), Note{SilencedUntil: after(300 * time.Minute)}, 3, nil},
		{"it continues, silenced", 201 * time.Minute, consequences(3), Note{SilencedUntil: after(300 * time.Minute)}, 0, nil},
		{"the silence ends", 301 * time.Minute, consequences(3), Note{}, 3, []string{"FIRING cs2 +2"}},
		{"a repetition is due, silenced", 362 * time.Minute, consequences(3), Note{SilencedUntil: after(363 * time.Minute)}, 0, nil},
		{"the silence ends with a repetition", 364 * time.Minute, consequences(3), Note{}, 3, []string{"FIRING cs2 +2"}},
		{"it ends while silenced", 370 * time.Minute, nil, Note{SilencedUntil: after(400 * time.Minute)}, 3, nil},
	} {
		notes[group] = tt.note
		var before []Alert
		for _, a := range existing {
			before = append(before, a)
		}
		out := transitions(r, tt.found, before, notes, after(tt.after), func() string { ids++; return fmt.Sprint(ids) })
		var notified []string
		for _, c := range out {
			for _, d := range c.Send {
				notified = append(notified, fmt.Sprintf("%s %s +%d", c.Alert.State, d.Notice.Alert.Subject.Ref.Name, d.Notice.Related))
			}
			existing[c.Alert.Key()] = c.Alert
			if !c.Alert.Open() {
				delete(existing, c.Alert.Key())
			}
		}
		if diff := cmp.Diff(tt.notified, notified); diff != "" || len(out) != tt.alerts {
			t.Errorf("%s: %d alerts change, want %d; notified (-want +got): %s", tt.name, len(out), tt.alerts, diff)
		}
	}
}

// TestDroppedNoticesDropNoOthers has alerts join a group after its notice. Their own notices
// are dropped, and must not delay the next notice of the group.
func TestDroppedNoticesDropNoOthers(t *testing.T) {
	t.Parallel()
	r := Rule{ID: "r", Name: "rule", Repeat: 5 * time.Minute, Channels: []Channel{{Type: Mail}}}
	existing := map[string]Alert{}
	var sent []string
	for at := time.Duration(0); at <= 16*time.Minute; at += 30 * time.Second {
		joined := 1 + int(at/(150*time.Second)) // one more every two and a half minutes
		out := transitions(r, consequences(joined), slices.Collect(maps.Values(existing)), nil, after(at), func() string { return "id" })
		for _, c := range out {
			existing[c.Alert.Key()] = c.Alert
			if len(c.Send) > 0 {
				sent = append(sent, at.String())
			}
		}
	}
	if diff := cmp.Diff([]string{"0s", "5m0s", "10m0s", "15m0s"}, sent); diff != "" {
		t.Errorf("times of notices (-want +got): %s", diff)
	}
}

// TestAlertsThatJoinAnAcknowledgedGroupCauseNotices checks that repetitions that an acknowledged group
// does not send do not count as notices: an alert that joins the group causes one.
func TestAlertsThatJoinAnAcknowledgedGroupCauseNotices(t *testing.T) {
	t.Parallel()
	r := Rule{ID: "r", Name: "rule", Repeat: 5 * time.Minute, Channels: []Channel{{Type: Mail}}}
	notes := map[string]Note{GroupID("r", failedServer): {AcknowledgedAt: after(time.Minute)}}
	existing := map[string]Alert{}
	var sent []string
	for at := time.Duration(0); at <= 20*time.Minute; at += 30 * time.Second {
		alerts := 2
		if at >= 12*time.Minute {
			alerts = 3
		}
		for _, c := range transitions(r, consequences(alerts), slices.Collect(maps.Values(existing)), notes, after(at), func() string { return "id" }) {
			existing[c.Alert.Key()] = c.Alert
			if len(c.Send) > 0 {
				sent = append(sent, at.String())
			}
		}
	}
	if diff := cmp.Diff([]string{"0s", "12m0s"}, sent); diff != "" {
		t.Errorf("times of notices (-want +got):\n%s", diff)
	}
}

func TestEpisodes(t *testing.T) {
	t.Parallel()
	newAlert := func(id string, since, ended time.Duration) Alert {
		a := Alert{RuleID: "r", Cause: failedServer, State: Firing, Since: after(since), Subject: Subject{Ref: desktop.Ref{ID: desktop.ID(id)}}}
		if ended != 0 {
			a.State, a.ResolvedAt = Resolved, after(ended)
		}
		return a
	}
	other := newAlert("x", 0, time.Minute)
	other.Cause = desktop.Ref{Kind: desktop.KindFarm, ID: "f"}
	type episode struct {
		Since, Ended time.Time
		State        State
		Alerts       int
	}
	var got []episode
	for _, e := range Episodes([]Alert{
		newAlert("a", 10*time.Hour, 0), newAlert("b", 10*time.Hour+time.Minute, 11*time.Hour),
		newAlert("a", 0, time.Hour), newAlert("b", time.Minute, 30*time.Minute), newAlert("c", time.Hour+30*time.Second, 2*time.Hour),
		other,
	}) {
		got = append(got, episode{e.Since, e.Ended, e.State, len(e.Alerts)})
	}
	want := []episode{
		{after(10 * time.Hour), time.Time{}, Firing, 2},
		{after(0), after(2 * time.Hour), Resolved, 3},
		{after(0), after(time.Minute), Resolved, 1},
	}
	if GroupID("r", failedServer) > other.Group() { // episodes that began at the same time are sorted by the id of their group
		want[1], want[2] = want[2], want[1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("episodes (-want +got):\n%s", diff)
	}
}

// TestPendingAlertDoesNotDropTheNoticeOfTheEnd has an alert that ends while another of its
// group is pending. The end must be notified: the pending alert may end without a notice.
func TestPendingAlertDoesNotDropTheNoticeOfTheEnd(t *testing.T) {
	t.Parallel()
	r := Rule{ID: "r", Name: "rule", For: time.Minute, Channels: []Channel{{Type: Mail}}}
	both := consequences(2)
	existing := map[string]Alert{}
	for _, tt := range []struct {
		name     string
		after    time.Duration
		found    []finding
		notified []string
	}{
		{"a server goes down", 0, both[:1], nil},
		{"it stays down", time.Minute, both[:1], []string{"FIRING cs2 +0"}},
		{"a peer detects it", 2 * time.Minute, both, nil},
		{"the server recovers before its peer", 150 * time.Second, both[1:], []string{"RESOLVED cs2 +1"}},
		{"the peer recovers while it is pending", 160 * time.Second, nil, nil},
	} {
		out := transitions(r, tt.found, slices.Collect(maps.Values(existing)), nil, after(tt.after), func() string { return "id" })
		var notified []string
		for _, c := range out {
			for _, d := range c.Send {
				notified = append(notified, fmt.Sprintf("%s %s +%d", c.Alert.State, d.Notice.Alert.Subject.Ref.Name, d.Notice.Related))
			}
			existing[c.Alert.Key()] = c.Alert
			if c.Gone || !c.Alert.Open() {
				delete(existing, c.Alert.Key())
			}
		}
		if diff := cmp.Diff(tt.notified, notified); diff != "" {
			t.Errorf("%s: notified (-want +got): %s", tt.name, diff)
		}
	}
}
