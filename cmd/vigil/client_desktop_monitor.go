package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"vigil/internal/client"
	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/terminal"
)

type desktopStatusCmd struct {
	desktopListFlags
	Watch    bool          `short:"w" help:"Refresh the output until interrupted."`
	Interval time.Duration `default:"5s" help:"Refresh interval of --watch."`
	FailOn   string        `enum:"none,warning,error" default:"none" help:"Exit with 3 if a component has this status or a worse one: warning or error."`
}

// Run implements the command.
func (c *desktopStatusCmd) Run(e *environment) error {
	if c.Interval <= 0 {
		return fault.New(fault.Invalid, "--interval must be longer than zero")
	}
	to, err := c.client()
	if err != nil {
		return err
	}
	for {
		var overview client.Record
		if err := to.Call(e.ctx, http.MethodGet, "/rest/monitor/overview", nil, &overview); err != nil {
			if c.Watch {
				err = e.untilStopped(err)
			}
			return err
		}
		if c.Watch && terminal.Is(e.stdout) {
			fmt.Fprint(e.stdout, "\x1b[H\x1b[2J") // clear the screen
		}
		if err := c.show(e.stdout, overview); err != nil {
			return err
		}
		if !c.Watch {
			return c.fail(overview)
		}
		if err := wait(e.ctx, c.Interval); err != nil {
			return e.untilStopped(err)
		}
	}
}

// show prints the kinds of components and, in the table format, the problems.
func (c *desktopStatusCmd) show(w io.Writer, overview client.Record) error {
	if c.Output == "json" || c.Output == "yaml" {
		return client.Render(w, c.Output, nil, []client.Record{overview})
	}
	kinds := client.Columns("KIND=kind TOTAL=total OK=health.OK WARNING=health.WARNING ERROR=health.ERROR UNKNOWN=health.UNKNOWN DISABLED=health.DISABLED")
	if err := client.Render(w, c.Output, kinds, client.Records(overview, "kinds")); err != nil || c.Output == "csv" {
		return err
	}
	fmt.Fprintf(w, "\n%s sessions on RDS servers, %s connections through connection servers, %s through gateways.\n",
		client.Text(overview, "sessions.rds_sessions"), client.Text(overview, "sessions.connections"), client.Text(overview, "sessions.gateway_connections"))
	problems := client.Records(overview, "problems")
	if len(problems) == 0 {
		fmt.Fprintln(w, "All monitored components are healthy.")
		return nil
	}
	fmt.Fprintf(w, "%s components have problems; by cause:\n\n", client.Text(overview, "problem_count"))
	return client.Render(w, "table", client.Columns("HEALTH=health KIND=cause.kind NAME=cause.name AFFECTED=count SINCE=since REASONS=reasons"), c.readable(problems))
}

// fail returns the error of --fail-on.
func (c *desktopStatusCmd) fail(overview client.Record) error {
	levels := map[string][]string{"warning": {"WARNING", "ERROR"}, "error": {"ERROR"}}[c.FailOn]
	total := 0
	for _, kind := range client.Records(overview, "kinds") {
		for _, level := range levels {
			n := 0
			if _, err := fmt.Sscan(client.Text(kind, "health."+level), &n); err == nil {
				total += n
			}
		}
	}
	if total > 0 {
		return &exitError{exitFindings, fmt.Sprintf("%d components have the health %s", total, strings.ToLower(strings.Join(levels, " or ")))}
	}
	return nil
}

// monitorPaths are the paths that list the components of each kind.
var monitorPaths = map[desktop.Kind]string{
	desktop.KindDomain: "ad-domains", desktop.KindConnectionServer: "connection-servers", desktop.KindEventDatabase: "event-database", desktop.KindFarm: "farms",
	desktop.KindGateway: "gateways", desktop.KindRDSServer: "rds-servers", desktop.KindSAMLAuthenticator: "saml-authenticators", desktop.KindPod: "v1/pods",
	desktop.KindSSOConnector: "v1/true-sso", desktop.KindComposer: "desktop-composers", desktop.KindVirtualCenter: "virtual-centers",
}

type desktopComponentsCmd struct {
	desktopListFlags
	Kind   []string `placeholder:"KIND" help:"Only components of this kind, such as gateway; vigil desktop status names them."`
	Health []string `enum:"ok,warning,error,unknown,disabled" placeholder:"HEALTH" help:"Only components with this health: ok, warning, error, unknown or disabled."`
}

