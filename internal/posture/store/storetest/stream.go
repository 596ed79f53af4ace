package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// A StreamFixture is an empty store of streams under test.
type StreamFixture struct {
	Streams  posture.StreamStore
	Entities EntityStore // the store of the accounts and entities that Streams reads
	Clock    *Clock
	Jobs     func() []string // accounts for which Streams enqueued jobs, one for each job
}

// RunStreams runs the tests of streams on stores that open returns.
func RunStreams(t *testing.T, open func(t *testing.T) StreamFixture) {
	for name, test := range map[string]func(*testing.T, StreamFixture){
		"StreamIsOpenedAndRotated":              streamIsOpenedAndRotated,
		"StreamOfAnotherOrgIsNotFound":          streamOfAnotherOrgIsNotFound,
		"OriginsAreKeptUntilTheReadIsConfirmed": originsAreKeptUntilTheReadIsConfirmed,
		"MessageCountsOnce":                     messageCountsOnce,
		"BurstsAreMerged":                       burstsAreMerged,
		"JobIsEnqueuedOnce":                     jobIsEnqueuedOnce,
		"StuckAccountGetsAnotherJob":            stuckAccountGetsAnotherJob,
		"TargetNamedDuringAReadIsReadAgain":     targetNamedDuringAReadIsReadAgain,
		"FailedReadIsRetriedLater":              failedReadIsRetriedLater,
		"ReadIsConfirmedLater":                  readIsConfirmedLater,
		"StatusFollowsMessages":                 statusFollowsMessages,
		"LateMessageDoesNotReconnect":           lateMessageDoesNotReconnect,
		"StatusIsSet":                           statusIsSet,
		"StreamIsRemovedWithItsAccount":         streamIsRemovedWithItsAccount,
		"OldMessageIDsAreDeleted":               oldMessageIDsAreDeleted,
		"MissedHeartbeatDisconnects":            missedHeartbeatDisconnects,
		"QuietWithChangesDisconnects":           quietWithChangesDisconnects,
		"ManyDeliveriesAtOnce":                  manyDeliveriesAtOnce,
		"DeliveryToARemovedStreamIsGone":        deliveryToARemovedStreamIsGone,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			onboard(t, f.Entities, org, account)
			test(t, f)
		})
	}
}

func openStream(t *testing.T, f StreamFixture) posture.Stream {
	t.Helper()
	s, _, err := f.Streams.OpenStream(t.Context(), org, account, posture.NewStreamSecret().Digest())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// deliver accepts messages and returns the outcome.
func deliver(t *testing.T, f StreamFixture, s posture.Stream, ms ...posture.StreamMessage) posture.StreamOutcome {
	t.Helper()
	got, err := f.Streams.Accept(t.Context(), []posture.Delivery{{Stream: s, Messages: ms}})
	if err != nil || len(got) != 1 {
		t.Fatalf("Accept = %v, %v", got, err)
	}
	return got[0]
}

// newMessage returns a message that names instances.
func newMessage(f StreamFixture, id string, names ...string) posture.StreamMessage {
	m := posture.StreamMessage{ID: id, Time: f.Clock.T}
	for _, name := range names {
		m.Target = append(m.Target, posture.Target{Type: instance, Region: east, Name: name})
	}
	return m
}

// due returns the names of the due reads.
func due(t *testing.T, f StreamFixture) []string {
	t.Helper()
	all := []string{}
	for _, r := range pendingReads(t, f) {
		all = append(all, r.Name)
	}
	return all
}

func pendingReads(t *testing.T, f StreamFixture) []posture.PendingRead {
	t.Helper()
	all, err := f.Streams.PendingReads(t.Context(), org, account, 100)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func recordReads(t *testing.T, f StreamFixture, r posture.ReadResults) {
	t.Helper()
	if err := f.Streams.RecordReads(t.Context(), org, account, r); err != nil {
		t.Fatal(err)
	}
}

func releaseIfIdle(t *testing.T, f StreamFixture) bool {
	t.Helper()
	ok, err := f.Streams.ReleaseIfIdle(t.Context(), org, account)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func streamStatus(t *testing.T, f StreamFixture) posture.StreamStatus {
	t.Helper()
	a, err := f.Entities.Account(t.Context(), org, account)
	if err != nil {
		t.Fatal(err)
	}
	return a.Stream.Value
}

// fresh gives the account the status of an account that never had a stream.
func fresh(t *testing.T, f StreamFixture) {
	t.Helper()
	change(t, f.Entities, func(tx posture.OnboardingTx) error {
		a, err := tx.Account(account)
		if err != nil {
			return err
		}
		a.Stream, a.StreamSeen = posture.Stamped[posture.StreamStatus]{Value: posture.StreamDisconnected, Since: f.Clock.T}, false
		return tx.SaveAccount(a)
	})
}

func streamIsOpenedAndRotated(t *testing.T, f StreamFixture) {
	first, second := posture.NewStreamSecret(), posture.NewStreamSecret()
	s, isNew, err := f.Streams.OpenStream(t.Context(), org, account, first.Digest())
	if err != nil || !isNew || s.Provider != posture.AWS || s.Handle == "" || !s.LastEvent.IsZero() {
		t.Fatalf("OpenStream = %+v, %v, %v", s, isNew, err)
	}
	got, err := f.Streams.StreamWith(t.Context(), first.Digest())
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "by its secret", got, s)
	f.Clock.T = f.Clock.T.Add(time.Hour)
	repeated, isNew, err := f.Streams.OpenStream(t.Context(), org, account, second.Digest())
	if err != nil || isNew || repeated.Handle != s.Handle || !repeated.Created.Equal(s.Created) || !repeated.Rotated.Equal(f.Clock.T) {
		t.Errorf("OpenStream again = %+v, %v, %v", repeated, isNew, err)
	}
	_, err = f.Streams.StreamWith(t.Context(), first.Digest())
	wantKind(t, "the old secret", err, fault.NotFound)
	if got, err = f.Streams.StreamOf(t.Context(), s.Handle); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "by its handle", got, repeated)
	_, err = f.Streams.StreamOf(t.Context(), "none")
	wantKind(t, "an unknown handle", err, fault.NotFound)
	if err := f.Streams.CloseStream(t.Context(), org, account); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "closing it again", f.Streams.CloseStream(t.Context(), org, account), fault.NotFound)
	_, err = f.Streams.StreamWith(t.Context(), second.Digest())
	wantKind(t, "a closed stream", err, fault.NotFound)
}

