package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"vigil/internal/instance"
)

type orgCmd struct {
	Add  orgAddCmd  `cmd:"" help:"Add an organisation with its first admin, and print an API token for them."`
	List orgListCmd `cmd:"" help:"List organisations."`
}

type orgAddCmd struct {
	settingsFlags
	Name  string `arg:"" help:"Name of the organisation."`
	Admin string `default:"admin" help:"Name of its first admin."`
}

// Run implements the command.
func (c *orgAddCmd) Run(e *environment) error {
	return c.operate(e, "org.add", func(in *operation) error {
		in.target("name", c.Name)
		_, user, err := in.Registry.CreateOrg(in.ctx, c.Name, c.Admin)
		if err != nil {
			return err
		}
		return issueToken(e, in, user, tokenEdit{name: "first token of " + user.Name})
	})
}

type orgListCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *orgListCmd) Run(e *environment) error {
	return c.withInstallation(e.ctx, func(in *instance.Installation) error {
		orgs, err := in.Registry.Orgs(e.ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tCREATED\tDISABLED")
		for _, o := range orgs {
			fmt.Fprintf(w, "%s\t%s\t%s\t%v\n", o.ID, o.Name, o.CreatedAt.Format(time.DateOnly), o.Disabled)
		}
		return w.Flush()
	})
}
