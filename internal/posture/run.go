package posture

import "time"

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

// CollectorStatus says how one collector of a run did.
type CollectorStatus string

// The collector statuses. Errors means that some items or details could not be
// read, Failure that the list itself could not.
const (
	CollectorSuccess CollectorStatus = "Success"
	CollectorErrors  CollectorStatus = "CollectionErrors"
	CollectorFailure CollectorStatus = "Failure"
	CollectorTimeout CollectorStatus = "Timeout"
)

// A CollectorResult is what one collector of a run reports.
type CollectorResult struct {
	Status CollectorStatus
	Errors []string // only with CollectorErrors
}

// A Run is one full collection of an account.
type Run struct {
	ID         string
	Provider   Provider
	Account    AccountID
	Status     RunStatus
	Start      time.Time
	End        time.Time // zero while it runs
	Updated    time.Time
	Collectors map[string]CollectorResult // by entity type
}
