package app

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"vigil/internal/job"
	"vigil/internal/outbound"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/posture/notify/channel"
	"vigil/internal/posture/notify/deliver"
	"vigil/internal/sqldb"
)

// notifying is the queue of channels to send to. Receivers may be slow: the queue has
// workers of its own, which mostly wait for answers.
const (
	notifying     = "notify"
	notifyWorkers = 64
)

// dispatchArgs asks for recorded events to be made into messages.
type dispatchArgs struct{}

// Kind implements [job.Args].
func (dispatchArgs) Kind() string { return "notify_dispatch" }

// deliverArgs asks for the messages of a channel to be sent.
type deliverArgs struct {
	Org     posture.OrgID `json:"org"`
	Channel string        `json:"channel"`
}

// Kind implements [job.Args].
func (deliverArgs) Kind() string { return "notify_deliver" }

// tendNotifyArgs asks for the ends of suppressions to be recorded, and for messages
// that waited for too long to become dead letters.
type tendNotifyArgs struct{}

// Kind implements [job.Args].
func (tendNotifyArgs) Kind() string { return "notify_tend" }

// private are networks that are not part of the internet: no message is sent
// there unless a setting allows it.
var private = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fc00::/7"),
}

// newSenders returns what sends notifications.
func (a *App) newSenders() *channel.Senders {
	policy := outbound.Policy{Deny: private}
	if a.o.Install.Config.Posture.NotifyPrivate {
		policy = outbound.Policy{AllowSelf: true}
	}
	return channel.New(channel.Options{Policy: policy, Now: a.o.Now})
}

// handleNotifyJobs registers the jobs that make, send and expire notifications.
func (a *App) handleNotifyJobs(senders *channel.Senders) error {
	d := &deliver.Deliverer{
		Store: a.store, Sender: senders, Now: a.o.Now, Log: a.o.Log,
		Link: func() string { return a.publicURL() + "/console/findings" },
	}
	a.queue.Every("notify_dispatch", notify.GroupTime, dispatchArgs{}, job.Options{Attempts: 1, Queue: "default"})
	a.queue.Every("notify_tend", time.Minute, tendNotifyArgs{}, job.Options{Attempts: 1})
	return errors.Join(
		job.Handle(a.queue, 2*time.Minute, func(ctx context.Context, _ job.Job[dispatchArgs]) error {
			due, err := d.Dispatch(ctx)
			if err != nil || len(due) == 0 {
				return err
			}
			return a.o.Install.DB.Write(ctx, func(tx *sqldb.Tx) error {
				for _, r := range due {
					key := string(r.Org) + "/" + r.Channel
					if _, err := a.queue.Insert(tx, deliverArgs(r), job.Options{Queue: notifying, Unique: key, Attempts: 1}); err != nil {
						return err
					}
				}
				return nil
			})
		}),
		job.Handle(a.queue, 2*time.Minute, func(ctx context.Context, j job.Job[deliverArgs]) error {
			return d.Channel(ctx, notify.Ref(j.Args))
		}),
		job.Handle(a.queue, time.Minute, func(ctx context.Context, _ job.Job[tendNotifyArgs]) error {
			now := a.o.Now()
			return errors.Join(a.store.RecordEndedSuppressions(ctx, now), a.store.ExpireDeliveries(ctx, now, now.Add(-notify.KeptFor)))
		}),
	)
}
