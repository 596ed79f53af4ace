package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"vigil/internal/client"
)

// gremlinText is the text of a query, or @FILE.
type gremlinText string

// read returns the text of the query, from its file if it is in one.
func (g gremlinText) read() (string, error) {
	file, ok := strings.CutPrefix(string(g), "@")
	if !ok {
		return string(g), nil
	}
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
}

type rulesTryCmd struct {
	listFlags
	Account string      `arg:"" completes:"accounts" help:"Id of the cloud account; see vigil accounts."`
	Query   gremlinText `arg:"" help:"Gremlin query that returns the resources in violation; @FILE reads a file."`
}

// Run implements the command.
func (c *rulesTryCmd) Run(e *environment) error {
	query, err := c.Query.read()
	if err != nil {
		return err
	}
	tried, err := c.call(e, http.MethodPost, "/v1/rules/test", client.Record{"partitionKey": c.Account, "query": query})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%s resources violate the rule, %s pass, %s are unknown, and it does not apply to %s\n", client.Text(tried, "violating"), client.Text(tried, "passing"), client.Text(tried, "unknown"), client.Text(tried, "notApplicable"))
	reads, _ := tried["reads"].(client.Record)
	notInSchema, _ := reads["notInSchema"].([]any)
	for _, name := range notInSchema {
		fmt.Fprintln(e.stderr, "not in the schema:", name)
	}
	return client.Render(e.stdout, c.Output, client.Columns("VERDICT=verdict TYPE=entity.entityType NAME=entity.entityName REGION=entity.region ID=entity.entityId"), client.Records(tried, "results"))
}

type rulesAddCmd struct {
	profileFlags
	Name        string      `arg:"" help:"One line that states the violation, such as: Development bucket has no versioning."`
	Query       gremlinText `required:"" help:"Gremlin query that returns the resources in violation; @FILE reads a file. Try it with vigil rules try."`
	Provider    string      `required:"" enum:"aws,azure,gcp" help:"Cloud: aws, azure or gcp."`
	Level       string      `enum:"high,med,low" default:"med" help:"Level: high, med or low."`
	Label       string      `help:"Short name for lists. Default: the name in lower case, with hyphens."`
	Description string      `help:"Why it matters."`
	Fix         string      `help:"What to do about a finding."`
	Control     []string    `placeholder:"ID" help:"Compliance control that the rule checks, such as cis-aws-5.0_2.1.1. May be repeated."`
}

// Run implements the command.
func (c *rulesAddCmd) Run(e *environment) error {
	query, err := c.Query.read()
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]string{"inventoryQueryType": "graph", "queryString": query})
	if err != nil {
		return err
	}
	label := c.Label
	if label == "" {
		label = strings.Join(strings.Fields(strings.ToLower(c.Name)), "-")
	}
	in := client.Record{
		"name": c.Name, "displayName": label, "provider": c.Provider, "level": capitalized(c.Level), "query": string(text), "description": c.Description, "suggestedAction": c.Fix,
	}
	if len(c.Control) > 0 {
		in["complianceControlIds"] = c.Control
	}
	added, err := c.call(e, http.MethodPost, "/v1/rules", in)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "rule %s is added; it will be evaluated on all accounts of this cloud\n", client.Text(added, "id"))
	return nil
}

type rulesDeleteCmd struct {
	profileFlags
	Rule string `arg:"" completes:"rules" help:"Id of the rule; see vigil rules."`
}

// Run implements the command.
func (c *rulesDeleteCmd) Run(e *environment) error {
	deleted, err := c.call(e, http.MethodDelete, rulePath(c.Rule), nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "rule %s is deleted, and its findings are resolved\n", client.Text(deleted, "id"))
	return nil
}

func capitalized(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
