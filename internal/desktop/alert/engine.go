package alert

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// Board provides the records that rules are evaluated on.
type Board interface {
	Records(k desktop.Kind) []desktop.Record
}

// Sender delivers a notice to a channel. A [Refused] error means that the receiver will never accept it.
type Sender interface {
	Send(ctx context.Context, ch Channel, d Delivery) error
}

// Options configure an engine.
type Options struct {
	Store  Store
	Board  Board
	Send   Sender
	Every  time.Duration    // evaluation interval; 15 s when zero
	Now    func() time.Time // time.Now when nil
	Log    *slog.Logger
	Kept   time.Duration                       // how long resolved alerts are kept; 90 days when zero
	Notice func(ctx context.Context, n Notice) // called with every notice that will be sent; may be nil
}

// Engine evaluates rules and delivers notices.
type Engine struct {
	Options
	wake   chan struct{} // triggers an evaluation
	queued chan struct{} // triggers the delivery of notices
	last   atomic.Int64  // when an alert last changed, in milliseconds
	stop   context.CancelFunc
	work   sync.WaitGroup
}

// NewEngine returns an engine that is not running.
func NewEngine(o Options) *Engine {
	o.Every = cmp.Or(o.Every, 15*time.Second)
	o.Kept = cmp.Or(o.Kept, 90*24*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Engine{Options: o, wake: make(chan struct{}, 1), queued: make(chan struct{}, 1)}
}

// ChangedAt returns when an alert last changed, as far as this process knows.
func (e *Engine) ChangedAt() time.Time { return time.UnixMilli(e.last.Load()) }

// Start starts the evaluation of rules and the delivery of notices. They do not wait for each
// other: receivers that do not answer must not delay alerts.
func (e *Engine) Start(ctx context.Context) {
	ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.work.Go(func() { e.evaluateUntil(ctx) })
	e.work.Go(func() { e.deliverUntil(ctx) })
}

// Stop stops the engine and waits for it.
func (e *Engine) Stop() {
	if e.stop != nil {
		e.stop()
		e.work.Wait()
	}
}

// Wake triggers an evaluation now, because something has changed.
func (e *Engine) Wake() { signal(e.wake) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // a run is already pending
	}
}

// evaluateUntil evaluates all rules at once, at every interval and when it is triggered, until ctx is done.
func (e *Engine) evaluateUntil(ctx context.Context) {
	tick := time.NewTicker(e.Every)
	defer tick.Stop()
	for {
		e.logError(ctx, "evaluate alerts", e.Evaluate(ctx))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-e.wake:
		}
	}
}

// logError logs an error unless ctx is done, which is then the cause of the error.
func (e *Engine) logError(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		e.Log.ErrorContext(ctx, what, "error", err)
	}
}

// Evaluate evaluates all rules once.
func (e *Engine) Evaluate(ctx context.Context) error {
	now := e.Now()
	rules, err := e.Store.Rules(ctx)
	if err != nil {
		return fmt.Errorf("read alert rules: %w", err)
	}
	alerts, err := e.Store.Alerts(ctx, now) // only open alerts: no alert was resolved after now
	if err != nil {
		return fmt.Errorf("read alerts: %w", err)
	}
	notes, err := e.notes(ctx)
	if err != nil {
		return fmt.Errorf("read notes of alerts: %w", err)
	}
	existing := map[string][]Alert{}
	for _, a := range alerts {
		existing[a.RuleID] = append(existing[a.RuleID], a)
	}
	var records []desktop.Record
	for _, k := range desktop.Kinds() {
		records = append(records, e.Board.Records(k)...)
	}
	var changes []Transition
	for _, r := range rules {
		var found []finding
		if r.Enabled {
			found = append(r.Condition.find(records, now), r.unconfirmed(existing[r.ID], records)...)
		}
		changes = append(changes, transitions(r, found, existing[r.ID], notes, now, uuid.NewString)...)
	}
	if len(changes) > 0 {
		if err := e.Store.Apply(ctx, changes); err != nil {
			return fmt.Errorf("record alerts: %w", err)
		}
		e.last.Store(now.UnixMilli())
		e.notify(ctx, changes)
		signal(e.queued)
	}
	if err := e.forgetNotes(ctx, notes, now); err != nil {
		return fmt.Errorf("forget notes of alerts: %w", err)
	}
	return e.Store.Forget(ctx, now.Add(-e.Kept), now)
}

// notes returns the notes by group.
func (e *Engine) notes(ctx context.Context) (map[string]Note, error) {
	all, err := e.Store.Notes(ctx)
	out := make(map[string]Note, len(all))
	for _, n := range all {
		out[n.Group] = n
	}
	return out, err
}

// forgetNotes removes acknowledgements of groups that are resolved, and
// silences that have expired.
func (e *Engine) forgetNotes(ctx context.Context, notes map[string]Note, now time.Time) error {
	if len(notes) == 0 {
		return nil
	}
	alerts, err := e.Store.Alerts(ctx, now)
	if err != nil {
		return err
	}
	open := make(map[string]bool)
	for _, a := range alerts {
		open[a.Group()] = open[a.Group()] || a.Open()
	}
	for group, n := range notes {
		isResolved := !n.AcknowledgedAt.IsZero() && !open[group]
		if !isResolved && !n.empty(now) {
			continue
		}
		// ChangeNote deletes the note if it is empty after the change.
		_, err := e.Store.ChangeNote(ctx, group, n.RuleID, now, func(n *Note) {
			n.AcknowledgedBy, n.AcknowledgedAt, n.Comment = "", time.Time{}, ""
		})
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

func (e *Engine) notify(ctx context.Context, changes []Transition) {
	for _, t := range changes {
		if e.Notice != nil && len(t.Send) > 0 {
			e.Notice(ctx, t.Send[0].Notice)
		}
	}
}

// Test sends a test notice to all channels of a rule. It returns the errors by
// channel.
func (e *Engine) Test(ctx context.Context, r Rule) []error {
	now := e.Now()
	a := Alert{
		RuleID: r.ID, State: Firing, Summary: "this is a test", Since: now, FiredAt: now, NotifiedAt: now,
		Subject: Subject{Ref: desktop.Ref{Kind: r.Condition.Kind, Name: "test"}},
	}
	out := make([]error, len(r.Channels))
	for i, d := range r.deliveries(a, now, uuid.NewString) {
		out[i] = e.Send.Send(ctx, r.Channels[i], d)
	}
	return out
}
