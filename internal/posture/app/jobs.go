package app

import (
	"context"
	"time"

	"vigil/internal/job"
	"vigil/internal/posture"
	"vigil/internal/posture/onboard"
	"vigil/internal/sqldb"
)

// jobs puts the work that a change causes into the queue.
type jobs struct{ queue *job.Queue }

// validateArgs asks for an account's link to be tried against its cloud.
type validateArgs struct {
	Org     posture.OrgID     `json:"org"`
	Account posture.AccountID `json:"account"`
}

// Kind implements [job.Args].
func (validateArgs) Kind() string { return "validate" }

// Validate asks for a validation once tx is committed. While one waits to begin,
// another is not needed: it will see this change.
func (j jobs) Validate(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error {
	key := string(org) + "/" + string(id)
	_, err := j.queue.Insert(tx, validateArgs{org, id}, job.Options{
		Unique: key, Once: job.UntilStarted, Exclusive: "validate/" + key, Priority: 1,
	})
	return err
}

// handleJobs says who does which job.
func (a *App) handleJobs() error {
	v := &onboard.Validator{Store: a.store, Cloud: a.o.Cloud, Now: a.o.Now}
	return job.Handle(a.queue, time.Minute, func(ctx context.Context, j job.Job[validateArgs]) error {
		_, err := v.Validate(ctx, j.Args.Org, j.Args.Account)
		return err
	})
}
