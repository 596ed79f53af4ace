package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/search"
	"vigil/internal/posture/store"
)

type entityCmd struct {
	Find entityFindCmd `cmd:"" help:"Print the resources that match a query in the search language."`
}

type entityFindCmd struct {
	settingsFlags
	orgFlag
	Query   string   `arg:"" optional:"" help:"Query, such as: property.encrypted = false AND tag.env = prod. Default: all."`
	Account []string `help:"Ids of the cloud accounts to search. Default: all."`
	Limit   int      `default:"100" help:"Maximum number of resources."`
	Count   bool     `help:"Print only their number."`
}

// Run implements the command.
func (c *entityFindCmd) Run(e *environment) error {
	if c.Limit < 1 {
		return fault.Field("limit", "must be at least 1")
	}
	filter := posture.EntityFilter{Accounts: c.Account}
	var err error
	if filter.Where, err = condition(c.Query); err != nil {
		return err
	}
	return c.withInstallation(e.ctx, func(in *instance.Installation) error {
		caller, err := c.operator(e, in)
		if err != nil {
			return err
		}
		if err := store.Migrate(e.ctx, in.DB); err != nil {
			return fmt.Errorf("migrate the database: %w", err)
		}
		entities := store.New(in.DB, in.Box, nil)
		if c.Count {
			n, _, err := entities.Aggregate(e.ctx, posture.OrgID(caller.Org), filter, nil)
			if err == nil {
				fmt.Fprintln(e.stdout, n)
			}
			return err
		}
		found, total, err := c.find(e.ctx, entities, posture.OrgID(caller.Org), filter)
		if err != nil {
			return err
		}
		if len(found) < total {
			fmt.Fprintf(e.stderr, "%d of %d, see --limit\n", len(found), total)
		}
		return printEntities(e, found)
	})
}

// find returns the entities to print, and the total number.
func (c *entityFindCmd) find(ctx context.Context, from posture.EntityStore, org posture.OrgID, f posture.EntityFilter) (found []posture.Entity, total int, err error) {
	for after := ""; ; {
		page, err := from.Entities(ctx, org, f, posture.Page{Size: min(c.Limit-len(found), posture.MaxPage), After: after})
		if err != nil {
			return nil, 0, err
		}
		found, total, after = append(found, page.Entities...), page.Total, page.Next
		if after == "" || len(found) >= c.Limit {
			return found, total, nil
		}
	}
}

// condition parses the search language. Its error shows the position of the problem.
func condition(text string) (posture.Condition, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	c, err := search.Parse(text)
	if e, ok := errors.AsType[*search.Error](err); ok {
		return nil, fault.New(fault.Invalid, "%v\n  %s\n  %s^", e, oneLine(text), strings.Repeat(" ", e.Column-1))
	}
	return c, err
}

func printEntities(e *environment, found []posture.Entity) error {
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tREGION\tCHANGED")
	for _, each := range found {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", oneLine(string(each.ID)), oneLine(each.Name), oneLine(each.Region), each.Updated.Format(time.DateTime))
	}
	return w.Flush()
}

// oneLine replaces characters that cannot be printed by spaces, so that names of
// resources cannot move the cursor.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
