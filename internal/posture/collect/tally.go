package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"vigil/internal/posture"
)

// A tally aggregates the readings of the units of a run.
type tally struct {
	progress func(Progress)
	units    int

	mu       sync.Mutex
	done     int
	entities int
	identity error // the cloud stopped accepting the credential
	types    map[posture.EntityType]*typeTally
	unread   []Unread
}

// typeTally aggregates the units of one type: one per region.
type typeTally struct {
	units, succeeded, denied, timedOut int
	entities                           int
	errors                             []string
	notEnabled, notOffered             []string // regions
	gone                               int
	timeout, failure                   string // of the last unit that timed out, and of the last that failed
}

func newTally(units int, progress func(Progress)) *tally {
	if progress == nil {
		progress = func(Progress) {}
	}
	return &tally{progress: progress, units: units, types: map[posture.EntityType]*typeTally{}}
}

// add adds the reading of one unit.
func (t *tally) add(u Unit, got reading) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	t.entities += got.entities
	tt := t.types[u.Type]
	if tt == nil {
		tt = new(typeTally)
		t.types[u.Type] = tt
	}
	tt.units++
	tt.entities += got.entities
	tt.gone += got.gone
	if got.err != nil {
		t.unread = append(t.unread, Unread{u.Type, u.Region, reasonOf(got.err)})
	}
	switch {
	case got.err == nil:
		tt.succeeded++
		tt.off(u.Region, got.off)
	case isTimedOut(got.err):
		tt.timedOut++
		tt.timeout = reasonOf(got.err)
	case errors.Is(got.err, ErrDenied):
		tt.denied++
		tt.addError(u.Region, got.err)
	case errors.Is(got.err, ErrIdentity):
		t.identity = got.err
		tt.failure = got.err.Error()
	default:
		tt.failure = withRegion(u.Region, got.err)
	}
	for _, problem := range got.problems {
		tt.addError(u.Region, problem)
	}
	t.progress(Progress{Done: t.done, Units: t.units, Entities: t.entities, Collectors: t.results})
}

// isTimedOut reports whether a unit was not read because the run had ended.
func isTimedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// reasonOf returns the reason why a unit was not read.
func reasonOf(err error) string {
	if isTimedOut(err) {
		return "not read in time"
	}
	return err.Error()
}

// off records whether the service is not enabled or not offered in a region.
func (tt *typeTally) off(region string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, ErrNotOffered):
		tt.notOffered = append(tt.notOffered, region)
	default:
		tt.notEnabled = append(tt.notEnabled, region)
	}
}

func (tt *typeTally) addError(region string, err error) {
	if text := withRegion(region, err); len(tt.errors) < maxErrors && !slices.Contains(tt.errors, text) {
		tt.errors = append(tt.errors, text)
	}
}

// withRegion prefixes an error with its region.
func withRegion(region string, err error) string {
	if region == posture.Global {
		return err.Error()
	}
	return fmt.Sprintf("%s: %v", region, err)
}

// result aggregates the units of a type.
func (tt *typeTally) result() posture.CollectorResult {
	r := posture.CollectorResult{
		Status: posture.CollectorSuccess, Entities: tt.entities,
		NotEnabled: slices.Sorted(slices.Values(tt.notEnabled)), NotOffered: slices.Sorted(slices.Values(tt.notOffered)),
		Gone: tt.gone,
	}
	failed := tt.units - tt.succeeded - tt.denied - tt.timedOut
	switch {
	case tt.timedOut > 0:
		r.Status, r.Message = posture.CollectorTimeout, tt.timeout
	case failed > 0 && failed == tt.units:
		r.Status, r.Message = posture.CollectorFailure, tt.failure
	case failed > 0:
		r.Status, r.Errors = posture.CollectorErrors, append(slices.Clone(tt.errors), tt.failure)
	case len(tt.errors) > 0:
		r.Status, r.Errors = posture.CollectorErrors, slices.Clone(tt.errors)
	}
	return r
}

// results returns the results so far by type.
func (t *tally) results() map[posture.EntityType]posture.CollectorResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[posture.EntityType]posture.CollectorResult, len(t.types))
	for name, tt := range t.types {
		all[name] = tt.result()
	}
	return all
}

// outcome aggregates the run.
func (t *tally) outcome(ctx context.Context) Outcome {
	o := Outcome{
		Status: posture.RunCompleted, Collectors: t.results(), Account: posture.AccountActive, Entities: t.entities, Units: t.units, Unread: t.unread,
	}
	succeeded, denied := 0, 0 // units
	for _, tt := range t.types {
		succeeded += tt.succeeded
		denied += tt.denied
	}
	allSucceeded := true
	for _, r := range o.Collectors {
		allSucceeded = allSucceeded && r.Status == posture.CollectorSuccess
	}
	switch {
	case t.identity != nil:
		o.Status, o.Account, o.Reason = posture.RunFailed, posture.AccountValidationFailed, t.identity.Error()
	case ctx.Err() != nil:
		o.Status, o.Account = posture.RunTimeout, ""
		o.Reason = "the run did not end in time"
	case t.units > 0 && denied == t.units:
		o.Status, o.Account = posture.RunFailed, posture.AccountDenyAccess
		o.Reason = "the credential is accepted but has no permission to read anything"
	case t.units > 0 && succeeded == 0:
		o.Status, o.Account = posture.RunFailed, ""
		o.Reason = "nothing could be read"
	case !allSucceeded:
		o.Status = posture.RunCompletedWithErrors
	}
	return o
}
