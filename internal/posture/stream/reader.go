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
)

// ReaderOptions are what a reader is made of.
type ReaderOptions struct {
	Store    posture.StreamStore
	Accounts posture.OnboardingStore
	Entities posture.EntityStore
	Sources  []collect.Source
	Runner   *collect.Runner // reads whole scopes

	// Judge evaluates the rules that can see what changed in an account since
	// they were last evaluated.
	Judge func(ctx context.Context, org posture.OrgID, id posture.AccountID) error

	// Patch brings the graph of an account up to date, which Judge needs.
	Patch func(ctx context.Context, org posture.OrgID, id posture.AccountID) error

	// SecondLook is how much later a resource is read once more: what a cloud
	// answers right after a change need not be the last word. Zero for never.
	SecondLook time.Duration
	// Linger is how long a reader waits for more when nothing is due.
	Linger time.Duration
	// Pace is the least time from one batch of an account to the next: the first
	// event is dealt with at once, a stream of them together.
	Pace time.Duration

	Log     *slog.Logger
	Metrics *Metrics
	Now     func() time.Time
}

// Reader reads what messages name. It is safe for concurrent use; one caller at a
// time works on an account.
type Reader struct {
	ReaderOptions
	sources  map[posture.Provider]collect.Source
	index    map[posture.Provider]*change.Index
	sessions sessions

	mu      sync.Mutex
	working map[posture.AccountRef]*shift
}

// A shift is somebody's work on an account.
type shift struct {
	nudge chan struct{} // has one when more came
	over  chan struct{} // closed at its end
}