// Run implements the command.
func (c *desktopComponentsCmd) Run(e *environment) error {
	kinds := desktop.Kinds()
	if len(c.Kind) > 0 {
		kinds = nil
		for _, name := range c.Kind {
			kind := desktop.Kind(strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
			if monitorPaths[kind] == "" {
				return fault.New(fault.Invalid, "there is no kind %q; the kinds are %v", name, desktop.Kinds())
			}
			kinds = append(kinds, kind)
		}
	}
	to, err := c.client()
	if err != nil {
		return err
	}
	var all []client.Record
	for _, kind := range kinds {
		records, err := components(e, to, kind)
		if err != nil {
			return err
		}
		for _, r := range records {
			if len(c.Health) == 0 || slices.Contains(c.Health, strings.ToLower(client.Text(r, "health"))) {
				all = append(all, r)
			}
		}
	}
	return c.print(e, "KIND=kind NAME=name STATUS=status HEALTH=health SINCE=since REASONS=reasons ID=id", all)
}

// components returns the components of a kind. It adds the kind, and the display name
// under "name".
func components(e *environment, to *client.Client, kind desktop.Kind) ([]client.Record, error) {
	path := "/rest/monitor/" + monitorPaths[kind]
	var all []client.Record
	if kind == desktop.KindEventDatabase { // there is only one
		var record client.Record
		if err := to.Call(e.ctx, http.MethodGet, path, nil, &record); err != nil {
			return nil, err
		}
		all = []client.Record{record}
	} else if err := to.Call(e.ctx, http.MethodGet, path, nil, &all); err != nil {
		return nil, err
	}
	for _, r := range all {
		r["kind"] = string(kind)
		if r["name"] == nil {
			r["name"] = cmp.Or(client.Text(r, "dns_name"), client.Text(r, "details.label"), client.Text(r, "server_name"))
		}
		if r["status"] == nil { // not expected: the server sends one for every kind
			r["status"] = r["health"]
		}
	}
	return all, nil
}

type desktopMachinesCmd struct {
	desktopListFlags
	Farm   []string `completes:"farms" placeholder:"NAME" help:"Only machines of this farm, by name or id."`
	State  []string `placeholder:"STATE" help:"Only machines in this state, such as available."`
	Status []string `enum:"ok,warning,error,disabled" placeholder:"STATUS" help:"Only machines with this status: ok, warning, error or disabled."`
	Text   string   `help:"Only machines with this text in their name or that of their farm."`
}

// Run implements the command.
func (c *desktopMachinesCmd) Run(e *environment) error {
	query := url.Values{}
	if len(c.Farm) > 0 {
		farms, err := c.records(e, "/rest/monitor/farms", nil)
		if err != nil {
			return err
		}
		idOf := map[string]string{} // by id and by name
		for _, f := range farms {
			id := client.Text(f, "id")
			idOf[id], idOf[strings.ToLower(client.Text(f, "name"))] = id, id
		}
		var ids []string
		for _, name := range c.Farm {
			id, ok := idOf[strings.ToLower(name)]
			if !ok {
				return fault.New(fault.NotFound, "there is no farm %q; see vigil desktop farms", name)
			}
			ids = append(ids, id)
		}
		query.Set("farm_id", strings.Join(ids, ","))
	}
	for name, value := range map[string]string{"state": strings.Join(c.State, ","), "status": strings.ToUpper(strings.Join(c.Status, ",")), "q": c.Text} {
		if value != "" {
			query.Set(name, value)
		}
	}
	all, err := c.records(e, "/rest/monitor/rds-servers", query)
	if err != nil {
		return err
	}
	return c.print(e, "NAME=name FARM=farm_name STATE=details.state STATUS=status SESSIONS=session_count MAX=details.max_sessions_count_configured LOAD=load_index SINCE=since REASONS=reasons", all)
}

type desktopFarmsCmd struct{ desktopListFlags }

// Run implements the command.
func (c *desktopFarmsCmd) Run(e *environment) error {
	all, err := c.records(e, "/rest/monitor/farms", nil)
	if err != nil {
		return err
	}
	return c.print(e, "NAME=name TYPE=details.type STATUS=status SERVERS=rds_server_count HEALTHY=healthy_rds_server_count SESSIONS=session_count LOAD=load_index SINCE=since REASONS=reasons", all)
}

type desktopAccountsCmd struct{ desktopListFlags }

// Run implements the command. The server identifies domains by SID; a table has their
// names instead, and the other formats have the SIDs.
func (c *desktopAccountsCmd) Run(e *environment) error {
	all, err := c.records(e, "/rest/config/v1/ic-domain-accounts", nil)
	if err != nil {
		return err
	}
	domains, err := c.records(e, "/rest/external/v1/ad-domains", nil)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, d := range domains {
		names[client.Text(d, "id")] = client.Text(d, "dns_name")
	}
	if c.Output == "table" {
		for i, r := range all {
			all[i] = maps.Clone(r)
			all[i]["ad_domain_id"] = cmp.Or(names[client.Text(r, "ad_domain_id")], client.Text(r, "ad_domain_id"))
		}
	}
	return c.print(e, "DOMAIN=ad_domain_id USER=username ID=id", all)
}

type desktopSessionsCmd struct {
	List desktopSessionsListCmd `cmd:"" default:"withargs" help:"List your sessions. The default of vigil desktop sessions."`
	End  desktopSessionsEndCmd  `cmd:"" help:"End one of your sessions."`
}

type desktopSessionsListCmd struct{ desktopListFlags }

// Run implements the command.
func (c *desktopSessionsListCmd) Run(e *environment) error {
	all, err := c.records(e, "/rest/config/v1/sessions", nil)
	if err != nil {
		return err
	}
	return c.print(e, "METHOD=method FROM=source BEGAN=created_at ENDS=expires_at CURRENT=current AGENT=agent ID=id", all)
}

type desktopSessionsEndCmd struct {
	desktopFlags
	ID string `arg:"" help:"Id of the session; see vigil desktop sessions."`
}

// Run implements the command.
func (c *desktopSessionsEndCmd) Run(e *environment) error {
	if _, err := c.change(e, http.MethodDelete, "/rest/config/v1/sessions/"+url.PathEscape(c.ID), nil); err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, "the session has ended")
	return nil
}
