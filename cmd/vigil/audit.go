package main

import (
	"errors"
	"fmt"
	"time"

	"vigil/internal/audit"
	"vigil/internal/fault"
	"vigil/internal/instance"
)

type auditCmd struct {
	List       auditListCmd       `cmd:"" default:"withargs" help:"List the audit log of a server, newest first. The default of vigil audit."`
	Verify     auditVerifyCmd     `cmd:"" hidden:"" help:"Check in the database that no record was changed, removed or inserted."`
	Prune      auditPruneCmd      `cmd:"" hidden:"" help:"Remove old records now, in addition to what the servers remove automatically."`
	AcceptLoss auditAcceptLossCmd `cmd:"" hidden:"" help:"Accept that the newest records of the database are lost, and record that."`
}

type auditVerifyCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *auditVerifyCmd) Run(e *environment) error {
	return c.despiteLoss(e, func(in *instance.Installation) error {
		known, err := audit.ReadCheckpointFile(in.Config.Audit.Checkpoint)
		if err != nil {
			return err
		}
		var checkpoints []audit.Checkpoint
		if known.Number > 0 {
			checkpoints = append(checkpoints, known)
		}
		published, unreachable := in.Witnesses.Known(e.ctx)
		checkpoints = append(checkpoints, published...)
		report, err := in.Audit.Verify(e.ctx, checkpoints...)
		if err != nil {
			return err
		}
		if b := report.Broken; b != nil {
			return fault.New(fault.Conflict, "the audit log is broken at record %d: %s", b.Number, b.Problem)
		}
		fmt.Fprintf(e.stdout, "%d records, %d to %d, are intact\n", report.Records, report.First, report.Last)
		if report.First > 1 {
			fmt.Fprintf(e.stdout, "records 1 to %d were pruned; the anchor where the log was pruned has a valid signature\n", report.First-1)
		}
		if known.Number == 0 {
			fmt.Fprintln(e.stdout, "there is no checkpoint file, so a loss of the newest records may not be detected")
		}
		if unreachable != nil {
			return fault.New(fault.Unavailable, "a checkpoint store could not be reached: %v", unreachable)
		}
		return nil
	})
}

// despiteLoss opens the installation, even if the newest audit records of its database are
// missing, calls use, and closes it.
func (f *settingsFlags) despiteLoss(e *environment, use func(*instance.Installation) error) error {
	conf, err := f.effective()
	if err != nil {
		return err
	}
	in, err := instance.OpenDespiteLoss(e.ctx, conf, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(use(in), in.Close())
}

type auditPruneCmd struct {
	settingsFlags
	Keep    time.Duration `help:"Remove records older than this, such as 2160h, counted back from the time of the newest records."`
	Records int64         `help:"Keep only this many of the newest records."`
}

// Run implements the command.
func (c *auditPruneCmd) Run(e *environment) error {
	if c.Keep <= 0 && c.Records <= 0 {
		return fault.New(fault.Invalid, "give --keep or --records")
	}
	return c.operate(e, "audit.prune", func(in *operation) error {
		n, err := in.Audit.Prune(in.ctx, audit.Retention{Age: c.Keep, Records: c.Records})
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "removed %d records\n", n)
		return nil
	})
}

type auditAcceptLossCmd struct {
	settingsFlags
}

// Run implements the command. It succeeds if nothing is lost, because the servers can start
// then too.
func (c *auditAcceptLossCmd) Run(e *environment) error {
	return c.despiteLoss(e, func(in *instance.Installation) error {
		lost, err := in.AcceptLoss(e.ctx)
		switch {
		case err != nil:
			return err
		case lost:
			fmt.Fprintln(e.stdout, "the loss is recorded; the servers can start again")
		default:
			fmt.Fprintln(e.stdout, "no audit records are missing, so nothing was changed")
		}
		return nil
	})
}
