package main

import (
	"errors"
	"fmt"
	"io"
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
		printIntact(e.stdout, report, known, published)
		if unreachable != nil {
			return fault.New(fault.Unavailable, "a checkpoint store could not be reached: %v", unreachable)
		}
		return nil
	})
}

// printIntact prints which records an unbroken log has, and which losses of the newest ones
// neither the checkpoint file nor the checkpoints of witnesses would have revealed.
func printIntact(w io.Writer, r audit.Report, file audit.Checkpoint, published []audit.Checkpoint) {
	if r.Records == 0 {
		fmt.Fprintln(w, "the log has no records")
	} else {
		fmt.Fprintf(w, "%d records, %d to %d, are intact\n", r.Records, r.First, r.Last)
	}
	if r.First > 1 {
		fmt.Fprintf(w, "records 1 to %d were pruned; the anchor where the log was pruned has a valid signature\n", r.First-1)
	}
	if file.Number > 0 { // the file is written with every record, so it would have revealed a loss
		return
	}
	var newest int64
	for _, c := range published {
		newest = max(newest, c.Number)
	}
	if newest == 0 {
		fmt.Fprintln(w, "there is no checkpoint to compare with, so a loss of the newest records may not be detected")
		return
	}
	fmt.Fprintf(w, "there is no checkpoint file, and the newest checkpoint of a witness is of record %d: a loss of later records may not be detected\n", newest)
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
	switch {
	case c.Keep < 0 || c.Records < 0:
		return fault.New(fault.Invalid, "--keep and --records must not be negative")
	case c.Keep == 0 && c.Records == 0:
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