func originsAreKeptUntilTheReadIsConfirmed(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	by := func(id, actor, operation string) posture.StreamMessage {
		m := newMessage(f, id, "i-1")
		m.ChangeOrigin = posture.ChangeOrigin{Actor: actor, Operation: operation}
		return m
	}
	origin := func() posture.ChangeOrigin {
		t.Helper()
		all := pendingReads(t, f)
		if len(all) != 1 {
			t.Fatalf("pending reads %+v, want one", all)
		}
		return all[0].ChangeOrigin
	}
	deliver(t, f, s, by("1", "alice", "StartInstances"))
	deliver(t, f, s, by("2", "bob", ""), by("3", "", ""))
	if got := origin(); got != (posture.ChangeOrigin{Actor: "bob"}) {
		t.Errorf("the origin is %+v, want that of the last message that has one", got)
	}
	deliver(t, f, s, by("4", "", "StopInstances"))
	if got := origin(); got != (posture.ChangeOrigin{Operation: "StopInstances"}) {
		t.Errorf("the origin is %+v, want that of one message", got)
	}
	recordReads(t, f, posture.ReadResults{Done: pendingReads(t, f), ConfirmAt: f.Clock.T.Add(time.Minute)})
	f.Clock.T = f.Clock.T.Add(time.Minute)
	if got := origin(); got != (posture.ChangeOrigin{Operation: "StopInstances"}) {
		t.Errorf("the origin of the confirming read is %+v, want that of the first read", got)
	}
}

func streamOfAnotherOrgIsNotFound(t *testing.T, f StreamFixture) {
	openStream(t, f)
	_, err := f.Streams.Stream(t.Context(), other, account)
	wantKind(t, "Stream", err, fault.NotFound)
	_, _, err = f.Streams.OpenStream(t.Context(), other, account, posture.StreamDigest{1})
	wantKind(t, "OpenStream", err, fault.NotFound)
	wantKind(t, "CloseStream", f.Streams.CloseStream(t.Context(), other, account), fault.NotFound)
	wantKind(t, "SetStream", f.Streams.SetStream(t.Context(), other, posture.AWS, account, posture.StreamConnected), fault.NotFound)
	if all, err := f.Streams.PendingReads(t.Context(), other, account, 10); err != nil || len(all) != 0 {
		t.Errorf("PendingReads = %v, %v", all, err)
	}
}