// NewReader returns a reader.
func NewReader(o ReaderOptions) *Reader {
	r := &Reader{
		ReaderOptions: o, sources: map[posture.Provider]collect.Source{}, index: map[posture.Provider]*change.Index{},
		working: map[posture.AccountRef]*shift{},
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
	atOnce   = 64 // targets that are saved and judged together
	parallel = 8  // that are read at a time; the limiter keeps the pace
	maxTries = 6  // before a target is left to the next collection
)

// Work reads everything that is due in an account. It returns when nothing is
// and nothing more came for a moment. Whoever calls it again after it failed, or
// after the process died, goes on where it stopped.
func (r *Reader) Work(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	ref := posture.AccountRef{Org: org, Account: id}
	mine, err := r.begin(ctx, ref)
	if err != nil {
		return err
	}
	defer r.end(ref)
	for {
		due, err := r.Store.Rereads(ctx, org, id, atOnce)
		if err != nil {
			return err
		}
		if len(due) > 0 {
			next := time.NewTimer(r.Pace)
			if err := r.batch(ctx, ref, due); err != nil {
				next.Stop()
				return err
			}
			if len(due) == atOnce {
				next.Reset(0) // there is more than enough
			}
			select {
			case <-next.C:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		if r.more(ctx, mine.nudge) {
			continue
		}
		rests, err := r.Store.Rest(ctx, org, id)
		if err != nil || rests {
			return err
		}
	}
}

// Nudge tells the one who works on an account, if there is one, that more came.
func (r *Reader) Nudge(ref posture.AccountRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.working[ref]; ok {
		select {
		case s.nudge <- struct{}{}:
		default: // it knows already
		}
	}
}

// begin begins a shift once nobody else here works on the account. The one before
// may have come to rest and not be gone yet.
func (r *Reader) begin(ctx context.Context, ref posture.AccountRef) (*shift, error) {
	for {
		r.mu.Lock()
		other, busy := r.working[ref]
		if !busy {
			mine := &shift{make(chan struct{}, 1), make(chan struct{})}
			r.working[ref] = mine
			r.mu.Unlock()
			return mine, nil
		}
		r.mu.Unlock()
		select {
		case <-other.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *Reader) end(ref posture.AccountRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.working[ref].over)
	delete(r.working, ref)
}

// more waits a moment for more work and reports whether some came.
func (r *Reader) more(ctx context.Context, nudge chan struct{}) bool {
	timer := time.NewTimer(r.Linger)
	defer timer.Stop()
	select {
	case <-nudge:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// batch reads, saves and judges some targets of an account, and notes what came
// of them.
func (r *Reader) batch(ctx context.Context, ref posture.AccountRef, due []posture.Reread) error {
	lap := r.stopwatch(due)
	access, err := r.Accounts.Access(ctx, ref.Org, ref.Account)
	if fault.Is(err, fault.NotFound) { // it has no credential: the next collection reads all of it
		return r.Store.Settle(ctx, ref.Org, ref.Account, posture.Settlement{Done: due})
	}
	if err != nil {
		return err
	}
	looks, err := r.look(ctx, access, due)
	if err != nil {
		return err
	}
	lap("read")
	settle, err := r.save(ctx, access, looks)
	if fault.Is(err, fault.NotFound) {
		return nil // the account was removed, and its work with it
	}
	if err != nil {
		return err
	}
	lap("save")
	if err := r.Patch(ctx, ref.Org, ref.Account); err != nil && !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("bring graph up to date: %w", err)
	}
	lap("patch")
	if err := r.Judge(ctx, ref.Org, ref.Account); err != nil {
		return fmt.Errorf("judge what changed: %w", err)
	}
	lap("judge")
	return r.Store.Settle(ctx, ref.Org, ref.Account, settle)
}

// stopwatch begins to note how long the stages take for what a message named.
func (r *Reader) stopwatch(due []posture.Reread) (lap func(stage string)) {
	last, fresh := r.Now(), 0
	for _, w := range due {
		if !w.Again {
			r.Metrics.stage("wait", last.Sub(w.Since), 1)
			fresh++
		}
	}
	return func(stage string) {
		now := r.Now()
		r.Metrics.stage(stage, now.Sub(last), fresh)
		last = now
	}
}

// A look is what came of reading one target.
type look struct {
	posture.Reread
	scope posture.Scope
	found []posture.Entity
	gone  []posture.EntityID // that it may have had, when it is gone
	whole bool               // all of the type was read, and saved
	skip  bool               // there is nobody who reads it
	err   error
}

// look reads targets. It fails only when the work must end.
func (r *Reader) look(ctx context.Context, access posture.Access, due []posture.Reread) ([]look, error) {
	looks := make([]look, len(due))
	session, err := r.session(ctx, access)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for i, w := range due {
			looks[i] = look{Reread: w, err: err}
		}
		return looks, nil
	}
	defer session.release()
	var all sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for i, w := range due {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			looks[i] = r.one(ctx, access, session, w)
		})
	}
	all.Wait()
	return looks, ctx.Err()
}

// one reads one target.
func (r *Reader) one(ctx context.Context, access posture.Access, session collect.Session, w posture.Reread) look {
	l := look{Reread: w}
	unit, ok := session.Unit(w.Type, w.Region)
	if !ok {
		l.skip = true
		return l
	}
	l.scope = posture.Scope{Org: access.Org, Account: access.Account.ID, Type: w.Type, Region: unit.Region}
	if w.Name == "" || unit.Get == nil {
		l.whole = true
		l.err = r.all(ctx, access, w.Type, unit.Region)
		return l
	}
	var mu sync.Mutex // collectors may read details in parallel
	l.err = unit.Get(ctx, w.Name, func(res *collect.Resource) error {
		mu.Lock()
		defer mu.Unlock()
		res.Normalize()
		l.found = append(l.found, res.Entity)
		return nil
	})
	if errors.Is(l.err, collect.ErrGone) || errors.Is(l.err, collect.ErrOff) {
		l.err, l.gone = nil, r.candidates(access.Account.Provider, access.Account.ID, unit.Region, w.Target)
	}
	return l
}

// all reads everything of a type in a region, as a collection does.
func (r *Reader) all(ctx context.Context, access posture.Access, t posture.EntityType, region string) error {
	o := r.Runner.Run(ctx, access, posture.RunScope{Types: []posture.EntityType{t}, Regions: []string{region}}, nil)
	if o.Status == posture.RunFailed || o.Status == posture.RunTimeout {
		return errors.New(o.Reason)
	}
	return nil
}
