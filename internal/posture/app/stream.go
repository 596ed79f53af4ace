package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/job"
	"vigil/internal/posture"
	"vigil/internal/posture/api"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/store"
	"vigil/internal/posture/stream"
	"vigil/internal/sqldb"
)

// streams are the components that receive and process events.
type streams struct {
	store    *store.Streams
	receiver *stream.Receiver
	reader   *stream.Reader
}

// streamQueue is the queue of reads that events cause. It has its own workers, so that an
// event does not wait for a collection.
const streamQueue = "stream"

// streamWorkers is the number of accounts that are processed concurrently because of
// events.
const streamWorkers = 32

// streamArgs are the arguments of the job that makes the due reads of an account.
type streamArgs struct {
	Org     posture.OrgID     `json:"org"`
	Account posture.AccountID `json:"account"`
}

// Kind implements [job.Args].
func (streamArgs) Kind() string { return "stream" }

// Stream enqueues the due reads of an account in tx. The store calls it only if no job
// of the account is active. The job has no Unique key: a job that has just ended may still
// be recorded as running, and would prevent the insertion.
func (j jobs) Stream(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error {
	_, err := j.queue.Insert(tx, streamArgs{org, id}, job.Options{Queue: streamQueue, Share: string(org), Priority: 1, Attempts: streamAttempts})
	return err
}

// streamAttempts is how often the job of an account is started before it is given up.
// Only crashes of workers count, not errors: see reschedule.
const streamAttempts = 1000

// streamPause is the pause of an account whose job failed.
const streamPause = 5 * time.Second

// maintainStreamsArgs are the arguments of the periodic job that maintains event streams.
type maintainStreamsArgs struct{}

// Kind implements [job.Args].
func (maintainStreamsArgs) Kind() string { return "maintain_streams" }

// KindAliases implements [river.JobArgsWithKindAliases]: the queue may hold a job that an
// earlier version added.
func (maintainStreamsArgs) KindAliases() []string { return []string{"tend_streams"} }

// newStreams builds the components for event streams.
func (a *App) newStreams() error {
	client := a.o.Client
	if client == nil {
		transport, err := egress.New(egress.Options{})
		if err != nil {
			return err
		}
		client = transport.Client()
	}
	metrics, err := stream.NewMetrics(a.o.Metrics)
	if err != nil {
		return err
	}
	s := store.NewStreams(a.o.Install.DB, jobs{queue: a.queue}, a.o.Now)
	reader := stream.NewReader(stream.ReaderOptions{
		Tracer: a.o.Tracer,
		Store:  s, Accounts: a.store, Entities: a.store, Sources: a.o.Sources, Runner: a.sweep.Runner, UpdateGraph: a.updateGraph, Evaluate: a.judge.Change,
		ConfirmAfter: 30 * time.Second, IdleWait: 300 * time.Millisecond, BatchInterval: 250 * time.Millisecond, Log: a.o.Log, Metrics: metrics, Now: a.o.Now,
	})
	a.streams = &streams{store: s, reader: reader, receiver: stream.NewReceiver(stream.Options{
		Store: s, Sources: a.o.Sources, Client: client, URL: a.publicURL, Wake: reader.Wake, Metrics: metrics, Now: a.o.Now,
	})}
	return nil
}

// updateGraph applies the changes of an account to its graph.
func (a *App) updateGraph(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	_, err := a.graphs.Graph(ctx, org, id)
	return err
}

// handleStreamJobs registers the jobs for event streams.
func (a *App) handleStreamJobs() error {
	a.queue.Every("maintain_streams", 5*time.Second, maintainStreamsArgs{}, job.Options{Queue: streamQueue, Attempts: 1})
	return errors.Join(
		job.Handle(a.queue, 10*time.Minute, func(ctx context.Context, j job.Job[streamArgs]) error {
			err := a.streams.reader.Work(ctx, j.Args.Org, j.Args.Account)
			if err != nil && ctx.Err() == nil {
				a.o.Log.WarnContext(ctx, "reads after events failed", "account", j.Args.Account, "error", err)
			}
			return reschedule(ctx, err)
		}),
		job.Handle(a.queue, time.Minute, func(ctx context.Context, _ job.Job[maintainStreamsArgs]) error {
			silent, err := a.streams.store.MaintainStreams(ctx, posture.DefaultStreamTimeouts)
			for _, ref := range silent {
				a.o.Log.WarnContext(ctx, "event stream lost", "account", ref.Account)
			}
			return err
		}),
	)
}

// reschedule returns the result of an account's job after Work returned err. It replaces an
// error by a request to run the job again, because the pending reads are still stored.
func reschedule(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(ctx.Err(), context.Canceled): // done, or the process shuts down
		return err
	case ctx.Err() != nil: // the time limit passed while reads were due
		return job.Later(0)
	case fault.Is(err, fault.Unavailable): // the database is not reachable
		return job.Later(time.Second)
	}
	return job.Later(streamPause)
}

// publicURL returns the URL by which people and clouds reach the server. A port that
// the system assigns is known only after Listen.
func (a *App) publicURL() string {
	conf := a.o.Install.Config.Posture
	if url := a.listening.Load(); url != nil && strings.HasSuffix(conf.PublicURL, ":0") {
		return *url
	}
	return conf.PublicURL
}

// streamRoutes returns the routes of event streams.
func (a *App) streamRoutes() []httpapi.Route {
	return slices.Concat(
		(&api.Streams{Org: callerOrg, Accounts: a.store, Store: a.streams.store, Receiver: a.streams.receiver, URL: a.publicURL}).Routes(),
		(&api.Scripts{URL: a.publicURL, Principal: a.o.Cloud.Principal}).Routes(),
	)
}

// eventRate is the rate limit of events per network. It is high, because clouds send
// many events from few addresses.
var eventRate = httpapi.Rate{PerSecond: 2000, Burst: 20000}
