// Package deliver groups recorded events into messages and sends them until the
// receiver accepts them or they become dead letters.
//
// Messages of one channel are sent sequentially; channels are independent. The number
// of concurrent channels per organisation is limited, so that slow receivers of one
// organisation do not occupy all workers.
package deliver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/posture/notify/channel"
)

// Sender sends messages.
type Sender interface {
	Send(ctx context.Context, c notify.Channel, m notify.Message) error
}

const (
	maxBatches     = 5                // batches of events per organisation and dispatch
	channelTime    = 20 * time.Second // time limit of one call of Channel
	maxOrgChannels = 4                // concurrent channels per organisation
	maxPause       = 10 * time.Minute // between attempts to a failing receiver
)

// Deliverer dispatches events and delivers messages.
type Deliverer struct {
	Store  notify.Outbox
	Sender Sender
	Link   func() string // returns the URL of the console for messages; nil for none
	Now    func() time.Time
	Log    *slog.Logger

	mu   sync.Mutex
	busy map[posture.OrgID]int // channels in progress
}

// Dispatch groups the events of the outbox into messages and returns the channels that
// are due. It takes one batch per organisation in turn, so that an organisation with
// many events does not delay the others.
func (d *Deliverer) Dispatch(ctx context.Context) ([]notify.Ref, error) {
	orgs, err := d.Store.OutboxOrgs(ctx)
	if err != nil {
		return nil, err
	}
	link := ""
	if d.Link != nil {
		link = d.Link()
	}
	for range maxBatches {
		var rest []posture.OrgID
		for _, org := range orgs {
			more, err := d.Store.Dispatch(ctx, org, link, d.Now())
			if err != nil {
				return nil, err
			}
			if more {
				rest = append(rest, org)
			}
		}
		orgs = rest
		if len(orgs) == 0 {
			break
		}
	}
	return d.Store.DueChannels(ctx, d.Now())
}

// Channel sends the messages of a channel until there are none left, one fails, the
// rate limit is reached, or the time limit has passed. The caller calls it again while
// there are messages, and never concurrently for the same channel.
func (d *Deliverer) Channel(ctx context.Context, r notify.Ref) error {
	if !d.enter(r.Org) {
		return nil
	}
	defer d.leave(r.Org)
	c, err := d.Store.Channel(ctx, r.Org, r.Channel)
	if fault.Is(err, fault.NotFound) {
		return nil // it was deleted in the meantime
	}
	if err != nil || !c.Enabled {
		return err
	}
	for end := time.Now().Add(channelTime); time.Now().Before(end) && ctx.Err() == nil; {
		if more, err := d.attempt(ctx, r, &c); err != nil || !more {
			return err
		}
	}
	return nil
}

// enter counts one more channel in progress. It returns false if the organisation has as many
// as it may have; the channel stays due and is tried again later.
func (d *Deliverer) enter(org posture.OrgID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy == nil {
		d.busy = map[posture.OrgID]int{}
	}
	if d.busy[org] >= maxOrgChannels {
		return false
	}
	d.busy[org]++
	return true
}

func (d *Deliverer) leave(org posture.OrgID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy[org]--
	if d.busy[org] == 0 {
		delete(d.busy, org)
	}
}

// attempt sends the next message. It returns true if there may be another one to send.
func (d *Deliverer) attempt(ctx context.Context, r notify.Ref, c *notify.Channel) (bool, error) {
	now := d.Now()
	sent, first, err := d.Store.SentSince(ctx, r, now.Add(-time.Minute))
	if err != nil {
		return false, err
	}
	if sent >= c.PerMinute { // pause until the first message of the last minute is a minute old
		return false, d.Store.PauseChannel(ctx, r, c.Failures, first.Add(time.Minute))
	}
	m, found, err := d.Store.NextDelivery(ctx, r)
	if err != nil || !found {
		return false, err
	}
	m.Message.Org = r.Org
	sendErr := d.Sender.Send(ctx, *c, m.Message)
	if ctx.Err() != nil {
		return false, ctx.Err() // the server shuts down; this is no failure of the receiver
	}
	m.Attempts++
	now = d.Now()
	if sendErr == nil {
		m.State, m.Ended, m.Error = notify.Delivered, now, ""
		c.Failures = 0
		return true, d.Store.SaveAttempt(ctx, r, m, 0, time.Time{})
	}
	d.Log.WarnContext(ctx, "notification not delivered",
		"org", r.Org, "channel", r.Channel, "type", c.Type, "delivery", m.ID, "attempt", m.Attempts, "error", channel.Cause(sendErr))
	m.Error = sendErr.Error()
	if channel.Refused(sendErr) {
		// The receiver works but refuses this message: do not delay the others.
		m.State, m.Ended = notify.Dead, now
		return true, d.Store.SaveAttempt(ctx, r, m, c.Failures, time.Time{})
	}
	c.Failures++
	pause := max(min(maxPause, time.Second<<min(c.Failures, 20)), channel.RetryAfter(sendErr))
	return false, d.Store.SaveAttempt(ctx, r, m, c.Failures, now.Add(pause))
}
