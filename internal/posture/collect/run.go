package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/telemetry/tracing"
)

// A Recorder stores the entities that are read.
type Recorder interface {
	// Begin starts the recording of one unit.
	Begin(ctx context.Context, s Scoped) (Recording, error)
}

// Scoped is what one unit covers: all entities of a type in a region.
type Scoped struct {
	Org     posture.OrgID
	Account posture.AccountID
	Type    posture.EntityType
	Region  string
}

// A Recording receives the entities of one unit. It buffers at most one page of them.
type Recording interface {
	// Put adds one entity.
	Put(ctx context.Context, e posture.Entity) error

	// Commit saves the differences from the stored entities in one transaction. If complete
	// is true, it removes stored entities that were not put; otherwise it keeps them.
	Commit(ctx context.Context, complete bool) error

	// Discard drops the entities that were put. It does nothing after Commit.
	Discard()
}

// Runner collects accounts.
type Runner struct {
	Sources  map[posture.Provider]Source
	Recorder Recorder
	Parallel int // number of units of one account that are read concurrently
	Log      *slog.Logger
}

// An Outcome is the result of a run.
type Outcome struct {
	Status     posture.RunStatus
	Collectors map[posture.EntityType]posture.CollectorResult
	Account    posture.AccountStatus // resulting status of the account
	Reason     string                // reason for the status
	Entities   int
	Units      int
	Unread     []Unread // units that were not read completely
}

// Unread is a unit that failed.
type Unread struct {
	Type   posture.EntityType
	Region string
	Why    string
}

// Progress describes a run that has not ended.
type Progress struct {
	Done, Units int // units: those that are done, and all
	Entities    int

	// Collectors returns the results so far, which can be newer than the numbers. Call it only when
	// they are needed: an account has thousands of units and hundreds of types. The function that
	// receives the Progress must not call it, because it would wait for itself.
	Collectors func() map[posture.EntityType]posture.CollectorResult
}

// maxErrors is the number of messages that are kept per collector. Further
// messages would repeat the first ones.
const maxErrors = 20

// Run collects an account. It returns when all units are done or ctx has ended.
// Failures are reported in the outcome. If progress is not nil, Run calls it after each unit, from
// one goroutine at a time.
func (r *Runner) Run(ctx context.Context, a posture.Access, scope posture.RunScope, progress func(Progress)) Outcome {
	source, ok := r.Sources[a.Account.Provider]
	if !ok {
		return failedOutcome(fmt.Errorf("no collectors for %s", a.Account.Provider))
	}
	session, err := source.Open(ctx, a)
	if err != nil {
		return failedOutcome(err)
	}
	defer session.Close()
	units, err := session.Units(ctx)
	if err != nil {
		return failedOutcome(err)
	}
	missing := missingRegions(a.Account, session, units)
	units = slices.DeleteFunc(units, func(u Unit) bool { return !a.Account.Reads(u.Region) })
	empty, unreadRegions := r.closed(ctx, a, session)
	units = append(units, empty...)
	units = slices.DeleteFunc(units, func(u Unit) bool { return !scope.Covers(u.Type, u.Region) })

	t := newTally(len(units), progress)
	var group errgroup.Group
	group.SetLimit(max(1, r.Parallel))
	releases := reserve(units)
	for i, u := range units {
		group.Go(func() error {
			defer releases[i]()
			t.add(u, r.unit(ctx, a, u))
			return nil
		})
	}
	_ = group.Wait() // units report errors in their readings
	r.forget(ctx, a, unreadRegions)
	o := t.outcome(ctx)
	if o.Status == posture.RunCompleted && len(missing) > 0 && len(scope.Regions) == 0 {
		o.Status, o.Reason = posture.RunCompletedWithErrors, fmt.Sprintf("regions that the account has not enabled: %s", strings.Join(missing, ", "))
	}
	return o
}

// reserve reserves units. It returns the functions that release them.
func reserve(units []Unit) []func() {
	releases := make([]func(), len(units))
	for i, u := range units {
		releases[i] = func() {}
		if u.Reserve != nil {
			releases[i] = u.Reserve()
		}
	}
	return releases
}

// missingRegions returns the regions that are in the settings of an account but have no units.
// It returns none for a cloud whose regions cannot be disabled.
func missingRegions(a posture.Account, s Session, units []Unit) (missing []string) {
	if _, ok := s.(Regional); !ok {
		return nil
	}
	for _, region := range a.Collection.Regions {
		if !slices.ContainsFunc(units, func(u Unit) bool { return u.Region == region }) {
			missing = append(missing, region)
		}
	}
	return missing
}

// coverage is a Recorder that knows which scopes it has stored.
type coverage interface {
	Coverage(ctx context.Context, org posture.OrgID, account posture.AccountID) ([]posture.Coverage, error)

	// ForgetCoverage deletes, in the given regions, the coverage of the scopes that have no
	// entities, as if these scopes had never been read.
	ForgetCoverage(ctx context.Context, org posture.OrgID, account posture.AccountID, regions []string) error
}