func messageCountsOnce(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	m := newMessage(f, "m1", "i-1")
	wantSame(t, "at first", deliver(t, f, s, m), posture.StreamOutcome{Fresh: 1})
	wantSame(t, "again", deliver(t, f, s, m, newMessage(f, "m2")), posture.StreamOutcome{Fresh: 1, Duplicates: 1})
	got, err := f.Streams.Stream(t.Context(), org, account)
	if err != nil || got.Accepted != 2 || got.Duplicates != 1 || got.Unmapped != 1 || got.Pending != 1 || !got.LastEvent.Equal(f.Clock.T) {
		t.Errorf("stream %+v, %v; want 2 accepted messages, one of them unmapped, 1 duplicate, 1 pending read", got, err)
	}
	recordReads(t, f, posture.ReadResults{Done: pendingReads(t, f)})
	deliver(t, f, s, m)
	wantSame(t, "due after a replay", due(t, f), []string{})
}

func burstsAreMerged(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	for i := range 20 {
		f.Clock.T = f.Clock.T.Add(time.Millisecond)
		deliver(t, f, s, newMessage(f, fmt.Sprint(i), "i-1", fmt.Sprintf("i-%d", 2+i%2)))
	}
	wantSame(t, "due, oldest first", due(t, f), []string{"i-1", "i-2", "i-3"})
}

func jobIsEnqueuedOnce(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	for i := range 3 {
		deliver(t, f, s, newMessage(f, fmt.Sprint(i), "i-1"))
	}
	deliver(t, f, s, newMessage(f, "no targets"))
	wantSame(t, "jobs", f.Jobs(), []string{string(account)})
	if releaseIfIdle(t, f) {
		t.Error("released while a read is due")
	}
	recordReads(t, f, posture.ReadResults{Done: pendingReads(t, f)})
	if !releaseIfIdle(t, f) {
		t.Error("not released when all reads are done")
	}
	deliver(t, f, s, newMessage(f, "another", "i-1"))
	wantSame(t, "jobs", f.Jobs(), []string{string(account), string(account)})
}

func stuckAccountGetsAnotherJob(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	deliver(t, f, s, newMessage(f, "m1", "i-1"))
	for _, step := range []struct {
		later time.Duration // since the step before
		jobs  int           // in total: another one each time that the read has been due for 10 minutes
	}{{time.Minute, 1}, {10 * time.Minute, 2}, {5 * time.Second, 2}, {5 * time.Minute, 2}, {6 * time.Minute, 3}} {
		f.Clock.T = f.Clock.T.Add(step.later)
		if _, err := f.Streams.MaintainStreams(t.Context(), posture.DefaultStreamTimeouts); err != nil {
			t.Fatal(err)
		}
		if got := len(f.Jobs()); got != step.jobs {
			t.Errorf("%s later: %d jobs, want %d", step.later, got, step.jobs)
		}
	}
	wantSame(t, "due", due(t, f), []string{"i-1"})
}

func targetNamedDuringAReadIsReadAgain(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	deliver(t, f, s, newMessage(f, "m1", "i-1"))
	reading := pendingReads(t, f)
	deliver(t, f, s, newMessage(f, "m2", "i-1"))
	recordReads(t, f, posture.ReadResults{Done: reading, ConfirmAt: f.Clock.T.Add(time.Minute)})
	wantSame(t, "due", due(t, f), []string{"i-1"})
	recordReads(t, f, posture.ReadResults{Done: pendingReads(t, f)})
	wantSame(t, "due", due(t, f), []string{})
}

func failedReadIsRetriedLater(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	deliver(t, f, s, newMessage(f, "m1", "i-1"))
	recordReads(t, f, posture.ReadResults{Failed: pendingReads(t, f), RetryAt: f.Clock.T.Add(time.Second)})
	if !releaseIfIdle(t, f) {
		t.Error("not released until the retry")
	}
	wantSame(t, "due at once", due(t, f), []string{})
	f.Clock.T = f.Clock.T.Add(2 * time.Second)
	got := pendingReads(t, f)
	if len(got) != 1 || got[0].Tries != 1 {
		t.Fatalf("due later: %+v, want one read that was tried once", got)
	}
	if _, err := f.Streams.MaintainStreams(t.Context(), posture.DefaultStreamTimeouts); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "jobs", f.Jobs(), []string{string(account), string(account)})
	deliver(t, f, s, newMessage(f, "m2", "i-1"))
	if got := pendingReads(t, f); got[0].Tries != 0 {
		t.Errorf("after a new message the read has %d failed tries, want 0", got[0].Tries)
	}
}

