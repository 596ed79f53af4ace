package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// A Recorder keeps what is read.
type Recorder interface {
	// Begin starts to record what one unit reads.
	Begin(ctx context.Context, s Scoped) (Recording, error)
}

// Scoped is what one unit covers: all entities of a type in a region.
type Scoped struct {
	Org     posture.OrgID
	Account posture.AccountID
	Type    posture.EntityType
	Region  string
}

// A Recording takes the entities of one unit. It holds no more of them than a
// page.
type Recording interface {
	// Put takes one entity.
	Put(ctx context.Context, e posture.Entity) error

	// Commit saves the differences to what was known in one transaction. With
	// complete, what was known and was not put is gone; otherwise it stays.
	Commit(ctx context.Context, complete bool) error

	// Discard forgets what was put. It does nothing after Commit.
	Discard()
}

// Runner collects accounts.
type Runner struct {
	Sources  map[posture.Provider]Source
	Recorder Recorder
	Parallel int // units of one account that are read at a time
	Log      *slog.Logger
}

// An Outcome is what came of a run.
type Outcome struct {
	Status     posture.RunStatus
	Collectors map[posture.EntityType]posture.CollectorResult
	Account    posture.AccountStatus // what the run says of the account
	Reason     string                // why, in words
	Entities   int
	Units      int
	Unread     []Unread // what was tried and not read to the end
}

// Unread is a unit that failed.
type Unread struct {
	Type   posture.EntityType
	Region string
	Why    string
}

// Progress is told how a run goes on. It is called by one goroutine at a time.
type Progress func(o Outcome, done int)

// maxErrors is how many messages of a collector are kept: the first ones tell
// what is wrong, and ten thousand buckets would say the same.
const maxErrors = 20

// Run collects an account. It returns when everything is read, refused, or ctx
// has ended; it never fails as a whole without an outcome that says so.
func (r *Runner) Run(ctx context.Context, a posture.Access, scope posture.RunScope, progress Progress) Outcome {
	source, ok := r.Sources[a.Account.Provider]
	if !ok {
		return failed(fmt.Errorf("no collectors for %s", a.Account.Provider))
	}
	session, err := source.Open(ctx, a)
	if err != nil {
		return failed(err)
	}
	defer session.Close()
	units, err := session.Units(ctx)
	if err != nil {
		return failed(err)
	}
	units = append(units, r.closed(ctx, a, session)...)
	units = slices.DeleteFunc(units, func(u Unit) bool { return !scope.Covers(u.Type, u.Region) })

	t := newTally(len(units), progress)
	var group errgroup.Group
	group.SetLimit(max(1, r.Parallel))
	for _, u := range units {
		group.Go(func() error {
			t.add(u, r.unit(ctx, a, u))
			return nil
		})
	}
	_ = group.Wait() // units report what went wrong, they do not fail
	return t.outcome(ctx)
}

// coverage is a Recorder that says what it knows.
type coverage interface {
	Coverage(ctx context.Context, org posture.OrgID, account posture.AccountID) ([]posture.Coverage, error)
}

// closed returns a unit for everything that is known of regions that the account
// does not use any more. There is nothing to read, and that is known.
func (r *Runner) closed(ctx context.Context, a posture.Access, s Session) (units []Unit) {
	recorder, ok := r.Recorder.(coverage)
	regions, regional := s.(Regional)
	if !ok || !regional {
		return nil
	}
	all, err := recorder.Coverage(ctx, a.Org, a.Account.ID)
	if err != nil {
		r.Log.WarnContext(ctx, "regions that were switched off not looked at", "account", a.Account.ID, "error", err)
		return nil
	}
	for _, c := range all {
		if len(c.Regions) > 0 && regions.Closed(c.Region) {
			units = append(units, Unit{Type: c.Type, Region: c.Region, List: func(context.Context, Emit) error { return nil }})
		}
	}
	return units
}

// reading is what came of one unit.
type reading struct {
	entities int
	problems []error // details that could not be read
	err      error   // why the list could not
	off      error   // why there is nothing to read: an ErrOff
}

// commitTime is how long saving what a unit read may take.
const commitTime = time.Minute

// unit reads one unit and saves what it read. While the database is away it
// waits, and then reads the unit again: a run does not end because of it.
func (r *Runner) unit(ctx context.Context, a posture.Access, u Unit) (got reading) {
	err := RetryUnavailable(ctx, func() (err error) {
		got, err = r.readAndSave(ctx, a, u)
		return err
	})
	got.err = errors.Join(got.err, err)
	if got.err != nil && !Over(got.err) {
		r.Log.WarnContext(ctx, "collector failed", "account", a.Account.ID, "type", u.Type, "region", u.Region, "error", got.err)
	}
	return got
}

// readAndSave reads one unit and saves what it read. It fails when that cannot be
// saved; what could not be read is part of the reading.
func (r *Runner) readAndSave(ctx context.Context, a posture.Access, u Unit) (got reading, err error) {
	if err := ctx.Err(); err != nil {
		return got, err
	}
	recording, err := r.Recorder.Begin(ctx, Scoped{a.Org, a.Account.ID, u.Type, u.Region})
	if err != nil {
		return got, err
	}
	defer recording.Discard()
	var saveErr error
	emit := func(res *Resource) error {
		res.Normalize()
		got.entities++
		if room := maxErrors - len(got.problems); room > 0 {
			got.problems = append(got.problems, res.Problems()[:min(room, len(res.Problems()))]...)
		}
		saveErr = recording.Put(ctx, res.Entity)
		return saveErr
	}
	got.err = u.List(ctx, emit)
	if fault.Is(saveErr, fault.Unavailable) {
		return reading{}, saveErr
	}
	if errors.Is(got.err, ErrOff) { // there is nothing, and that is known
		got.off, got.err = got.err, nil
	}
	// What was read is kept also when the run's time is over.
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	if err := recording.Commit(saving, got.err == nil); err != nil {
		r.Log.ErrorContext(ctx, "entities not saved", "account", a.Account.ID, "type", u.Type, "region", u.Region, "error", err)
		return got, err
	}
	return got, nil
}

// failed is the outcome of a run that could not begin.
func failed(err error) Outcome {
	o := Outcome{Status: posture.RunFailed, Account: posture.AccountActive, Reason: err.Error()}
	switch {
	case errors.Is(err, ErrIdentity):
		o.Account = posture.AccountValidationFailed
	case errors.Is(err, ErrDenied):
		o.Account = posture.AccountDenyAccess
	case errors.Is(err, context.DeadlineExceeded):
		o.Status, o.Account = posture.RunTimeout, ""
	default:
		o.Account = "" // it says nothing about the account
	}
	return o
}
