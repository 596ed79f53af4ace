package app

import (
	"context"
	"errors"
	"time"

	"vigil/internal/config"
	"vigil/internal/fault"
	"vigil/internal/job"
	"vigil/internal/posture"
	"vigil/internal/posture/onboard"
	"vigil/internal/posture/sweep"
	"vigil/internal/sqldb"
	"vigil/internal/telemetry/tracing"
)

// jobs enqueues the jobs that follow from a change.
type jobs struct {
	queue   *job.Queue
	waiting int // how many requested collections of one organisation may wait; 0 is no limit
}

// validateArgs are the arguments of the job that validates an account in its cloud.
type validateArgs struct {
	Org     posture.OrgID     `json:"org"`
	Account posture.AccountID `json:"account"`
}

// Kind implements [job.Args].
func (validateArgs) Kind() string { return "validate" }

// Validate enqueues a validation in tx. If one is queued already, it adds none: the queued
// one will see the changes of tx.
func (j jobs) Validate(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error {
	key := string(org) + "/" + string(id)
	_, err := j.queue.Insert(tx, validateArgs{org, id}, job.Options{
		Unique: key, Once: job.UntilStarted, Exclusive: "validate/" + key, Share: string(org), Priority: 1,
	})
	return err
}

// collectArgs are the arguments of the job that executes a run.
type collectArgs struct {
	Org posture.OrgID `json:"org"`
	Run string        `json:"run"`
}

// Kind implements [job.Args].
func (collectArgs) Kind() string { return "collect" }

// Collect enqueues the execution of a run in tx. It fails with fault.Limited if too many
// requested runs wait. Those that the server starts need no limit: an account has one at most.
func (j jobs) Collect(tx *sqldb.Tx, org posture.OrgID, r posture.Run) error {
	o := job.Options{Queue: collectQueue, Share: string(org), Priority: int(r.Urgency)}
	if r.Urgency == posture.RunRequested {
		o.MaxWaiting = j.waiting
	}
	_, err := j.queue.Insert(tx, collectArgs{org, r.ID}, o)
	return err
}

// shareLimits returns how many jobs of one organisation may run at the same time, by queue.
func shareLimits(q config.Quota) map[string]int {
	if q.Collections == 0 {
		return nil
	}
	return map[string]int{collectQueue: q.Collections}
}

// removeArgs are the arguments of the job that deletes the remaining data of a removed
// account.
type removeArgs struct {
	Org     posture.OrgID     `json:"org"`
	Account posture.AccountID `json:"account"`
}

// Kind implements [job.Args].
func (removeArgs) Kind() string { return "remove_account" }

// Remove enqueues the deletion of the remaining data of a removed account in tx. It is
// repeated until nothing remains.
func (j jobs) Remove(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error {
	key := string(org) + "/" + string(id)
	_, err := j.queue.Insert(tx, removeArgs{org, id}, job.Options{Unique: key, Exclusive: "remove/" + key, Share: string(org), Priority: 4, Attempts: 10_000})
	return err
}

// judgeArgs are the arguments of the job that evaluates all rules over one account, or one
// rule over all accounts of an organisation. They have either Account or Rule.
type judgeArgs struct {
	Org     posture.OrgID     `json:"org"`
	Account posture.AccountID `json:"account,omitempty"`
	Rule    posture.RuleID    `json:"rule,omitempty"`
}

// Kind implements [job.Args].
func (judgeArgs) Kind() string { return "judge" }

// Judge enqueues the evaluation of all rules over an account in tx, unless it is queued
// already.
func (j jobs) Judge(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error {
	key := string(org) + "/" + string(id)
	_, err := j.queue.Insert(tx, judgeArgs{Org: org, Account: id}, job.Options{Queue: evaluateQueue, Unique: key, Once: job.UntilStarted, Exclusive: "judge/" + key, Share: string(org), Priority: 1})
	return err
}

// JudgeRule enqueues the evaluation of one rule over all accounts.
func (j jobs) JudgeRule(tx *sqldb.Tx, org posture.OrgID, id posture.RuleID) error {
	_, err := j.queue.Insert(tx, judgeArgs{Org: org, Rule: id}, job.Options{Queue: evaluateQueue, Unique: string(org) + "//" + string(id), Once: job.UntilStarted, Share: string(org), Priority: 3})
	return err
}

// collectQueue is the queue of runs. They take long, so they have their own workers and
// do not delay short jobs.
const collectQueue = "collect"

// maintainRunsArgs are the arguments of the periodic job that maintains runs.
type maintainRunsArgs struct{}

// Kind implements [job.Args].
func (maintainRunsArgs) Kind() string { return "maintain_runs" }

// KindAliases implements [river.JobArgsWithKindAliases]: the queue may hold a job that an
// earlier version added.
func (maintainRunsArgs) KindAliases() []string { return []string{"tend_runs"} }

// evaluate executes a job that evaluates rules.
func (a *App) evaluate(ctx context.Context, args judgeArgs) error {
	if args.Rule != "" {
		return a.judge.Rule(ctx, args.Org, args.Rule)
	}
	return a.judge.Account(ctx, args.Org, args.Account)
}

// handleJobs registers the job handlers.
func (a *App) handleJobs() error {
	v := &onboard.Validator{Store: a.store, Cloud: a.o.Cloud, Now: a.o.Now}
	a.queue.Every("maintain_runs", 30*time.Second, maintainRunsArgs{}, job.Options{Attempts: 1})
	return errors.Join(
		job.Handle(a.queue, time.Minute, func(ctx context.Context, j job.Job[validateArgs]) error {
			status, err := v.Validate(ctx, j.Args.Org, j.Args.Account)
			if err != nil || status != posture.AccountActive && status != posture.AccountDenyAccess {
				return err
			}
			err = a.sweep.StartFirst(ctx, j.Args.Org, j.Args.Account)
			if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
				return nil // a run is in progress, or the account was removed
			}
			return err
		}),
		job.Handle(a.queue, a.sweep.Deadline+10*time.Minute, func(ctx context.Context, j job.Job[collectArgs]) error {
			err := a.sweep.Work(ctx, j.Args.Org, j.Args.Run, j.Attempt > 1)
			if errors.Is(err, sweep.ErrLowSpace) {
				return job.Later(time.Minute)
			}
			return err
		}),
		job.Handle(a.queue, 10*time.Minute, func(ctx context.Context, j job.Job[judgeArgs]) error {
			ctx, span := tracing.Start(ctx, "evaluate rules", "cloud.account.id", string(j.Args.Account))
			err := a.evaluate(ctx, j.Args)
			span.End(err)
			return err
		}),
		job.Handle(a.queue, 10*time.Minute, func(ctx context.Context, j job.Job[removeArgs]) error {
			more, err := a.store.RemovePieces(ctx, j.Args.Org, j.Args.Account, time.Minute)
			if err == nil && more {
				return job.Later(0)
			}
			return err
		}),
		job.Handle(a.queue, time.Minute, func(ctx context.Context, _ job.Job[maintainRunsArgs]) error { return a.sweep.Maintain(ctx) }),
	)
}
