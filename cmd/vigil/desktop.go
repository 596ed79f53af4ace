package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"vigil/internal/desktop/app"
	"vigil/internal/desktop/store"
	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/secret"
)

type desktopCmd struct {
	Login      desktopLoginCmd      `cmd:"" help:"Log in to a desktop server and save a profile."`
	Logout     desktopLogoutCmd     `cmd:"" help:"End the session and delete the profile."`
	Status     desktopStatusCmd     `cmd:"" help:"Show the overall status, and problems with their reasons."`
	Components desktopComponentsCmd `cmd:"" help:"List components with their status and the reasons for it."`
	Machines   desktopMachinesCmd   `cmd:"" help:"List RDS servers with load and sessions."`
	Farms      desktopFarmsCmd      `cmd:"" help:"List farms with load and sessions."`
	Alerts     desktopAlertsCmd     `cmd:"" help:"List alerts, acknowledge and silence them."`
	Accounts   desktopAccountsCmd   `cmd:"" help:"List the domain accounts of instant clones."`
	Sessions   desktopSessionsCmd   `cmd:"" help:"List your own sessions at the desktop server, and end one."`
	API        desktopAPICmd        `cmd:"" name:"api" help:"Call any operation of the desktop server's API."`
	Check      desktopCheckCmd      `cmd:"" group:"installation" help:"Probe the components in the inventory once, except those whose agents report, and print problems with their reasons."`
	Enrol      desktopEnrolCmd      `cmd:"" group:"installation" help:"Create and print a one-time token with which the agent of a gateway or RDS server enrols."`
	Vault      desktopVaultCmd      `cmd:"" group:"installation" help:"Manage the secrets that the inventory refers to as vault:NAME."`
}

type desktopEnrolCmd struct {
	settingsFlags
	Machine string        `arg:"" help:"Name or id of the machine in the inventory."`
	Expires time.Duration `default:"24h" help:"How long the token is valid."`
}

// Run implements the command.
func (c *desktopEnrolCmd) Run(e *environment) error {
	if c.Expires <= 0 {
		return fault.Field("expires", "must be longer than zero")
	}
	return c.withDesktopStore(e, func(in *instance.Installation, tables *store.Store) error {
		return recorded(e.ctx, in, "desktop.enrol", func(o *operation) error {
			o.target("machine", c.Machine)
			_, text, err := app.NewEnrolmentToken(o.ctx, in.Config.Desktop.Inventory, tables, c.Machine, c.Expires, time.Now)
			if err != nil {
				return err
			}
			fmt.Fprintln(e.stdout, text)
			return nil
		})
	})
}

type desktopCheckCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *desktopCheckCmd) Run(e *environment) error {
	return c.withDesktopStore(e, func(in *instance.Installation, vault *store.Store) error {
		report, err := app.Check(e.ctx, in.Config.Desktop.Inventory, vault, time.Now)
		if err != nil {
			return err
		}
		return printReport(e.stdout, report)
	})
}

// printReport prints the results of a check, one line per component. It fails if some
// could not be read.
func printReport(out io.Writer, report app.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tNAME\tTOOK\tRESULT")
	var warnings, bad int
	for _, f := range report.Findings {
		result := "ok"
		switch {
		case f.Problem != "":
			result = "FAILS: " + f.Problem
			bad++
		case f.Warning != "":
			result = "warning: " + f.Warning
			warnings++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Ref.Kind, f.Ref.Name, f.Took.Round(time.Millisecond), result)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	all := len(report.Findings)
	fmt.Fprintf(out, "\n%d components checked: %d ok, %d with a warning, %d failing.\n", all, all-warnings-bad, warnings, bad)
	if report.Unprobed > 0 {
		fmt.Fprintf(out, "%d gateways and RDS servers were not checked: their agents report to the server.\n", report.Unprobed)
	}
	if bad > 0 {
		return fault.New(fault.Unavailable, "%d of %d components cannot be read", bad, all)
	}
	return nil
}

// withDesktopStore opens the installation, migrates the tables of the desktop server, and runs use with their store.
func (f *settingsFlags) withDesktopStore(e *environment, use func(*instance.Installation, *store.Store) error) error {
	return f.withInstallation(e.ctx, func(in *instance.Installation) error {
		if err := store.Migrate(e.ctx, in.DB); err != nil {
			return err
		}
		return use(in, store.New(in.DB, in.Box, time.Now))
	})
}

type desktopVaultCmd struct {
	Set    vaultSetCmd    `cmd:"" help:"Store a secret, read from standard input."`
	List   vaultListCmd   `cmd:"" help:"List the names of stored secrets."`
	Delete vaultDeleteCmd `cmd:"" help:"Delete a secret."`
}

type vaultSetCmd struct {
	settingsFlags
	Name string `arg:"" help:"Name of the secret."`
}

// Run implements the command.
func (c *vaultSetCmd) Run(e *environment) error {
	text, err := io.ReadAll(io.LimitReader(e.stdin, maxSecret+1))
	if err != nil {
		return err
	}
	if len(text) > maxSecret {
		return errLongSecret()
	}
	value := strings.TrimRight(string(text), "\r\n")
	if value == "" {
		return fault.New(fault.Invalid, "the secret is empty: give it on standard input")
	}
	return c.withDesktopStore(e, func(in *instance.Installation, vault *store.Store) error {
		return recorded(e.ctx, in, "vault.set", func(o *operation) error {
			o.target("name", c.Name)
			return vault.SetEntry(o.ctx, c.Name, secret.NewText(value))
		})
	})
}

type vaultListCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *vaultListCmd) Run(e *environment) error {
	return c.withDesktopStore(e, func(_ *instance.Installation, vault *store.Store) error {
		names, err := vault.Entries(e.ctx)
		for _, name := range names {
			fmt.Fprintln(e.stdout, name)
		}
		return err
	})
}

type vaultDeleteCmd struct {
	settingsFlags
	Name string `arg:"" help:"Name of the secret."`
}

// Run implements the command.
func (c *vaultDeleteCmd) Run(e *environment) error {
	return c.withDesktopStore(e, func(in *instance.Installation, vault *store.Store) error {
		return recorded(e.ctx, in, "vault.delete", func(o *operation) error {
			o.target("name", c.Name)
			return vault.DeleteEntry(o.ctx, c.Name)
		})
	})
}
