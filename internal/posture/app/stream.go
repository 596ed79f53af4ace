package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"vigil/internal/httpapi"
	"vigil/internal/job"
	"vigil/internal/posture"
	"vigil/internal/posture/api"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/store"
	"vigil/internal/posture/stream"
	"vigil/internal/sqldb"
)

// streams are the parts that deal with what clouds send.
type streams struct {
	store    *store.Streams
	receiver *stream.Receiver
	reader   *stream.Reader
}

// streaming is the queue of what is read because of events. It has workers of its
// own, so that an event does not wait for a collection.
const streaming = "stream"

// streamWorkers is how many accounts are worked on at a time because of events.
const streamWorkers = 32

// streamArgs asks for what is due in an account to be read.
type streamArgs struct {
	Org     posture.OrgID     `json:"org"`
	Account posture.AccountID `json:"account"`
}

// Kind implements [job.Args].
func (streamArgs) Kind() string { return "stream" }

// Stream asks for what is due in an account to be read once tx is committed. The
// store asks once until whoever works on the account has come to rest. That such a
// job has ended is recorded later, so this one must not wait for that.
func (j jobs) Stream(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error {
	_, err := j.queue.Insert(tx, streamArgs{org, id}, job.Options{Queue: streaming, Priority: 1, Attempts: streamLives})
	return err
}

// streamLives is how many processes may die while they work on an account before
// that is taken for the work's fault. Failures do not count: see goOn.
const streamLives = 1000

// streamPause is how long an account rests on which work failed.
const streamPause = 5 * time.Second

// tendStreamsArgs asks for event streams to be looked after.
type tendStreamsArgs struct{}

// Kind implements [job.Args].
func (tendStreamsArgs) Kind() string { return "tend_streams" }

// newStreams builds what takes events.
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
	s := store.NewStreams(a.o.Install.DB, jobs{a.queue}, a.o.Now)
	reader := stream.NewReader(stream.ReaderOptions{
		Store: s, Accounts: a.store, Entities: a.store, Sources: a.o.Sources, Runner: a.sweep.Runner, UpdateGraph: a.updateGraph, Evaluate: a.judge.Change,
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

// handleStreamJobs says who reads what events name.
func (a *App) handleStreamJobs() error {
	a.queue.Every("tend_streams", 5*time.Second, tendStreamsArgs{}, job.Options{Queue: streaming, Attempts: 1})
	return errors.Join(
		job.Handle(a.queue, 10*time.Minute, func(ctx context.Context, j job.Job[streamArgs]) error {
			err := a.streams.reader.Work(ctx, j.Args.Org, j.Args.Account)
			if err != nil && ctx.Err() == nil {
				a.o.Log.WarnContext(ctx, "work on events failed", "account", j.Args.Account, "error", err)
			}
			return goOn(ctx, err)
		}),
		job.Handle(a.queue, time.Minute, func(ctx context.Context, _ job.Job[tendStreamsArgs]) error {
			lost, err := a.streams.store.MaintainStreams(ctx, posture.DefaultStreamTimeouts)
			for _, ref := range lost {
				a.o.Log.WarnContext(ctx, "event stream lost", "account", ref.Account)
			}
			return err
		}),
	)
}

// goOn says when work on an account that ended with an error goes on. It has not
// failed for good: what is left to read is still there.
func goOn(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(ctx.Err(), context.Canceled): // it is done, or the process stops
		return err
	case ctx.Err() != nil: // there was always more to do
		return job.Later(0)
	}
	return job.Later(streamPause)
}

// publicURL returns the address by which people and clouds reach the server. A
// port that the system chose is known only once the server listens.
func (a *App) publicURL() string {
	conf := a.o.Install.Config.Posture
	if url := a.listening.Load(); url != nil && strings.HasSuffix(conf.PublicURL, ":0") {
		return *url
	}
	return conf.PublicURL
}

// streamRoutes lists everything about event streams.
func (a *App) streamRoutes() []httpapi.Route {
	return slices.Concat(
		(&api.Streams{Org: callerOrg, Accounts: a.store, Store: a.streams.store, Receiver: a.streams.receiver, URL: a.publicURL}).Routes(),
		(&api.Scripts{URL: a.publicURL, Principal: a.o.Cloud.Principal}).Routes(),
	)
}

// eventRate is how often one network may send events: clouds send many from few
// addresses.
var eventRate = httpapi.Rate{PerSecond: 2000, Burst: 20000}