// closed returns a unit for each stored type in each region that the account no longer
// uses or that Vigil no longer reads. These units read nothing, which removes the stored
// entities. closed also returns the stored regions that are no longer read.
func (r *Runner) closed(ctx context.Context, a posture.Access, s Session) (units []Unit, unreadRegions []string) {
	recorder, ok := r.Recorder.(coverage)
	regional, isRegional := s.(Regional)
	if !ok || !isRegional && len(a.Account.Collection.Regions) == 0 {
		return nil, nil
	}
	all, err := recorder.Coverage(ctx, a.Org, a.Account.ID)
	if err != nil {
		r.Log.WarnContext(ctx, "stored entities of disabled regions not listed", "account", a.Account.ID, "error", err)
		return nil, nil
	}
	for _, c := range all {
		reads := a.Account.Reads(c.Region)
		if !reads && !slices.Contains(unreadRegions, c.Region) {
			unreadRegions = append(unreadRegions, c.Region)
		}
		hasEntities := len(c.Regions) > 0
		if hasEntities && (!reads || isRegional && regional.Closed(c.Region)) {
			units = append(units, Unit{Type: c.Type, Region: c.Region, List: func(context.Context, Emit) error { return nil }})
		}
	}
	return units, unreadRegions
}

// forget deletes the coverage of regions that are no longer read: their empty scopes do
// not mean that the regions have no resources.
func (r *Runner) forget(ctx context.Context, a posture.Access, regions []string) {
	if len(regions) == 0 {
		return
	}
	if err := r.Recorder.(coverage).ForgetCoverage(context.WithoutCancel(ctx), a.Org, a.Account.ID, regions); err != nil {
		r.Log.WarnContext(ctx, "coverage of regions that are not read is kept until the next run", "account", a.Account.ID, "error", err)
	}
}

// reading is the result of one unit.
type reading struct {
	entities int
	problems []error // details that could not be read
	err      error   // error of the list
	off      error   // ErrOff: there is nothing to read
	gone     int     // resources that were deleted while they were read
}

// commitTime limits the time to save the entities of a unit.
const commitTime = time.Minute

// unit reads one unit and saves its entities. When the database is unavailable,
// it waits and then reads the unit again, so that the run continues.
func (r *Runner) unit(ctx context.Context, a posture.Access, u Unit) (got reading) {
	ctx, span := tracing.Start(ctx, "collect "+string(u.Type), "cloud.account.id", string(a.Account.ID), "cloud.region", u.Region)
	defer func() { span.End(got.err) }()
	err := RetryUnavailable(ctx, func() (err error) {
		got, err = r.readAndSave(ctx, a, u)
		return err
	})
	got.err = errors.Join(got.err, err)
	if got.err != nil && !IsFatal(got.err) {
		r.Log.WarnContext(ctx, "collector failed", "account", a.Account.ID, "type", u.Type, "region", u.Region, "error", got.err)
	}
	return got
}

// readAndSave reads one unit and saves its entities. It fails when they cannot
// be saved; errors of reading are part of the reading.
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
		if !a.Account.Reads(res.Entity.Region) { // a list of all regions also has entities of this one
			return nil
		}
		got.entities++
		if remaining := maxErrors - len(got.problems); remaining > 0 {
			got.problems = append(got.problems, res.Problems()[:min(remaining, len(res.Problems()))]...)
		}
		saveErr = recording.Put(ctx, res.Entity)
		return saveErr
	}
	var gone atomic.Int64
	got.err = u.List(withGone(ctx, &gone), emit)
	got.gone = int(gone.Load())
	if fault.Is(saveErr, fault.Unavailable) {
		return reading{}, saveErr
	}
	if errors.Is(got.err, ErrOff) { // it is known that there is nothing
		got.off, got.err = got.err, nil
	}
	// The entities are saved even when the time of the run is over.
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	if err := recording.Commit(saving, got.err == nil); err != nil {
		r.Log.ErrorContext(ctx, "entities not saved", "account", a.Account.ID, "type", u.Type, "region", u.Region, "error", err)
		return got, err
	}
	return got, nil
}

// failedOutcome returns the outcome of a run that could not start.
func failedOutcome(err error) Outcome {
	o := Outcome{Status: posture.RunFailed, Account: posture.AccountActive, Reason: err.Error()}
	switch {
	case errors.Is(err, ErrIdentity):
		o.Account = posture.AccountValidationFailed
	case errors.Is(err, ErrDenied):
		o.Account = posture.AccountDenyAccess
	case errors.Is(err, context.DeadlineExceeded):
		o.Status, o.Account = posture.RunTimeout, ""
	default:
		o.Account = "" // the error says nothing about the account
	}
	return o
}
