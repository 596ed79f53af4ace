package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"vigil/internal/client"
)

type entitiesCmd struct {
	listFlags
	Account []string `completes:"accounts" placeholder:"ID" help:"Only resources of this account."`
	Type    []string `placeholder:"TYPE" help:"Only resources of this type, such as AWS.S3.Bucket."`
	Region  []string `placeholder:"NAME" help:"Only resources of this region."`
	Search  string   `placeholder:"QUERY" help:"Only resources that this search finds; see docs/entities.md."`
	Limit   int      `default:"100" help:"Maximum number of resources."`
}

// Run implements the command.
func (c *entitiesCmd) Run(e *environment) error {
	filters := client.Record{}
	for name, values := range map[string][]string{"cloudAccountIds": c.Account, "entityTypes": c.Type, "regions": c.Region} {
		if len(values) > 0 {
			filters[name] = values
		}
	}
	if c.Search != "" {
		filters["query"] = c.Search
	}
	_, err := c.list(e, "/v1/entities/query", "results", "TYPE=entityType NAME=entityName ACCOUNT=cloudAccountId REGION=region ID=entityId", client.Record{"filters": filters}, c.Limit)
	return err
}

type queryCmd struct {
	profileFlags
	Account string `arg:"" completes:"accounts" help:"Id of the cloud account; see vigil accounts."`
	Gremlin string `arg:"" help:"The query."`
	Explain bool   `help:"Also print the query plan and its cost."`
}

// Run implements the command. It prints the response of the API as indented JSON.
func (c *queryCmd) Run(e *environment) error {
	to, err := c.client()
	if err != nil {
		return err
	}
	in := client.Record{"partitionKey": c.Account, "gremlin": c.Gremlin, "explain": c.Explain}
	var answer json.RawMessage
	if err := to.Call(e.ctx, http.MethodPost, "/v1/entities/graph-query", in, &answer); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, answer, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s\n", bytes.TrimSpace(text.Bytes()))
	return err
}
