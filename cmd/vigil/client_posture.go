package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vigil/internal/atomicfile"
	"vigil/internal/client"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/export"
	"vigil/internal/terminal"
)

type collectCmd struct {
	profileFlags
	Account string `arg:"" completes:"accounts" help:"Id of the cloud account; see vigil accounts."`
	Watch   bool   `short:"w" help:"Wait until the collection ends, and show its progress."`
}

// Run implements the command. With --watch it fails if the collection did not complete.
func (c *collectCmd) Run(e *environment) error {
	to, err := c.client()
	if err != nil {
		return err
	}
	path := "/v1/cloud-accounts/" + url.PathEscape(c.Account) + "/collections"
	var run client.Record
	if err := to.Call(e.ctx, http.MethodPost, path, nil, &run); err != nil {
		return err
	}
	id := client.Text(run, "collectionId")
	fmt.Fprintf(e.stdout, "collection %s of %s has started\n", id, c.Account)
	if !c.Watch {
		return nil
	}
	progress := terminal.NewProgress(e.stderr)
	defer progress.Clear()
	for client.Text(run, "status") == string(posture.RunStarted) {
		if err := wait(e.ctx, 500*time.Millisecond); err != nil {
			return err
		}
		if err := to.Call(e.ctx, http.MethodGet, path+"/"+url.PathEscape(id), nil, &run); err != nil {
			return err
		}
		progress.Say("%s of %s reads, %s resources", client.Text(run, "progress.done"), client.Text(run, "progress.total"), client.Text(run, "progress.entities"))
	}
	progress.Clear()
	status := client.Text(run, "status")
	fmt.Fprintf(e.stdout, "%s: %s resources %s\n", status, client.Text(run, "progress.entities"), client.Text(run, "reason"))
	if status != string(posture.RunCompleted) && status != string(posture.RunCompletedWithErrors) {
		return &exitError{exitFailed, "the collection ended as " + status}
	}
	return nil
}

// findingFlags select findings.
type findingFlags struct {
	Level     []string `enum:"high,medium,low" placeholder:"LEVEL" help:"Only findings of this level: high, medium or low."`
	Account   []string `completes:"accounts" placeholder:"ID" help:"Only findings of this account."`
	Rule      []string `completes:"rules" placeholder:"ID" help:"Only findings of this rule."`
	Service   []string `placeholder:"NAME" help:"Only findings of this service."`
	Region    []string `placeholder:"NAME" help:"Only findings of this region."`
	Framework []string `completes:"frameworks" placeholder:"ID" help:"Only findings of the rules of this framework."`
	Status    string   `enum:"open,resolved,all" default:"open" help:"Only findings that are open or resolved, or all."`
	Text      string   `help:"Only findings with this text in their names and ids."`
}

// filters returns the filter of the API.
func (f findingFlags) filters() client.Record {
	filters := client.Record{}
	for name, values := range map[string][]string{
		"levels": f.Level, "cloudAccountIds": f.Account, "ruleIds": f.Rule, "services": f.Service, "regions": f.Region, "complianceFrameworkIds": f.Framework,
	} {
		if len(values) > 0 {
			filters[name] = values
		}
	}
	if f.Status != "all" {
		filters["statuses"] = []string{f.Status}
	}
	if f.Text != "" {
		filters["queryString"] = f.Text
	}
	return filters
}

type findingsCmd struct {
	listFlags
	findingFlags
	Limit  int    `default:"100" help:"Maximum number of findings."`
	FailOn string `enum:"none,low,medium,high" default:"none" help:"Exit with 3 if there is an open finding of this level or a higher one that is not suppressed."`
}

// Run implements the command.
func (c *findingsCmd) Run(e *environment) error {
	if err := c.checkNames(e); err != nil {
		return err
	}
	query := client.Record{"filters": c.filters(), "sorts": []client.Record{{"fieldName": "riskScore", "order": "desc"}}}
	if _, err := c.list(e, "/v2/findings/query", "results", "LEVEL=level RISK=riskScore RULE=ruleId RESOURCE=objectName TYPE=objectType ACCOUNT=cloudAccountId REGION=region ID=id", query, c.Limit); err != nil {
		return err
	}
	return c.fail(e)
}

