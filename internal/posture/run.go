package posture

import (
	"context"
	"strconv"
	"time"
)

// RunStatus is the status of a collection run.
type RunStatus string

// The run statuses. A run starts as Started and ends as one of the others.
const (
	RunStarted             RunStatus = "Started"
	RunCompleted           RunStatus = "Completed"
	RunCompletedWithErrors RunStatus = "CompletedWithErrors"
	RunFailed              RunStatus = "Failed"
	RunTimeout             RunStatus = "Timeout"
)

// RunStatuses lists the run statuses.
var RunStatuses = []RunStatus{RunStarted, RunCompleted, RunCompletedWithErrors, RunFailed, RunTimeout}

// CollectorStatus is the result of one collector in a run.
type CollectorStatus string

// The collector statuses. CollectorErrors means that some resources could not be read
// and the cloud gave the reason, CollectorFailure that nothing could be read.
const (
	CollectorSuccess CollectorStatus = "Success"
	CollectorErrors  CollectorStatus = "CollectionErrors"
	CollectorFailure CollectorStatus = "Failure"
	CollectorTimeout CollectorStatus = "Timeout"
)

// A CollectorResult is the report of one collector in a run.
type CollectorResult struct {
	Status   CollectorStatus
	Errors   []string // with CollectorErrors: what could not be read, and the missing permission
	Message  string   // with CollectorFailure and CollectorTimeout: the reason
	Entities int      // number of entities read
	// NotEnabled and NotOffered are the regions without resources because the account
	// has not enabled the service, or because the region does not offer it.
	NotEnabled []string
	NotOffered []string
	// Gone is the number of resources that were listed but no longer existed when their
	// details were read. They are not among the entities.
	Gone int
}

// RunScope restricts a run. Empty lists do not restrict.
type RunScope struct {
	Regions  []string
	Services []string
	Types    []EntityType
}

// Covers reports whether a unit of collection is in the scope. Azure and Google list
// resources of all regions in one call, so a unit of theirs with the region Global is
// in the scope whatever its regions.
func (s RunScope) Covers(t EntityType, region string) bool {
	if region == Global && t.Provider() != AWS {
		s.Regions = nil
	}
	return isEmptyOrContains(s.Types, t) && isEmptyOrContains(s.Services, t.Service()) && isEmptyOrContains(s.Regions, region)
}

// A Run is one collection of an account.
type Run struct {
	ID         string
	Provider   Provider
	Account    AccountID
	Scope      RunScope
	Status     RunStatus
	Start      time.Time
	End        time.Time // zero while it is running
	Updated    time.Time
	Collectors map[EntityType]CollectorResult
	Done       int // finished units of work
	Units      int // total units of work; 0 until they are planned
	Entities   int // read so far
	Reason     string
	Urgency    Urgency // set only when the run is started; not stored
}

// Urgency is the priority of a run among the runs of its organisation; the lowest value
// is first. Organisations take turns whatever the urgency of their runs.
type Urgency int

// The urgencies.
const (
	RunRequested Urgency = iota + 1 // by a user
	RunScheduled                    // because it is due
	RunFirst                        // of an account that was linked or validated
)

// Place returns the cursor of the run in lists of runs.
func (r Run) Place() string { return strconv.FormatInt(r.Start.UnixMilli(), 10) + "/" + r.ID }

// History is how long runs are kept.
const History = 7 * 24 * time.Hour

// RunFilter selects runs. Empty members do not filter.
type RunFilter struct {
	Provider Provider
	Account  AccountID
	Accounts []AccountID // ignoring case; empty for all
	Since    time.Time
	Before   time.Time
	Statuses []RunStatus
}

// A Schedule holds the last and the next run of an account.
type Schedule struct {
	Last Run       // the newest run; its ID is empty if there is none
	Next time.Time // zero if none is planned
}

// AccountRef identifies an account of any organisation.
type AccountRef struct {
	Org     OrgID
	Account AccountID
}

// RunStore stores collection runs. Several processes may share it.
//
// The worker of a run holds a lease on it and renews the lease. A run whose lease has
// expired has lost its worker.
type RunStore interface {
	// StartRun creates a run and enqueues its job in one transaction. It fails with
	// fault.NotFound if the account does not exist, and with fault.Conflict while
	// another run of the account is in progress.
	StartRun(ctx context.Context, org OrgID, r Run, lease time.Time) error

	// Run returns a run, or fault.NotFound.
	Run(ctx context.Context, org OrgID, id string) (Run, error)

	// Runs returns one page of the runs that f selects, newest first, and the total
	// number. Page.After is the Place of a run.
	Runs(ctx context.Context, org OrgID, f RunFilter, p Page) (page []Run, total int, err error)

	// Schedules returns the schedules of all accounts or, if only is not empty, that of
	// this account.
	Schedules(ctx context.Context, org OrgID, only AccountID) (map[AccountID]Schedule, error)

	// RenewRun saves the progress of a run and renews its lease. It returns true if a
	// stop was requested, and fails with fault.NotFound if the run has ended.
	RenewRun(ctx context.Context, org OrgID, r Run, lease time.Time) (stop bool, err error)

	// EndRun ends a run, changes its account if that still exists, and plans the next
	// run of the account, in one transaction. It fails with fault.NotFound if the run
	// has ended already.
	EndRun(ctx context.Context, org OrgID, r Run, change func(OnboardingTx, Account) (Account, error)) error

	// StopRun requests that a run be stopped. It fails with fault.NotFound if the run
	// is not in progress.
	StopRun(ctx context.Context, org OrgID, account AccountID, id string) error

	// ExpiredRuns returns the ids of the runs whose leases have expired, with their
	// organisations.
	ExpiredRuns(ctx context.Context, now time.Time) (map[string]OrgID, error)

	// DueAccounts returns accounts whose next run is due. Organisations take turns,
	// each with its longest overdue account first.
	DueAccounts(ctx context.Context, now time.Time, limit int) ([]AccountRef, error)

	// ForgetRuns deletes the finished runs that started before a time.
	ForgetRuns(ctx context.Context, before time.Time) error
}
