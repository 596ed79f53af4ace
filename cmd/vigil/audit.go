package main

import (
	"fmt"

	"vigil/internal/fault"
	"vigil/internal/install"
)

type auditCmd struct {
	Verify auditVerifyCmd `cmd:"" help:"Check that no record was changed, removed or put in."`
}

type auditVerifyCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *auditVerifyCmd) Run(e *environment) error {
	return c.withInstallation(e.ctx, func(in *install.Installation) error {
		report, err := in.Audit.Verify(e.ctx)
		if err != nil {
			return err
		}
		if b := report.Broken; b != nil {
			return fault.New(fault.Conflict, "the audit log is broken at record %d: %s", b.Number, b.Problem)
		}
		fmt.Fprintf(e.stdout, "%d records, %d to %d, are sound\n", report.Records, report.First, report.Last)
		return nil
	})
}

type backupCmd struct {
	settingsFlags
	File string `arg:"" type:"path" help:"File to write; it must not exist."`
}

// Run implements the command.
func (c *backupCmd) Run(e *environment) error {
	return c.withInstallation(e.ctx, func(in *install.Installation) error {
		if err := in.DB.Backup(e.ctx, c.File); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, "written; secrets in it are sealed: keep the master key apart from it, and keep it")
		return nil
	})
}
