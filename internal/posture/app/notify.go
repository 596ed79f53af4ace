package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"time"

	"vigil/internal/job"
	"vigil/internal/outbound"
	"vigil/internal/posture"
	"vigil/internal/posture/export"
	"vigil/internal/posture/notify"
	"vigil/internal/posture/notify/channel"
	"vigil/internal/posture/notify/deliver"
	"vigil/internal/sqldb"
)

// notifyQueue is the queue of jobs that send to channels. Receivers may be slow, so the queue
// has its own workers, which mostly wait for responses.
const (
	notifyQueue   = "notify"
	notifyWorkers = 64
)

// dispatchArgs are the arguments of the job that groups recorded events into messages.
type dispatchArgs struct{}

// Kind implements [job.Args].
func (dispatchArgs) Kind() string { return "notify_dispatch" }

// deliverArgs are the arguments of the job that sends the messages of a channel.
type deliverArgs struct {
	Org     posture.OrgID `json:"org"`
	Channel string        `json:"channel"`
}

// Kind implements [job.Args].
func (deliverArgs) Kind() string { return "notify_deliver" }

// maintainNotificationsArgs are the arguments of the periodic job that records expired
// suppressions and turns old messages into dead letters.
type maintainNotificationsArgs struct{}

// Kind implements [job.Args].
func (maintainNotificationsArgs) Kind() string { return "notify_tend" }

// private are networks that are not part of the internet. No message is sent there
// unless a setting allows it.
var private = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fc00::/7"),
}

// newSenders returns the senders of notifications.
func (a *App) newSenders() *channel.Senders {
	policy := outbound.Policy{Deny: private}
	if a.o.Install.Config.Posture.NotifyPrivate {
		policy = outbound.Policy{AllowSelf: true}
	}
	o := channel.Options{Policy: policy, Now: a.o.Now, Findings: a.hubFindings, TestFinding: func(id, account, region string) json.RawMessage {
		return export.SecurityHubTest(export.Report{Version: a.o.Version, At: a.o.Now()}, id, account, region)
	}}
	for _, source := range a.o.Sources {
		if hub, ok := source.(channel.SecurityHub); ok {
			o.SecurityHub = hub
		}
	}
	return channel.New(o)
}

// hubFindings formats findings for AWS Security Hub.
func (a *App) hubFindings(ctx context.Context, org posture.OrgID, all []posture.Finding, account, region string) ([]json.RawMessage, error) {
	rules, err := a.book.Rules(ctx, org)
	if err != nil {
		return nil, err
	}
	frameworks, err := a.book.Frameworks(ctx, org)
	if err != nil {
		return nil, err
	}
	report := export.Report{Version: a.o.Version, At: a.o.Now(), Rules: map[posture.RuleID]posture.Rule{}, Frameworks: map[string]posture.Framework{}}
	for _, r := range rules {
		report.Rules[r.ID] = r
	}
	for _, f := range frameworks {
		report.Frameworks[f.ID] = f
	}
	var out []json.RawMessage
	for _, f := range all {
		if text, ok := export.SecurityHub(f, report, account, region); ok {
			out = append(out, text)
		}
	}
	return out, nil
}

// handleNotifyJobs registers the jobs that dispatch, deliver and expire notifications.
func (a *App) handleNotifyJobs(senders *channel.Senders) error {
	d := &deliver.Deliverer{
		Store: a.store, Sender: senders, Now: a.o.Now, Log: a.o.Log,
		Link: func() string { return a.publicURL() + "/console/findings" },
	}
	a.queue.Every("notify_dispatch", notify.GroupTime, dispatchArgs{}, job.Options{Attempts: 1, Queue: "default"})
	a.queue.Every("notify_tend", time.Minute, maintainNotificationsArgs{}, job.Options{Attempts: 1})
	return errors.Join(
		job.Handle(a.queue, 2*time.Minute, func(ctx context.Context, _ job.Job[dispatchArgs]) error {
			due, err := d.Dispatch(ctx)
			if err != nil || len(due) == 0 {
				return err
			}
			return a.o.Install.DB.Write(ctx, func(tx *sqldb.Tx) error {
				for _, r := range due {
					key := string(r.Org) + "/" + r.Channel
					if _, err := a.queue.Insert(tx, deliverArgs(r), job.Options{Queue: notifyQueue, Share: string(r.Org), Unique: key, Attempts: 1}); err != nil {
						return err
					}
				}
				return nil
			})
		}),
		job.Handle(a.queue, 2*time.Minute, func(ctx context.Context, j job.Job[deliverArgs]) error {
			return d.Channel(ctx, notify.Ref(j.Args))
		}),
		job.Handle(a.queue, time.Minute, func(ctx context.Context, _ job.Job[maintainNotificationsArgs]) error {
			now := a.o.Now()
			return errors.Join(a.store.RecordEndedSuppressions(ctx, now), a.store.ExpireDeliveries(ctx, now, now.Add(-notify.KeptFor)))
		}),
	)
}
