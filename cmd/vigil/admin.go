package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"text/tabwriter"

	"vigil/internal/audit"
	"vigil/internal/auth"
	"vigil/internal/instance"
)

// adminCmd has the commands that open the database of an installation. They never create
// a database, and the audit log has a record of each change. The hidden commands of
// the same names at the top level are aliases: earlier versions had the commands there.
type adminCmd struct {
	Org     orgCmd        `cmd:"" help:"Add and list organisations."`
	User    adminUserCmd  `cmd:"" help:"List the users of an organisation."`
	Token   tokenCmd      `cmd:"" help:"Create, list and revoke API tokens."`
	Entity  entityCmd     `cmd:"" help:"Find the resources of cloud accounts."`
	Keys    keysCmd       `cmd:"" help:"Rotate the keys that sign tokens and encrypt secrets."`
	Audit   adminAuditCmd `cmd:"" help:"Verify and prune the audit log, and accept the loss of records."`
	Backup  backupCmd     `cmd:"" help:"Write a copy of the SQLite database to a file; servers may be running."`
	Verify  verifyCmd     `cmd:"" help:"Check that a backup is intact and can be restored. Changes nothing."`
	Restore restoreCmd    `cmd:"" help:"Replace the SQLite database by a backup, and keep the replaced one. Stop the servers first."`
	Store   storeCmd      `cmd:"" help:"Copy the database to another engine, distribute it over a cluster, and list its tables."`
}

type adminAuditCmd struct {
	Verify     auditVerifyCmd     `cmd:"" help:"Check in the database that no record was changed, removed or inserted."`
	Prune      auditPruneCmd      `cmd:"" help:"Remove old records now, in addition to what the servers remove automatically."`
	AcceptLoss auditAcceptLossCmd `cmd:"" help:"Accept that the newest records of the database are lost, and record that."`
}

type adminUserCmd struct {
	List userListCmd `cmd:"" help:"List users."`
}

type userListCmd struct {
	settingsFlags
	orgFlag
}

// Run implements the command.
func (c *userListCmd) Run(e *environment) error {
	return c.withInstallation(e.ctx, func(in *instance.Installation) error {
		caller, err := c.operator(e, in)
		if err != nil {
			return err
		}
		users, err := in.Registry.Users(e.ctx, caller)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tROLE\tDISABLED")
		for _, u := range users {
			fmt.Fprintf(w, "%s\t%s\t%s\t%v\n", u.ID, u.Name, u.Role, u.Disabled)
		}
		return w.Flush()
	})
}

// An operation is a change by an operator. Its audit record is committed with the first
// change to the database, or appended at the end if there was none. If the operation fails after
// its first change, a second record says so.
type operation struct {
	*instance.Installation
	ctx       context.Context // makes the first change in it commit the record too
	record    audit.Record
	committed bool
}

// target names what the operation changes.
func (o *operation) target(name, value string) { o.record.Targets[name] = value }

// setOrg assigns the record to the caller's organisation, so that its admins can read it.
func (o *operation) setOrg(caller auth.Caller) { o.record.Org = string(caller.Org) }

// operate opens the installation and runs an operation that the audit log records.
func (f *settingsFlags) operate(e *environment, name string, use func(*operation) error) error {
	return f.withInstallation(e.ctx, func(in *instance.Installation) error {
		return recorded(e.ctx, in, name, use)
	})
}

// recorded runs an operation on an open installation.
func recorded(ctx context.Context, in *instance.Installation, name string, use func(*operation) error) error {
	o := &operation{Installation: in, record: audit.Record{
		Operation: name, ActorName: "operator", Outcome: audit.Success, Targets: map[string]string{"systemUser": systemUser()},
	}}
	o.ctx = in.Audit.Attach(ctx, audit.Attachment{
		Record:    func() (audit.Record, bool) { return o.record, !o.committed },
		Committed: func() { o.committed = true },
		Note:      o.target,
	})
	err := use(o)
	switch {
	case err != nil:
		o.record.Outcome = audit.Failure
	case o.committed:
		return nil
	}
	return errors.Join(err, in.Audit.Append(context.WithoutCancel(ctx), o.record))
}

// systemUser returns the user of the machine who runs the command.
func systemUser() string {
	if name := os.Getenv("SUDO_USER"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
