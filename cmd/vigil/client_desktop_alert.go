package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vigil/internal/client"
	"vigil/internal/fault"
)

type desktopAlertsCmd struct {
	List        desktopAlertsListCmd    `cmd:"" default:"withargs" help:"List alerts by rule and cause, newest first. The default of vigil desktop alerts."`
	Acknowledge desktopAlertsAckCmd     `cmd:"" help:"Mark a group of alerts as being handled: messages about it are not repeated until it ends."`
	Silence     desktopAlertsSilenceCmd `cmd:"" help:"Send no messages about a group of alerts for some time."`
}

type desktopAlertsListCmd struct {
	desktopListFlags
	State []string `enum:"pending,firing,resolved" default:"pending,firing" help:"Only alerts in these states: pending, firing, resolved."`
	Since string   `placeholder:"TIME" help:"Only resolved alerts that ended after this time: 48h for two days ago, or a date. Default: a day ago."`
	Limit int      `default:"1000" help:"Maximum number of alerts."`
}

// Run implements the command.
func (c *desktopAlertsListCmd) Run(e *environment) error {
	query := url.Values{"state": {strings.ToUpper(strings.Join(c.State, ","))}, "limit": {strconv.Itoa(c.Limit)}}
	if c.Since != "" {
		at, err := parseTime(c.Since, time.Now())
		if err != nil {
			return err
		}
		query.Set("since", strconv.FormatInt(at.UnixMilli(), 10))
	}
	all, err := c.records(e, "/rest/monitor/alert-groups", query)
	if err != nil {
		return err
	}
	return c.print(e, "STATE=state SINCE=since RULE=rule_name KIND=cause.kind CAUSE=cause.name OPEN=open_count BY=acknowledgement.by SUMMARY=summary ID=id", all)
}

type desktopAlertsAckCmd struct {
	desktopFlags
	ID      string `arg:"" help:"Id of the group; see vigil desktop alerts."`
	Comment string `help:"Comment for others."`
	Undo    bool   `help:"Remove the acknowledgement."`
}

// Run implements the command.
func (c *desktopAlertsAckCmd) Run(e *environment) error {
	method, done := http.MethodPut, "acknowledged"
	var in any = client.Record{"comment": c.Comment}
	if c.Undo {
		method, done, in = http.MethodDelete, "no longer acknowledged", nil
	}
	group, err := c.change(e, method, "/rest/monitor/alert-groups/"+url.PathEscape(c.ID)+"/acknowledgement", in)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s of %s: %s\n", client.Text(group, "rule_name"), client.Text(group, "cause.name"), done)
	return nil
}

type desktopAlertsSilenceCmd struct {
	desktopFlags
	ID     string         `arg:"" help:"Id of the group; see vigil desktop alerts."`
	For    *time.Duration `placeholder:"DURATION" help:"Duration, such as 2h; at most 90 days."`
	Reason string         `help:"Reason."`
	Undo   bool           `help:"End the silence."`
}

// Run implements the command.
func (c *desktopAlertsSilenceCmd) Run(e *environment) error {
	// Exactly one of --for and --undo must be given.
	if c.Undo == (c.For != nil) {
		return fault.New(fault.Invalid, "give a duration, such as --for 2h, or --undo to end the silence")
	}
	until, err := endAfter("--for", c.For)
	if err != nil {
		return err
	}
	method, done := http.MethodDelete, "no longer silenced"
	var in any
	if !c.Undo {
		method, done, in = http.MethodPut, "silenced until "+until.UTC().Format(time.RFC3339), client.Record{"until": until.UnixMilli(), "reason": c.Reason}
	}
	group, err := c.change(e, method, "/rest/monitor/alert-groups/"+url.PathEscape(c.ID)+"/silence", in)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s of %s: %s\n", client.Text(group, "rule_name"), client.Text(group, "cause.name"), done)
	return nil
}