// checkNames fails if an account, rule or framework does not exist: a misspelt name
// matches no finding, and a pipeline would take that for a clean account.
func (c *findingsCmd) checkNames(e *environment) error {
	for path, ids := range map[string][]string{"/v1/cloud-accounts/": c.Account, "/v1/rules/": c.Rule, "/v1/compliance-frameworks/": c.Framework} {
		for _, id := range ids {
			if _, err := c.call(e, http.MethodGet, path+url.PathEscape(id), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// fail returns the error of --fail-on. It counts all findings that the flags select, not only
// the printed ones, but replaces --level and --status: it counts the open findings of the
// failing levels that are not suppressed.
func (c *findingsCmd) fail(e *environment) error {
	levels := failingLevels(c.FailOn)
	if len(levels) == 0 {
		return nil
	}
	to, err := c.client()
	if err != nil {
		return err
	}
	filters := c.filters()
	filters["levels"], filters["statuses"], filters["isSuppressed"] = levels, []string{"open"}, false
	_, total, err := to.List(e.ctx, "/v2/findings/query", "results", client.Record{"filters": filters}, 1)
	if err != nil {
		return err
	}
	if total > 0 {
		return failOn(total, c.FailOn)
	}
	return nil
}

type exportCmd struct {
	profileFlags
	What      string   `arg:"" enum:"findings,resources,compliance" help:"What to export: findings, resources or compliance."`
	Framework string   `arg:"" optional:"" help:"Id of the framework, for compliance."`
	Output    string   `short:"o" placeholder:"FILE" help:"File to write. Default: standard output."`
	Format    string   `placeholder:"FORMAT" help:"${export_formats}; resources and compliance in csv and jsonl. Default: the format of the file name's suffix, or csv."`
	Level     []string `enum:"high,medium,low" placeholder:"LEVEL" help:"Only findings of this level."`
	Account   []string `completes:"accounts" placeholder:"ID" help:"Only this account."`
}

// Run implements the command.
func (c *exportCmd) Run(e *environment) (err error) {
	format := export.Format(strings.ToLower(c.Format))
	if known, ok := export.FormatOf(c.Output); format == "" && ok {
		format = known
	} else if format == "" && filepath.Ext(c.Output) != "" {
		return fault.New(fault.Invalid, "%s: the file name has no known suffix; give --format: one of %s", c.Output, export.List())
	} else if format == "" {
		format = export.CSV
	}
	in, path := client.Record{"format": format}, "/v2/findings/export"
	filters := client.Record{}
	if len(c.Account) > 0 {
		filters["cloudAccountIds"] = c.Account
	}
	switch c.What {
	case "findings":
		if len(c.Level) > 0 {
			filters["levels"] = c.Level
		}
		in["filters"] = filters
	case "resources":
		path, in["filters"] = "/v1/entities/export", filters
	case "compliance":
		if c.Framework == "" {
			return fault.New(fault.Invalid, "give a framework, such as: vigil export compliance cis-aws-3.0")
		}
		path = "/v1/compliance-frameworks/" + url.PathEscape(c.Framework) + "/posture/export"
		if len(c.Account) > 0 {
			in["cloudAccountIds"] = c.Account
		}
	}
	to, err := c.client()
	if err != nil {
		return err
	}
	if c.Output == "" || c.Output == "-" {
		return to.Copy(e.ctx, http.MethodPost, path, in, e.stdout)
	}
	return atomicfile.Write(c.Output, 0o600, func(w io.Writer) error { return to.Copy(e.ctx, http.MethodPost, path, in, w) })
}

type complianceCmd struct {
	listFlags
	Framework string   `arg:"" optional:"" completes:"frameworks" help:"Id of a framework, to list its controls. Default: list frameworks."`
	Account   []string `completes:"accounts" placeholder:"ID" help:"Only this account."`
}

// Run implements the command.
func (c *complianceCmd) Run(e *environment) error {
	in := client.Record{}
	if len(c.Account) > 0 {
		in["cloudAccountIds"] = c.Account
	}
	if c.Framework == "" {
		return c.frameworks(e, in)
	}
	return c.get(e, http.MethodPost, "/v1/compliance-frameworks/"+url.PathEscape(c.Framework)+"/posture", "results",
		"CONTROL=controlId VIOLATING=violating PASSING=passing UNKNOWN=unknown NOT-APPLICABLE=notApplicable NOT-LISTED=notListed TITLE=title", in)
}

// frameworks prints the frameworks with the numbers of their controls by verdict.
func (c *complianceCmd) frameworks(e *environment, in client.Record) error {
	to, err := c.client()
	if err != nil {
		return err
	}
	var answer client.Record
	if err := to.Call(e.ctx, http.MethodGet, "/v1/compliance-frameworks", nil, &answer); err != nil {
		return err
	}
	all := client.Records(answer, "results")
	for _, f := range all {
		var page struct {
			Sections []struct {
				Violating, Passing, Unknown int
			}
		}
		if err := to.Call(e.ctx, http.MethodPost, "/v1/compliance-frameworks/"+url.PathEscape(client.Text(f, "id"))+"/posture", in, &page); err != nil {
			return err
		}
		var violated, passed, unknown int
		for _, s := range page.Sections {
			violated, passed, unknown = violated+s.Violating, passed+s.Passing, unknown+s.Unknown
		}
		f["violatedControls"], f["passedControls"], f["unknownControls"] = violated, passed, unknown
	}
	return client.Render(e.stdout, c.Output, client.Columns("ID=id VERSION=version VIOLATED=violatedControls PASSED=passedControls UNKNOWN=unknownControls NAME=name"), all)
}

type suppressCmd struct {
	profileFlags
	Finding []string       `arg:"" help:"Ids of findings; see vigil findings."`
	Reason  string         `required:"" help:"Reason."`
	For     *time.Duration `placeholder:"DURATION" help:"Duration, such as 720h. Default: no end."`
}

// Run implements the command.
func (c *suppressCmd) Run(e *environment) error {
	in := client.Record{"findingIds": c.Finding, "reason": c.Reason}
	end, err := endAfter("--for", c.For)
	if err != nil {
		return err
	}
	if !end.IsZero() {
		in["until"] = end.UTC().Format(time.RFC3339)
	}
	answer, err := c.call(e, http.MethodPost, "/v2/findings/suppressions", in)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "findings suppressed: %s\n", client.Text(answer, "changedCount"))
	return nil
}

type apiCmd struct {
	profileFlags
	Method string `arg:"" enum:"GET,POST,PUT,PATCH,DELETE" help:"GET, POST, PUT, PATCH or DELETE."`
	Path   string `arg:"" help:"Path of the operation, such as /v1/users; see /docs/api of the server."`
	Data   string `short:"d" help:"JSON to send; @FILE reads a file."`
}

// Run implements the command.
func (c *apiCmd) Run(e *environment) error {
	to, err := c.client()
	if err != nil {
		return err
	}
	return callAny(e, to, c.Method, c.Path, c.Data)
}

// callAny calls an operation with JSON data, or data from @FILE, and prints the
// response.
func callAny(e *environment, to *client.Client, method, path, data string) error {
	var in any
	if file, ok := strings.CutPrefix(data, "@"); ok {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		in = json.RawMessage(text)
	} else if data != "" {
		in = json.RawMessage(data)
	}
	if text, ok := in.(json.RawMessage); ok && !json.Valid(text) {
		return fault.New(fault.Invalid, "--data is not JSON")
	}
	if !strings.HasPrefix(path, "/") {
		return fault.New(fault.Invalid, "a path begins with a slash: /v1/users")
	}
	return to.Copy(e.ctx, method, path, in, e.stdout)
}
