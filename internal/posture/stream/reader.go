package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/stream/change"
	"vigil/internal/telemetry/tracing"
)

// ReaderOptions are the dependencies and settings of a [Reader].
type ReaderOptions struct {
	Tracer   *tracing.Tracer // may be nil
	Store    posture.StreamStore
	Accounts posture.OnboardingStore
	Entities posture.EntityStore
	Sources  []collect.Source
	Runner   *collect.Runner // reads all resources of a type

	// UpdateGraph applies the changes of an account to its graph.
	UpdateGraph func(ctx context.Context, org posture.OrgID, id posture.AccountID) error

	// Evaluate evaluates the rules that the changes of an account since their last
	// evaluation may affect. It reads the graph.
	Evaluate func(ctx context.Context, org posture.OrgID, id posture.AccountID) error

	// ConfirmAfter is the delay after which a resource is read a second time: the
	// clouds are eventually consistent, and an answer right after a change may be out
	// of date. Zero means never.
	ConfirmAfter time.Duration
	// IdleWait is how long a worker without due reads waits for another message.
	IdleWait time.Duration
	// BatchInterval is the least time between two batches of an account: the first
	// event is handled at once, a burst of events is handled together.
	BatchInterval time.Duration

	Log     *slog.Logger
	Metrics *Metrics
	Now     func() time.Time
}

// Reader reads the resources that messages name. It is safe for concurrent use; it
// works on each account with one worker at a time.
type Reader struct {
	ReaderOptions
	sources  map[posture.Provider]collect.Source
	index    map[posture.Provider]*change.Index
	sessions sessionPool

	mu      sync.Mutex
	workers map[posture.AccountRef]*worker
}

// NewReader returns a reader.
func NewReader(o ReaderOptions) *Reader {
	r := &Reader{
		ReaderOptions: o, sources: map[posture.Provider]collect.Source{}, index: map[posture.Provider]*change.Index{},
		workers: map[posture.AccountRef]*worker{},
	}
	r.sessions.now = o.Now
	for _, s := range o.Sources {
		r.sources[s.Provider()] = s
	}
	for _, p := range posture.Providers {
		r.index[p] = change.NewIndex(declarations(o.Sources, p))
	}
	return r
}

const (
	batchSize   = 64 // targets that are saved and evaluated together
	parallelism = 8  // concurrent reads of a batch; the source's limiter sets the rate
	maxTries    = 6  // after which a target is left to the next collection
)

// batch reads some targets of an account, saves the entities, evaluates the rules and
// records the results.
func (r *Reader) batch(ctx context.Context, ref posture.AccountRef, due []posture.PendingRead) (err error) {
	ctx, span := r.Tracer.Continue(ctx, "changed resources", traceOf(due))
	span.SetInt("vigil.resources", len(due))
	defer func() { span.End(err) }()
	finished := r.stageTimer(due)
	access, err := r.Accounts.Access(ctx, ref.Org, ref.Account)
	if fault.Is(err, fault.NotFound) { // the account has no credential: the next collection reads all of it
		return r.Store.RecordReads(ctx, ref.Org, ref.Account, posture.ReadResults{Done: due})
	}
	if err != nil {
		return err
	}
	reading, stage := tracing.Start(ctx, "read changed resources")
	reads, err := r.readAll(reading, access, due)
	stage.End(err)
	if err != nil {
		return err
	}
	finished("read")
	saving, stage := tracing.Start(ctx, "save changed resources")
	results, err := r.save(saving, access, reads)
	stage.End(err)
	if fault.Is(err, fault.NotFound) {
		return nil // the account was removed, and its pending reads with it
	}
	if err != nil {
		return err
	}
	finished("save")
	if err := r.UpdateGraph(ctx, ref.Org, ref.Account); err != nil && !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("update graph: %w", err)
	}
	finished("patch")
	evaluating, stage := tracing.Start(ctx, "evaluate rules")
	err = r.Evaluate(evaluating, ref.Org, ref.Account)
	if stage.End(err); err != nil {
		return fmt.Errorf("evaluate rules: %w", err)
	}
	finished("judge")
	return r.Store.RecordReads(ctx, ref.Org, ref.Account, results)
}

// traceOf returns the trace that a batch belongs to: that of the first message that is
// traced.
func traceOf(due []posture.PendingRead) string {
	for _, p := range due {
		if p.Trace != "" {
			return p.Trace
		}
	}
	return ""
}

// stageTimer records how long the targets waited. It returns a function that records,
// for each target, the time since the previous stage. Confirming reads do not count.
func (r *Reader) stageTimer(due []posture.PendingRead) (finished func(stage string)) {
	last, count := r.Now(), 0
	for _, p := range due {
		if !p.Confirm {
			r.Metrics.stage("wait", last.Sub(p.Since), 1)
			count++
		}
	}
	return func(stage string) {
		now := r.Now()
		r.Metrics.stage(stage, now.Sub(last), count)
		last = now
	}
}

// A read is the result of reading one target.
type read struct {
	posture.PendingRead
	scope        posture.Scope
	found        []posture.Entity
	removed      []posture.EntityID // ids that the entity may have had, when the resource does not exist
	readByRunner bool               // the runner read all of the type, and saved it
	skipped      bool               // no collector reads the type, or the region is not read
	err          error
}

// readAll reads targets in parallel. It fails only when ctx has ended; failures of
// single targets are in their reads.
func (r *Reader) readAll(ctx context.Context, access posture.Access, due []posture.PendingRead) ([]read, error) {
	reads := make([]read, len(due))
	session, err := r.session(ctx, access)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for i, p := range due {
			reads[i] = read{PendingRead: p, err: err}
		}
		return reads, nil
	}
	defer session.release()
	var running sync.WaitGroup
	slots := make(chan struct{}, parallelism)
	for i, p := range due {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			reads[i] = r.readOne(ctx, access, session, p)
		})
	}
	running.Wait()
	return reads, ctx.Err()
}

// readOne reads one target.
func (r *Reader) readOne(ctx context.Context, access posture.Access, session collect.Session, p posture.PendingRead) read {
	result := read{PendingRead: p}
	unit, ok := session.Unit(p.Type, p.Region)
	if !ok || !access.Account.Reads(unit.Region) {
		result.skipped = true
		return result
	}
	result.scope = posture.Scope{Org: access.Org, Account: access.Account.ID, Type: p.Type, Region: unit.Region}
	if p.Name == "" || unit.Get == nil {
		result.readByRunner = true
		result.err = r.readType(ctx, access, p.Type, unit.Region)
		return result
	}
	var mu sync.Mutex // collectors may read details in parallel
	result.err = unit.Get(ctx, p.Name, func(res *collect.Resource) error {
		mu.Lock()
		defer mu.Unlock()
		res.Normalize()
		if !access.Account.Reads(res.Entity.Region) {
			return nil
		}
		result.found = append(result.found, res.Entity)
		return nil
	})
	if errors.Is(result.err, collect.ErrGone) || errors.Is(result.err, collect.ErrOff) {
		result.err, result.removed = nil, r.candidateIDs(access.Account.Provider, access.Account.ID, unit.Region, p.Target)
	}
	return result
}

// readType reads and saves all resources of a type in a region, as a collection does.
func (r *Reader) readType(ctx context.Context, access posture.Access, t posture.EntityType, region string) error {
	o := r.Runner.Run(ctx, access, posture.RunScope{Types: []posture.EntityType{t}, Regions: []string{region}}, nil)
	if o.Status == posture.RunFailed || o.Status == posture.RunTimeout {
		return errors.New(o.Reason)
	}
	return nil
}
