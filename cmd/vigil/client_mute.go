package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vigil/internal/client"
	"vigil/internal/fault"
)

type muteCmd struct {
	List    muteListCmd    `cmd:"" default:"withargs" help:"List mute rules. The default of vigil mute."`
	Preview mutePreviewCmd `cmd:"" help:"Show what a mute rule would suppress, without changing anything."`
	Add     muteAddCmd     `cmd:"" help:"Add a mute rule."`
	Delete  muteDeleteCmd  `cmd:"" help:"Delete a mute rule; its findings count again."`
}

const muteRulesPath = "/v1/mute-rules"

type muteListCmd struct{ listFlags }

// Run implements the command.
func (c *muteListCmd) Run(e *environment) error {
	return c.get(e, http.MethodGet, muteRulesPath, "results", "ID=id NAME=name UNTIL=until INFORCE=inForce BY=by REASON=reason", nil)
}

// muteScopeFlags are the scope of a mute rule.
type muteScopeFlags struct {
	Rule     []string `completes:"rules" placeholder:"ID" help:"Findings of this rule."`
	Account  []string `completes:"accounts" placeholder:"ID" help:"Findings of this account."`
	Tag      []string `placeholder:"NAME=VALUE" help:"Findings on resources with this tag."`
	Resource []string `placeholder:"PATTERN" help:"Findings on resources whose id or name matches: * is any text, ? one character."`
}

func (f muteScopeFlags) scope() (client.Record, error) {
	scope := client.Record{}
	for name, values := range map[string][]string{"ruleIds": f.Rule, "cloudAccountIds": f.Account, "resourcePatterns": f.Resource} {
		if len(values) > 0 {
			scope[name] = values
		}
	}
	tags, err := tagValues("--tag", f.Tag)
	if len(tags) > 0 {
		scope["cloudTags"] = tags
	}
	return scope, err
}

// tagValues parses the NAME=VALUE texts of a repeatable flag. It returns the values of each
// tag name.
func tagValues(flag string, values []string) (map[string][]string, error) {
	tags := map[string][]string{}
	for _, t := range values {
		name, value, ok := strings.Cut(t, "=")
		if !ok {
			return nil, fault.New(fault.Invalid, "%s must be NAME=VALUE, not %q", flag, t)
		}
		tags[name] = append(tags[name], value)
	}
	return tags, nil
}

type mutePreviewCmd struct {
	listFlags
	muteScopeFlags
}

// Run implements the command.
func (c *mutePreviewCmd) Run(e *environment) error {
	scope, err := c.scope()
	if err != nil {
		return err
	}
	answer, err := c.call(e, http.MethodPost, muteRulesPath+"/preview", client.Record{"scope": scope})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%s open findings match, of which %s are suppressed already; those of highest risk:\n", client.Text(answer, "matchedCount"), client.Text(answer, "suppressedCount"))
	columns := client.Columns("LEVEL=level RISK=riskScore RULE=ruleId RESOURCE=objectName ACCOUNT=cloudAccountId ID=id")
	return client.Render(e.stdout, c.Output, columns, client.Records(answer, "sample"))
}

type muteAddCmd struct {
	profileFlags
	muteScopeFlags
	Name   string         `arg:"" help:"Name of the mute rule."`
	Reason string         `required:"" help:"Reason."`
	For    *time.Duration `placeholder:"DURATION" help:"Duration, such as 720h. Default: no end."`
}

// Run implements the command.
func (c *muteAddCmd) Run(e *environment) error {
	scope, err := c.scope()
	if err != nil {
		return err
	}
	in := client.Record{"name": c.Name, "reason": c.Reason, "scope": scope}
	end, err := endAfter("--for", c.For)
	if err != nil {
		return err
	}
	if !end.IsZero() {
		in["until"] = end.UTC().Format(time.RFC3339)
	}
	created, err := c.call(e, http.MethodPost, muteRulesPath, in)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "mute rule %s is in force\n", client.Text(created, "id"))
	return nil
}

type muteDeleteCmd struct {
	profileFlags
	ID string `arg:"" completes:"mute-rules" help:"Id of the mute rule; see vigil mute list."`
}

// Run implements the command.
func (c *muteDeleteCmd) Run(e *environment) error {
	if _, err := c.call(e, http.MethodDelete, muteRulesPath+"/"+url.PathEscape(c.ID), nil); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "mute rule %s is deleted; its findings are no longer suppressed\n", c.ID)
	return nil
}
