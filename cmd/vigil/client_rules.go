package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/client"
	"vigil/internal/fault"
	"vigil/internal/posture"
)

type rulesCmd struct {
	List   rulesListCmd   `cmd:"" default:"withargs" help:"List rules. The default of vigil rules."`
	Show   rulesShowCmd   `cmd:"" help:"Show a rule with its parameters."`
	Set    rulesSetCmd    `cmd:"" help:"Set parameters, level or status of a rule; it is evaluated again."`
	Try    rulesTryCmd    `cmd:"" help:"Evaluate a query as a rule on an account; nothing is saved."`
	Add    rulesAddCmd    `cmd:"" help:"Add a rule of your own."`
	Delete rulesDeleteCmd `cmd:"" help:"Delete a rule of your own."`
}

type rulesListCmd struct {
	listFlags
	Provider  []string `enum:"aws,azure,gcp" placeholder:"CLOUD" help:"Only rules of this cloud."`
	Framework []string `completes:"frameworks" placeholder:"ID" help:"Only rules of this framework."`
	Text      string   `help:"Only rules with this text in their names and descriptions."`
	Limit     int      `default:"1000" help:"Maximum number of rules."`
}

// Run implements the command.
func (c *rulesListCmd) Run(e *environment) error {
	filters := client.Record{}
	if len(c.Provider) > 0 {
		filters["providers"] = c.Provider
	}
	if len(c.Framework) > 0 {
		filters["complianceFrameworkIds"] = c.Framework
	}
	if c.Text != "" {
		filters["queryString"] = c.Text
	}
	_, err := c.list(e, "/v1/rules/query", "results", "ID=id LEVEL=level STATUS=status CLOUD=provider SERVICE=service NAME=name", client.Record{"filters": filters}, c.Limit)
	return err
}

type rulesShowCmd struct {
	profileFlags
	Rule string `arg:"" completes:"rules" help:"Id of the rule; see vigil rules."`
}

// Run implements the command.
func (c *rulesShowCmd) Run(e *environment) error {
	rule, err := c.call(e, http.MethodGet, rulePath(c.Rule), nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s (%s, %s)\n%s\n\nWhy: %s\nFix: %s\n", client.Text(rule, "id"), client.Text(rule, "level"), client.Text(rule, "status"),
		client.Text(rule, "name"), client.Text(rule, "description"), client.Text(rule, "suggestedAction"))
	printParameters(e, rule)
	return nil
}

func rulePath(id string) string { return "/v1/rules/" + url.PathEscape(id) }

// printParameters prints the parameters of a rule with their values.
func printParameters(e *environment, rule client.Record) {
	values, _ := rule["parameterValues"].(map[string]any)
	for i, p := range client.Records(rule, "parameters") {
		if i == 0 {
			fmt.Fprintln(e.stdout)
		}
		limits := ""
		for _, limit := range []string{"minimum", "maximum", "pattern"} {
			if text := client.Text(p, limit); text != "" {
				limits += ", " + limit + " " + text
			}
		}
		name := client.Text(p, "name")
		fmt.Fprintf(e.stdout, "%s = %s\n  %s Default: %s%s\n", name, posture.ParameterText(values[name]), client.Text(p, "description"), posture.ParameterText(p["default"]), limits)
	}
}

type rulesSetCmd struct {
	profileFlags
	Rule   string   `arg:"" completes:"rules" help:"Id of the rule; see vigil rules."`
	Values []string `arg:"" optional:"" help:"NAME=VALUE; lists are separated by commas, and NAME= restores the default."`
	Level  string   `enum:"high,med,low," default:"" help:"Level of the rule: high, med or low."`
	Status string   `enum:"enabled,disabled," default:"" help:"Whether the rule is evaluated: enabled or disabled."`
}

// Run implements the command.
func (c *rulesSetCmd) Run(e *environment) error {
	to, err := c.client()
	if err != nil {
		return err
	}
	var rule client.Record
	if err := to.Call(e.ctx, http.MethodGet, rulePath(c.Rule), nil, &rule); err != nil {
		return err
	}
	change := client.Record{}
	if c.Level != "" {
		change["level"] = capitalized(c.Level)
	}
	if c.Status != "" {
		change["status"] = capitalized(c.Status)
	}
	values, err := parameterValues(c.Values, client.Records(rule, "parameters"))
	if err != nil {
		return err
	}
	if len(values) > 0 {
		change["parameterValues"] = values
	}
	if len(change) == 0 {
		return fault.New(fault.Invalid, "give something to set: NAME=VALUE, --level or --status")
	}
	if err := to.Patch(e.ctx, rulePath(c.Rule), change, &rule); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s: %s, %s\n", client.Text(rule, "id"), client.Text(rule, "level"), client.Text(rule, "status"))
	printParameters(e, rule)
	return nil
}

// parameterValues parses NAME=VALUE according to the types of a rule's parameters.
func parameterValues(assignments []string, parameters []client.Record) (map[string]any, error) {
	types := map[string]string{}
	for _, p := range parameters {
		types[client.Text(p, "name")] = client.Text(p, "type")
	}
	values := map[string]any{}
	for _, pair := range assignments {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fault.New(fault.Invalid, "%q is not NAME=VALUE", pair)
		}
		kind, ok := types[name]
		if !ok {
			return nil, fault.New(fault.Invalid, "the rule has no parameter %q; it has: %s", name, posture.ParameterText(slices.Sorted(maps.Keys(types))))
		}
		value, err := parameterValue(posture.ParameterType(kind), text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = value
	}
	return values, nil
}

// parameterValue parses one value. The empty text stands for the default.
func parameterValue(kind posture.ParameterType, text string) (any, error) {
	switch {
	case text == "":
		return nil, nil
	case kind == posture.IntegerParameter:
		return wholeNumber(text)
	}
	list := []any{}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if kind == posture.StringsParameter {
			list = append(list, item)
			continue
		}
		n, err := wholeNumber(item)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

func wholeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fault.New(fault.Invalid, "%s is too large a number", text)
	case err != nil:
		return 0, fault.New(fault.Invalid, "%q is not a whole number", text)
	}
	return n, nil
}