func readIsConfirmedLater(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	deliver(t, f, s, newMessage(f, "m1", "i-1"))
	neighbours := []posture.Target{{Type: bucket, Region: posture.Global, Name: "b"}}
	recordReads(t, f, posture.ReadResults{Done: pendingReads(t, f), Neighbours: neighbours, ConfirmAt: f.Clock.T.Add(30 * time.Second)})
	got := pendingReads(t, f)
	if len(got) != 1 || got[0].Name != "b" || got[0].Depth != 1 {
		t.Fatalf("due at once: %+v, want the neighbour", got)
	}
	recordReads(t, f, posture.ReadResults{Done: got})
	f.Clock.T = f.Clock.T.Add(31 * time.Second)
	got = pendingReads(t, f)
	if len(got) != 1 || !got[0].Confirm {
		t.Fatalf("due later: %+v, want the confirming read", got)
	}
	recordReads(t, f, posture.ReadResults{Done: got, ConfirmAt: f.Clock.T.Add(30 * time.Second)})
	f.Clock.T = f.Clock.T.Add(time.Hour)
	wantSame(t, "due after the confirming read", due(t, f), []string{})
}

func statusFollowsMessages(t *testing.T, f StreamFixture) {
	fresh(t, f)
	s := openStream(t, f)
	for i, step := range []struct {
		signal posture.StreamSignal
		want   posture.StreamStatus
	}{
		{posture.SignalConnected, posture.StreamConnected},
		{posture.SignalDisconnected, posture.StreamDisconnected},
		{posture.SignalEvent, posture.StreamConnected},
		{posture.SignalDisconnected, posture.StreamDisconnected},
		{posture.SignalHeartbeat, posture.StreamConnected},
	} {
		f.Clock.T = f.Clock.T.Add(time.Second)
		deliver(t, f, s, posture.StreamMessage{ID: fmt.Sprint(i), Time: f.Clock.T, Signal: step.signal})
		if got := streamStatus(t, f); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
	before, err := f.Entities.Account(t.Context(), org, account)
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, f, s, newMessage(f, "another"))
	after, err := f.Entities.Account(t.Context(), org, account)
	if err != nil || after.ETag != before.ETag {
		t.Errorf("an event that changes no status changed the ETag of the account from %s to %s, %v", before.ETag, after.ETag, err)
	}
}

func lateMessageDoesNotReconnect(t *testing.T, f StreamFixture) {
	fresh(t, f)
	s := openStream(t, f)
	late := newMessage(f, "late", "i-1")
	f.Clock.T = f.Clock.T.Add(time.Minute)
	deliver(t, f, s, posture.StreamMessage{ID: "up", Time: f.Clock.T, Signal: posture.SignalConnected})
	f.Clock.T = f.Clock.T.Add(time.Minute)
	deliver(t, f, s, posture.StreamMessage{ID: "down", Time: f.Clock.T, Signal: posture.SignalDisconnected})
	deliver(t, f, s, late)
	if got := streamStatus(t, f); got != posture.StreamDisconnected {
		t.Errorf("after an event that was sent before the stream was disconnected: %s", got)
	}
	wantSame(t, "due", due(t, f), []string{"i-1"})
}

func statusIsSet(t *testing.T, f StreamFixture) {
	fresh(t, f)
	for _, want := range []posture.StreamStatus{posture.StreamConnected, posture.StreamDisconnected} {
		if err := f.Streams.SetStream(t.Context(), org, posture.AWS, account, want); err != nil {
			t.Fatal(err)
		}
		if got := streamStatus(t, f); got != want {
			t.Errorf("status %s, want %s", got, want)
		}
	}
	wantKind(t, "another provider", f.Streams.SetStream(t.Context(), org, posture.GCP, account, posture.StreamConnected), fault.NotFound)
	wantKind(t, "another account", f.Streams.SetStream(t.Context(), org, posture.AWS, "none", posture.StreamConnected), fault.NotFound)
}

func streamIsRemovedWithItsAccount(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	deliver(t, f, s, newMessage(f, "m1", "i-1"))
	remove(t, f.Entities, account)
	_, err := f.Streams.StreamOf(t.Context(), s.Handle)
	wantKind(t, "StreamOf", err, fault.NotFound)
	onboard(t, f.Entities, org, account)
	wantSame(t, "due in an account that was added again", due(t, f), []string{})
	openStream(t, f) // gets the deliveries to s too, because the store finds streams by account
	wantSame(t, "the message that the old stream had accepted", deliver(t, f, s, newMessage(f, "m1", "i-1")), posture.StreamOutcome{Fresh: 1})
}

