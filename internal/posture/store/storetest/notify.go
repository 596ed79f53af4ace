package storetest

import (
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
)

func newChannel(id string) notify.Channel {
	return notify.Channel{
		ID: id, Name: "channel " + id, Type: notify.Splunk, Enabled: true, PerMinute: 30, ETag: "v1", Updated: begin,
		Settings: map[string]string{"url": "https://splunk.example"}, Secrets: map[string]string{"token": "canary-" + id},
	}
}

// addNotifications adds channels, and a rule that sends them the events that match the
// filter.
func addNotifications(t *testing.T, f Fixture, owner posture.OrgID, filter notify.Filter, channels ...string) {
	t.Helper()
	for _, id := range channels {
		if err := f.Store.AddChannel(t.Context(), owner, newChannel(id)); err != nil {
			t.Fatal(err)
		}
	}
	r := notify.Rule{ID: "rule of " + channels[0], Name: "all", Enabled: true, Filter: filter, Channels: channels, ETag: "v1", Updated: begin}
	if err := f.Store.AddNotifyRule(t.Context(), owner, r); err != nil {
		t.Fatal(err)
	}
}

// dispatch groups all events of the outbox into messages.
func dispatch(t *testing.T, f Fixture, now time.Time) {
	t.Helper()
	orgs, err := f.Store.OutboxOrgs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range orgs {
		for more := true; more; {
			if more, err = f.Store.Dispatch(t.Context(), owner, "", now); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func channelsKeepTheirSecrets(t *testing.T, f Fixture) {
	addNotifications(t, f, org, notify.Filter{}, "c")
	got, err := f.Store.Channel(t.Context(), org, "c")
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "channel", got, newChannel("c"))
	all, err := f.Store.Channels(t.Context(), org)
	if err != nil || len(all) != 1 || len(all[0].Secrets) != 0 || all[0].Name != "channel c" {
		t.Errorf("channels %+v, %v; want one without secrets", all, err)
	}
	if _, err := f.Store.Channel(t.Context(), other, "c"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the channel of another organisation: %v", err)
	}

	renamed := newChannel("c")
	renamed.Name, renamed.Secrets = "new name", map[string]string{}
	if _, err := f.Store.ReplaceChannel(t.Context(), org, renamed, anyVersion); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Store.Channel(t.Context(), org, "c"); err != nil || got.Name != "new name" || got.Secrets["token"] != "canary-c" {
		t.Errorf("a channel that was renamed: %q with %d secrets, %v", got.Name, len(got.Secrets), err)
	}
	moved := newChannel("c")
	moved.Settings, moved.Secrets = map[string]string{"url": "https://elsewhere.example"}, map[string]string{}
	if _, err := f.Store.ReplaceChannel(t.Context(), org, moved, anyVersion); !fault.Is(err, fault.Invalid) {
		t.Errorf("a secret was kept for another address: %v", err)
	}
	if _, err := f.Store.ReplaceChannel(t.Context(), other, newChannel("c"), anyVersion); !fault.Is(err, fault.NotFound) {
		t.Errorf("replacing the channel of another organisation: %v", err)
	}

	if _, err := f.Store.DeleteChannel(t.Context(), org, "c", anyVersion); !fault.Is(err, fault.Conflict) {
		t.Errorf("deleting a channel that a rule sends to: %v", err)
	}
	r := notify.Rule{ID: "r", Name: "r", Channels: []string{"missing"}}
	if err := f.Store.AddNotifyRule(t.Context(), org, r); !fault.Is(err, fault.Invalid) {
		t.Errorf("a rule that sends to a channel which does not exist: %v", err)
	}
	if _, err := f.Store.DeleteNotifyRule(t.Context(), org, "rule of c", anyVersion); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store.DeleteChannel(t.Context(), org, "c", anyVersion); err != nil {
		t.Error(err)
	}
}

// messages returns the waiting messages of a channel and marks them as delivered.
func messages(t *testing.T, f Fixture, channel string, now time.Time) (all []notify.Message) {
	t.Helper()
	ref := notify.Ref{Org: org, Channel: channel}
	for {
		d, found, err := f.Store.NextDelivery(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return all
		}
		if d.ID != d.Message.ID || d.Count != len(d.Message.Events) || d.Title != d.Message.Title() {
			t.Errorf("delivery %+v does not describe its message", d)
		}
		all = append(all, d.Message)
		d.State, d.Attempts, d.Ended = notify.Delivered, 1, now
		if err := f.Store.SaveAttempt(t.Context(), ref, d, 0, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
}

// kinds returns the kinds and objects of the events in messages.
func kinds(all []notify.Message) (what []string) {
	for _, m := range all {
		for _, e := range m.Events {
			what = append(what, string(e.Kind)+" "+e.Finding.Name)
		}
	}
	return what
}

func findingEventsBecomeMessages(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 9)) // before there is a notification rule: no event
	addNotifications(t, f, org, notify.Filter{Rules: []posture.RuleID{"r"}}, "c", "d")
	judge(t, f, 2, begin, newJudgement("r", 1, 2, 9))
	judge(t, f, 2, begin, newJudgement("other", 1))
	nameOf := func(i int) string { return newFinding(i).Finding.Name }
	dispatch(t, f, begin)
	for _, channel := range []string{"c", "d"} {
		got := messages(t, f, channel, begin)
		if len(got) != 1 {
			t.Fatalf("%d messages for the channel %s, want 1", len(got), channel)
		}
		wantSame(t, "events", kinds(got), []string{"FindingRaised " + nameOf(1), "FindingRaised " + nameOf(2)})
	}

	until := begin.Add(time.Hour)
	for i := range 2 {
		if _, err := f.Store.Suppress(t.Context(), org, find(t, f, "r", i+1).ID, &posture.Suppression{By: "bob", Reason: "known", Since: begin, Until: until}, "bob", begin); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Store.RecordEndedSuppressions(t.Context(), begin); err != nil { // the first call only stores its time
		t.Fatal(err)
	}
	judge(t, f, 3, begin.Add(time.Minute), newJudgement("r", 2)) // 1 is resolved while it is suppressed, 9 while it is not
	for range 2 {                                                // the second call records nothing
		if err := f.Store.RecordEndedSuppressions(t.Context(), until); err != nil {
			t.Fatal(err)
		}
	}
	later := until.Add(time.Minute)
	judge(t, f, 4, later, newJudgement("r", 1, 2)) // 1 is reopened
	dispatch(t, f, later)
	wantSame(t, "later events", kinds(messages(t, f, "c", later)), []string{"FindingResolved " + nameOf(9), "SuppressionEnded " + nameOf(2), "FindingRaised " + nameOf(1)})
	if orgs, err := f.Store.OutboxOrgs(t.Context()); err != nil || len(orgs) > 0 {
		t.Errorf("the outbox has events of %v after the dispatch, %v", orgs, err)
	}
}

func deliveriesAreRetriedAndExpire(t *testing.T, f Fixture) {
	addNotifications(t, f, org, notify.Filter{}, "c")
	judge(t, f, 1, begin, newJudgement("r", 1))
	dispatch(t, f, begin)
	judge(t, f, 2, begin, newJudgement("r", 1, 2))
	dispatch(t, f, begin.Add(time.Second))
	ref := notify.Ref{Org: org, Channel: "c"}
	first, _, err := f.Store.NextDelivery(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	first.Attempts, first.Error = 1, "answered 500"
	if err := f.Store.SaveAttempt(t.Context(), ref, first, 1, begin.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	due := func(at time.Time, want int) {
		t.Helper()
		if got, err := f.Store.DueChannels(t.Context(), at); err != nil || len(got) != want {
			t.Errorf("%d channels are due, %v; want %d", len(got), err, want)
		}
	}
	due(begin.Add(59*time.Second), 0)
	due(begin.Add(time.Minute), 1)
	if c, err := f.Store.Channel(t.Context(), org, "c"); err != nil || c.Failures != 1 || !c.Resume.Equal(begin.Add(time.Minute)) {
		t.Errorf("channel after a failure: %d failures, resumed at %s, %v; want 1 and a minute later", c.Failures, c.Resume, err)
	}
	second, _, err := f.Store.NextDelivery(t.Context(), ref)
	if err != nil || second.ID == first.ID {
		t.Errorf("the failed message comes before one that was not attempted yet, %v", err)
	}
	second.State, second.Ended = notify.Delivered, begin.Add(2*time.Minute)
	if err := f.Store.SaveAttempt(t.Context(), ref, second, 0, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if n, at, err := f.Store.SentSince(t.Context(), ref, begin.Add(time.Minute)); err != nil || n != 1 || !at.Equal(second.Ended) {
		t.Errorf("sent %d, the first at %s, %v; want 1 at %s", n, at, err, second.Ended)
	}

	day := begin.Add(notify.GiveUpAfter)
	// The first message has waited too long. Nothing ended before begin, so nothing is deleted.
	if err := f.Store.ExpireDeliveries(t.Context(), day, begin); err != nil {
		t.Fatal(err)
	}
	due(day, 0)
	dead, total, err := f.Store.Deliveries(t.Context(), org, notify.DeliveryFilter{State: notify.Dead}, 10)
	if err != nil || total != 1 || len(dead) != 1 || dead[0].ID != first.ID || dead[0].Error != "answered 500" {
		t.Fatalf("dead letters %+v of %d, %v", dead, total, err)
	}
	if _, err := f.Store.RetryDelivery(t.Context(), other, first.ID, day); !fault.Is(err, fault.NotFound) {
		t.Errorf("retrying what another organisation sends: %v", err)
	}
	if _, err := f.Store.RetryDelivery(t.Context(), org, second.ID, day); !fault.Is(err, fault.Conflict) {
		t.Errorf("retrying what was delivered: %v", err)
	}
	if d, err := f.Store.RetryDelivery(t.Context(), org, first.ID, day); err != nil || d.State != notify.Waiting {
		t.Errorf("retrying a dead letter: %s, %v", d.State, err)
	}
	due(day, 1)
	if d, found, err := f.Store.NextDelivery(t.Context(), ref); err != nil || !found || len(d.Message.Events) != 1 {
		t.Errorf("the dead letter that is tried again has %d events, %v", len(d.Message.Events), err)
	}
	// The first message has waited too long again; the second one, which ended before day, is deleted.
	if err := f.Store.ExpireDeliveries(t.Context(), day.Add(notify.GiveUpAfter), day.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, total, err := f.Store.Deliveries(t.Context(), org, notify.DeliveryFilter{}, 10); err != nil || total != 1 {
		t.Errorf("%d deliveries are kept, %v; want only the dead letter", total, err)
	}
	if n, err := f.Store.RetryChannel(t.Context(), org, "c", day); err != nil || n != 1 {
		t.Errorf("retried %d dead letters of the channel, %v; want 1", n, err)
	}
	if _, err := f.Store.RetryChannel(t.Context(), other, "c", day); !fault.Is(err, fault.NotFound) {
		t.Errorf("retrying the channel of another organisation: %v", err)
	}
}

// deliveriesOfChannels checks that the deliveries of a channel are found behind newer ones of another channel.
func deliveriesOfChannels(t *testing.T, f Fixture) {
	addNotifications(t, f, org, notify.Filter{Rules: []posture.RuleID{"r"}}, "c")
	addNotifications(t, f, org, notify.Filter{Rules: []posture.RuleID{"s"}}, "d")
	for i, step := range []struct {
		rule    posture.RuleID
		objects []int // all violating ones; only the last is new and sends a message
		channel string
		state   notify.DeliveryState // of the message at the end
	}{
		{"r", []int{1}, "c", notify.Dead},
		{"r", []int{1, 2}, "c", notify.Delivered},
		{"r", []int{1, 2, 3}, "c", notify.Waiting},
		{"s", []int{1}, "d", notify.Waiting},
	} {
		at := begin.Add(time.Duration(i) * time.Minute)
		judge(t, f, int64(i+1), at, newJudgement(step.rule, step.objects...))
		dispatch(t, f, at)
		if step.state == notify.Waiting {
			continue
		}
		ref := notify.Ref{Org: org, Channel: step.channel}
		d, _, err := f.Store.NextDelivery(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		d.State, d.Ended = step.state, at
		if err := f.Store.SaveAttempt(t.Context(), ref, d, 0, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		owner  posture.OrgID
		filter notify.DeliveryFilter
		newest time.Duration // creation of the newest, after begin
		total  int
	}{
		{org, notify.DeliveryFilter{}, 3 * time.Minute, 4},
		{org, notify.DeliveryFilter{Channel: "c"}, 2 * time.Minute, 3},
		{org, notify.DeliveryFilter{Channel: "c", State: notify.Delivered}, time.Minute, 1},
		{org, notify.DeliveryFilter{Channel: "c", State: notify.Dead}, 0, 1},
		{org, notify.DeliveryFilter{Channel: "d", State: notify.Dead}, 0, 0},
		{org, notify.DeliveryFilter{Channel: "missing"}, 0, 0},
		{other, notify.DeliveryFilter{Channel: "c"}, 0, 0},
	} {
		got, total, err := f.Store.Deliveries(t.Context(), tt.owner, tt.filter, 1)
		if err != nil || total != tt.total || len(got) != min(total, 1) || len(got) > 0 && !got[0].Created.Equal(begin.Add(tt.newest)) {
			t.Errorf("%s %+v: %+v of %d, %v; want the one created after %s, of %d", tt.owner, tt.filter, got, total, err, tt.newest, tt.total)
		}
	}
	all, err := f.Store.Channels(t.Context(), org)
	if err != nil || len(all) != 2 || all[0].DeadCount != 1 || all[0].LastState != notify.Delivered || all[1].DeadCount != 0 || all[1].LastState != "" {
		t.Errorf("channels %+v, %v; want one dead letter and Delivered for the first", all, err)
	}
	if c, err := f.Store.ReplaceChannel(t.Context(), org, newChannel("c"), anyVersion); err != nil || c.DeadCount != 1 || c.LastState != notify.Delivered {
		t.Errorf("a channel that was replaced: %+v, %v; want the dead letter and the last state of before", c, err)
	}
}
