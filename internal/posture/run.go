package posture

import (
	"context"
	"hash/fnv"
	"strconv"
	"time"
)

// RunStatus says how a collection run stands or ended.
type RunStatus string

// The run statuses. A run starts as Started and ends as one of the others.
const (
	RunStarted             RunStatus = "Started"
	RunCompleted           RunStatus = "Completed"
	RunCompletedWithErrors RunStatus = "CompletedWithErrors"
	RunFailed              RunStatus = "Failed"
	RunTimeout             RunStatus = "Timeout"
)

// RunStatuses lists them.
var RunStatuses = []RunStatus{RunStarted, RunCompleted, RunCompletedWithErrors, RunFailed, RunTimeout}

// CollectorStatus says how one collector of a run did.
type CollectorStatus string

// The collector statuses. Errors means that something could not be read and the
// cloud said why, Failure that nothing could.
const (
	CollectorSuccess CollectorStatus = "Success"
	CollectorErrors  CollectorStatus = "CollectionErrors"
	CollectorFailure CollectorStatus = "Failure"
	CollectorTimeout CollectorStatus = "Timeout"
)

// A CollectorResult is what one collector of a run reports.
type CollectorResult struct {
	Status   CollectorStatus
	Errors   []string // with CollectorErrors: what could not be read, and which permission is missing
	Message  string   // with CollectorFailure and CollectorTimeout: why
	Entities int      // how many were read
	// NotEnabled and NotOffered are the regions in which there was nothing to read
	// because the account does not use the service, or the region does not have it.
	NotEnabled []string
	NotOffered []string
}

// RunScope narrows a run. Empty lists do not.
type RunScope struct {
	Regions  []string
	Services []string
	Types    []EntityType
}

// Covers reports whether a unit of collection belongs to the scope. What Azure
// and Google list at once is of all regions, so it does whichever of them are
// asked for.
func (s RunScope) Covers(t EntityType, region string) bool {
	if region == Global && t.Provider() != AWS {
		s.Regions = nil
	}
	return oneOf(s.Types, t) && oneOf(s.Services, t.Service()) && oneOf(s.Regions, region)
}

// A Run is one collection of an account.
type Run struct {
	ID         string
	Provider   Provider
	Account    AccountID
	Scope      RunScope
	Status     RunStatus
	Start      time.Time
	End        time.Time // zero while it runs
	Updated    time.Time
	Collectors map[EntityType]CollectorResult
	Done       int // units of work that are done
	Units      int // units of work in all; 0 until it is known
	Entities   int // read so far
	Reason     string
}

// Place returns where the run stands in a list of runs, newest first.
func (r Run) Place() string { return strconv.FormatInt(r.Start.UnixMilli(), 10) + "/" + r.ID }

// Interval is how often an account is collected in full.
const Interval = 12 * time.Hour

// History is how long runs are remembered.
const History = 7 * 24 * time.Hour

// NextRun returns when an account that was collected at last is due again: at
// its own moment of every interval, so that a fleet is spread over it whatever
// the times at which it was onboarded.
func NextRun(org OrgID, id AccountID, last time.Time) time.Time {
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(org) + "/" + string(id)))
	slot := time.Duration(h.Sum64() % uint64(Interval))
	next := last.Truncate(Interval).Add(slot)
	for next.Before(last.Add(Interval / 48)) { // what just ended need not be repeated at once
		next = next.Add(Interval)
	}
	return next
}

// RunFilter chooses runs. Empty members do not filter.
type RunFilter struct {
	Provider Provider
	Account  AccountID
	Since    time.Time
	Before   time.Time
	Statuses []RunStatus
}

// A Schedule says when an account was and will be collected.
type Schedule struct {
	Last Run       // the newest run; without an id when there is none
	Next time.Time // zero when none is planned
}

// AccountRef names an account of any organisation.
type AccountRef struct {
	Org     OrgID
	Account AccountID
}

// RunStore keeps collection runs. Any number of processes share it.
//
// Whoever works on a run holds a lease on it and renews it. A run whose lease
// has lapsed has lost its worker.
type RunStore interface {
	// StartRun begins a run and asks for it to be worked on, in one transaction.
	// It fails with fault.NotFound without the account and with fault.Conflict
	// while another run of the account goes on.
	StartRun(ctx context.Context, org OrgID, r Run, lease time.Time) error

	// Run returns a run, or fault.NotFound.
	Run(ctx context.Context, org OrgID, id string) (Run, error)

	// Runs returns one page of the runs that f lets through, newest first, and
	// how many there are in all. A page follows the place of the last run seen.
	Runs(ctx context.Context, org OrgID, f RunFilter, p Page) (page []Run, total int, err error)

	// Schedules returns when accounts were and will be collected: all accounts, or
	// only the given one.
	Schedules(ctx context.Context, org OrgID, only AccountID) (map[AccountID]Schedule, error)

	// KeepRun saves how far a run has come and renews its lease. It reports
	// whether somebody wants it stopped, and fails with fault.NotFound when it is
	// over.
	KeepRun(ctx context.Context, org OrgID, r Run, lease time.Time) (stop bool, err error)

	// EndRun ends a run, in one transaction with the change that it makes to its
	// account, if that is still there, and with when the account is due again. It
	// fails with fault.NotFound when the run is over already.
	EndRun(ctx context.Context, org OrgID, r Run, due time.Time, change func(Account) Account) error

	// StopRun asks for a run to be stopped. It fails with fault.NotFound when it
	// does not go on.
	StopRun(ctx context.Context, org OrgID, account AccountID, id string) error

	// LapsedRuns returns the runs that have lost their workers, with their
	// organisations.
	LapsedRuns(ctx context.Context, now time.Time) (map[string]OrgID, error)

	// DueAccounts returns accounts whose next run is due, the longest due first.
	DueAccounts(ctx context.Context, now time.Time, limit int) ([]AccountRef, error)

	// ForgetRuns removes runs that started before a time and are over.
	ForgetRuns(ctx context.Context, before time.Time) error
}