func oldMessageIDsAreDeleted(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	deliver(t, f, s, newMessage(f, "m1"))
	for _, step := range []struct {
		later time.Duration // since the step before
		want  posture.StreamOutcome
	}{
		{23 * time.Hour, posture.StreamOutcome{Duplicates: 1}},
		{2 * time.Hour, posture.StreamOutcome{Fresh: 1}},
	} {
		f.Clock.T = f.Clock.T.Add(step.later)
		if _, err := f.Streams.MaintainStreams(t.Context(), posture.DefaultStreamTimeouts); err != nil {
			t.Fatal(err)
		}
		wantSame(t, "the message "+step.later.String()+" later", deliver(t, f, s, newMessage(f, "m1")), step.want)
	}
}

func missedHeartbeatDisconnects(t *testing.T, f StreamFixture) {
	fresh(t, f)
	s := openStream(t, f)
	deliver(t, f, s, posture.StreamMessage{ID: "beat", Time: f.Clock.T, Signal: posture.SignalHeartbeat})
	for _, step := range []struct {
		later  time.Duration // since the step before
		want   posture.StreamStatus
		silent int // accounts that become disconnected in this step
	}{
		{3 * time.Hour, posture.StreamConnected, 0},
		{time.Hour, posture.StreamDisconnected, 1},
		{time.Hour, posture.StreamDisconnected, 0},
	} {
		f.Clock.T = f.Clock.T.Add(step.later)
		silent, err := f.Streams.MaintainStreams(t.Context(), posture.DefaultStreamTimeouts)
		if err != nil || len(silent) != step.silent || streamStatus(t, f) != step.want {
			t.Errorf("%s later: silent %v, %s, %v; want %d silent, %s", step.later, silent, streamStatus(t, f), err, step.silent, step.want)
		}
	}
}

func quietWithChangesDisconnects(t *testing.T, f StreamFixture) {
	fresh(t, f)
	s := openStream(t, f)
	record(t, f.Entities, newScope(instance, east), newEntity(east, "i-1"))
	deliver(t, f, s, newMessage(f, "m1"))
	f.Clock.T = f.Clock.T.Add(25 * time.Hour)
	if silent, err := f.Streams.MaintainStreams(t.Context(), posture.DefaultStreamTimeouts); err != nil || len(silent) != 0 {
		t.Errorf("a quiet account without changes: silent %v, %v; want none", silent, err)
	}
	record(t, f.Entities, newScope(instance, east), newEntity(east, "i-1", set(posture.Number("cores", 8))))
	silent, err := f.Streams.MaintainStreams(t.Context(), posture.DefaultStreamTimeouts)
	if err != nil || len(silent) != 1 || streamStatus(t, f) != posture.StreamDisconnected {
		t.Errorf("a quiet account with changes: silent %v, %v, %s; want it to be disconnected", silent, err, streamStatus(t, f))
	}
}

func manyDeliveriesAtOnce(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	var senders sync.WaitGroup
	for i := range 8 {
		senders.Go(func() {
			for j := range 10 { // one message that all senders send, and one of its own
				ms := []posture.StreamMessage{newMessage(f, fmt.Sprint(j), fmt.Sprintf("i-%02d", j)), newMessage(f, fmt.Sprint(i, j), fmt.Sprintf("i-%02d", j))}
				if _, err := f.Streams.Accept(t.Context(), []posture.Delivery{{Stream: s, Messages: ms}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	if got := len(due(t, f)); got != 10 {
		t.Errorf("%d are due, want 10", got)
	}
	got, err := f.Streams.Stream(t.Context(), org, account)
	if err != nil || got.Accepted != 90 || got.Duplicates != 70 {
		t.Errorf("accepted %d, duplicates %d, %v; want 90 (10 common, 80 own) and 70", got.Accepted, got.Duplicates, err)
	}
}

func deliveryToARemovedStreamIsGone(t *testing.T, f StreamFixture) {
	s := openStream(t, f)
	if err := f.Streams.CloseStream(t.Context(), org, account); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "outcome", deliver(t, f, s, newMessage(f, "m1", "i-1")), posture.StreamOutcome{Gone: true})
}
