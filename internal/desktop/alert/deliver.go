package alert

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vigil/internal/fault"
)

// Lease is the time until another process may send a claimed delivery.
const Lease = time.Minute

// ShortRetries is the number of failed attempts after which one more failure postpones a delivery
// by more than two leases.
const ShortRetries = 5

const (
	sendLimit = Lease / 2 // of one delivery; none is started later than this after the claim
	maxClaim  = 16        // deliveries that are sent concurrently

	// maxPerReceiver is the number of deliveries that are sent to one receiver concurrently. A receiver that
	// does not answer must leave room for others.
	maxPerReceiver = 4

	// firstRetry is the time until a delivery that failed once is sent again. It doubles with each
	// failure; see ShortRetries.
	firstRetry = 5 * time.Second

	// lastRecord limits how long a stop waits until a sent delivery is recorded.
	lastRecord = 5 * time.Second
)

// deliverUntil sends deliveries when they are due, until ctx is done.
func (e *Engine) deliverUntil(ctx context.Context) {
	tick := time.NewTicker(e.Every)
	defer tick.Stop()
	d := newDispatcher(e)
	defer d.work.Wait()
	for {
		e.logError(ctx, "deliver notices", d.start(ctx))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-e.queued:
		case r := <-d.finished:
			e.logError(ctx, "deliver notices", d.finish(r))
		}
	}
}

// Deliver sends the deliveries that are due, and those that become due meanwhile.
func (e *Engine) Deliver(ctx context.Context) error {
	d := newDispatcher(e)
	defer d.work.Wait()
	err := d.start(ctx)
	for d.total > 0 {
		err = errors.Join(err, d.finish(<-d.finished))
		if ctx.Err() == nil {
			err = errors.Join(err, d.start(ctx))
		}
	}
	return err
}

// dispatcher claims deliveries and sends them concurrently. It claims more as soon as one is sent, so that a slow
// receiver delays only its own notices. Its methods are called by one goroutine.
type dispatcher struct {
	*Engine
	total    int            // deliveries that are claimed and not finished
	sending  map[string]int // the same by receiver
	finished chan finished  // has room for all of them
	work     sync.WaitGroup
}

// finished is the result of a delivery.
type finished struct {
	receiver string
	err      error
}

func newDispatcher(e *Engine) *dispatcher {
	return &dispatcher{Engine: e, sending: make(map[string]int), finished: make(chan finished, maxClaim)}
}

// start claims deliveries that are due, as many as there is room for, and starts to send them.
func (d *dispatcher) start(ctx context.Context) error {
	if d.total == maxClaim {
		return nil
	}
	claimed := d.Now()
	due, err := d.Store.Claim(ctx, claimed, Lease, Capacity{Total: maxClaim - d.total, PerReceiver: maxPerReceiver, Sending: d.sending})
	if err != nil {
		return fmt.Errorf("read notices: %w", err)
	}
	// Notices of one group to one channel are sent in order, all others concurrently.
	queues := make(map[string][]Delivery)
	for _, each := range due {
		queues[each.Queue()] = append(queues[each.Queue()], each)
		d.total++
		d.sending[each.Receiver()]++
	}
	for _, queue := range queues {
		d.work.Go(func() { d.deliverQueue(ctx, claimed, queue) })
	}
	return nil
}

// deliverQueue sends deliveries of one queue in order until one is not done, and reports all of them as finished.
func (d *dispatcher) deliverQueue(ctx context.Context, claimed time.Time, queue []Delivery) {
	blocked := false // the next one is sent later: it must not overtake the previous one
	for _, each := range queue {
		// After sendLimit, the next one is left until its lease has expired.
		blocked = blocked || d.Now().Sub(claimed) > sendLimit
		var err error
		if !blocked {
			var done bool
			done, err = d.deliver(ctx, each)
			blocked = !done || err != nil
		}
		d.finished <- finished{each.Receiver(), err}
	}
}

// finish makes room for another delivery.
func (d *dispatcher) finish(r finished) error {
	d.total--
	d.sending[r.receiver]--
	if d.sending[r.receiver] == 0 {
		delete(d.sending, r.receiver)
	}
	return r.err
}

// deliver sends a delivery. It reports whether the delivery is done: it will not be sent again.
func (e *Engine) deliver(ctx context.Context, d Delivery) (done bool, err error) {
	r, err := e.Store.Rule(ctx, d.RuleID)
	if fault.Is(err, fault.NotFound) {
		return true, e.Store.Delivered(ctx, d.ID) // the rule was removed
	}
	if err != nil {
		return false, err
	}
	ch, ok := r.channelOf(d)
	if !ok {
		e.Log.WarnContext(ctx, "notice dropped, because its channel was changed or removed", "rule", r.Name, "attempts", d.Attempts)
		return true, e.Store.Drop(ctx, d)
	}
	err = e.send(ctx, ch, d)
	if err == nil {
		// Record it even if the engine was stopped meanwhile: otherwise it is sent again after a restart.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRecord)
		defer cancel()
		return true, e.Store.Delivered(ctx, d.ID)
	}
	if ctx.Err() != nil {
		return false, ctx.Err() // the engine was stopped: the receiver did not fail
	}
	d.Attempts++
	d.Error = err.Error()
	d.NextAt = e.Now().Add(min(time.Hour, firstRetry<<min(d.Attempts-1, 12)))
	if !d.NextAt.Before(d.ExpireAt) {
		e.Log.ErrorContext(ctx, "notice given up", "rule", r.Name, "attempts", d.Attempts, "error", err, "cause", errors.Unwrap(err))
		return true, e.Store.Delivered(ctx, d.ID)
	}
	if _, refused := errors.AsType[Refused](err); refused && d.Attempts >= ShortRetries {
		// Later notices of the group must not wait for it until it expires.
		e.Log.ErrorContext(ctx, "notice given up, because the receiver refuses it", "rule", r.Name, "attempts", d.Attempts, "error", err)
		return true, e.Store.Drop(ctx, d)
	}
	e.Log.WarnContext(ctx, "notice not delivered", "rule", r.Name, "attempts", d.Attempts, "retry_at", d.NextAt, "error", err, "cause", errors.Unwrap(err))
	return false, e.Store.Postpone(ctx, d)
}

func (e *Engine) send(ctx context.Context, ch Channel, d Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	return e.Send.Send(ctx, ch, d)
}
