package main

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"vigil/internal/client"
	"vigil/internal/fault"
)

type auditListCmd struct {
	listFlags
	Since     string        `placeholder:"TIME" help:"Only records from this time on: 24h for a day ago, a date such as 2026-01-31, or 2026-01-31T12:00:00Z."`
	Until     string        `placeholder:"TIME" help:"Only records before this time."`
	Actor     *string       `placeholder:"USER" help:"Only what this user did: name or id; see vigil users."`
	Operation string        `name:"action" placeholder:"NAME" help:"Only this action, by the name that the list shows, such as createApiToken."`
	Outcome   string        `enum:"success,denied,failure,all" default:"all" help:"Only what succeeded, was denied or failed: success, denied, failure or all."`
	Limit     int           `default:"100" help:"Maximum number of records; with --follow, of the first output."`
	Follow    bool          `short:"f" help:"Print the oldest first, then new records until interrupted. With -o json, one object per line."`
	Interval  time.Duration `default:"2s" help:"Polling interval of --follow."`
}

const auditColumns = "TIME=time ACTOR=actorName ACTION=operation OUTCOME=outcome TARGETS=targets FROM=source CAUSE=cause"

// Run implements the command.
func (c *auditListCmd) Run(e *environment) error {
	switch {
	case c.Limit < 1:
		return fault.New(fault.Invalid, "--limit must be at least 1")
	case c.Follow && c.Until != "":
		return fault.New(fault.Invalid, "--follow and --until cannot be used together")
	case c.Interval <= 0:
		return fault.New(fault.Invalid, "--interval must be longer than zero")
	}
	to, err := c.client()
	if err != nil {
		return err
	}
	query, err := c.query(e, to)
	if err != nil {
		return err
	}
	if c.Follow {
		return e.untilStopped(c.follow(e, to, query))
	}
	all, more, err := auditRecords(e, to, query, c.Limit, "")
	if err != nil {
		return err
	}
	if more {
		fmt.Fprintf(e.stderr, "the newest %d; --limit prints more\n", len(all))
	}
	return client.Render(e.stdout, c.Output, client.Columns(auditColumns), c.flattenTargets(all))
}

// query returns the filters of the API. The API identifies users by id only.
func (c *auditListCmd) query(e *environment, to *client.Client) (url.Values, error) {
	query, now := url.Values{}, time.Now()
	for parameter, text := range map[string]string{"from": c.Since, "to": c.Until} {
		if text == "" {
			continue
		}
		at, err := parseTime(text, now)
		if err != nil {
			return nil, err
		}
		query.Set(parameter, at.UTC().Format(time.RFC3339))
	}
	if c.Operation != "" {
		query.Set("operation", c.Operation)
	}
	if c.Outcome != "all" {
		query.Set("outcome", c.Outcome)
	}
	if c.Actor == nil {
		return query, nil
	}
	user, err := findUser(e, to, *c.Actor)
	switch {
	case fault.Is(err, fault.NotFound):
		query.Set("actor", *c.Actor) // the id of a deleted user
	case err != nil:
		return nil, err
	default:
		query.Set("actor", client.Text(user, "id"))
	}
	return query, nil
}

// parseTime parses a time, a date in the local time zone, or a duration before now.
func parseTime(text string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fault.New(fault.Invalid, "%q is not a time; give how long ago (24h), a date (2026-01-31) or 2026-01-31T12:00:00Z", text)
	}
	return at, nil
}

// auditPage is the maximum page size of the server.
const auditPage = 1000

// auditRecords returns at most limit records, newest first, and whether there are more. If
// last is the id of a record, it returns only records that are newer than that one.
func auditRecords(e *environment, to *client.Client, query url.Values, limit int, last string) (all []client.Record, more bool, err error) {
	query = maps.Clone(query)
	for {
		query.Set("pageSize", strconv.Itoa(min(auditPage, limit-len(all))))
		var page client.Record
		if err := to.Call(e.ctx, http.MethodGet, "/v1/audit?"+query.Encode(), nil, &page); err != nil {
			return nil, false, err
		}
		for _, r := range client.Records(page, "results") {
			if last != "" && client.Text(r, "id") == last {
				return all, false, nil
			}
			all = append(all, r)
		}
		next := client.Text(page, "continuationToken")
		if next == "" || len(all) >= limit {
			return all, next != "", nil
		}
		query.Set("continuationToken", next)
	}
}

// follow prints records as they arrive. The server lists the newest first, so the new
// records are those that it lists before the last printed one.
func (c *auditListCmd) follow(e *environment, to *client.Client, query url.Values) error {
	out := client.NewStream(e.stdout, c.Output, client.Columns(auditColumns))
	last, limit := "", c.Limit
	for {
		fresh, _, err := auditRecords(e, to, query, limit, last)
		if err != nil {
			return err
		}
		if len(fresh) > 0 {
			last = client.Text(fresh[0], "id")
		}
		limit = math.MaxInt // --limit is only for the first output
		slices.Reverse(fresh)
		if err := out.Write(c.flattenTargets(fresh)); err != nil {
			return err
		}
		if err := wait(e.ctx, c.Interval); err != nil {
			return err
		}
	}
}

// flattenTargets returns records with targets as texts NAME=ID, for tables. Formats that
// print whole records get them unchanged.
func (c *auditListCmd) flattenTargets(records []client.Record) []client.Record {
	if c.Output == "json" || c.Output == "yaml" {
		return records
	}
	all := make([]client.Record, len(records))
	for i, r := range records {
		targets, _ := r["targets"].(client.Record)
		var text []any
		for _, name := range slices.Sorted(maps.Keys(targets)) {
			text = append(text, name+"="+client.Text(targets, name))
		}
		all[i] = maps.Clone(r)
		all[i]["targets"] = text
	}
	return all
}
