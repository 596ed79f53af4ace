package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"vigil/internal/client"
	"vigil/internal/posture"
	"vigil/internal/terminal"
)

type accountsLinkCmd struct {
	profileFlags
	Account    string `arg:"" help:"Id of the AWS account."`
	RoleARN    string `name:"role-arn" required:"" placeholder:"ARN" help:"Role of the account that Vigil may assume."`
	ExternalID string `name:"external-id" placeholder:"ID" help:"External id that the role requires. Default: the one that the server issued to your organisation."`
	Name       string `help:"Name of the account. Default: its id."`
	Watch      bool   `short:"w" help:"Wait until the account was collected for the first time."`
}

// Run implements the command.
func (c *accountsLinkCmd) Run(e *environment) error {
	if c.ExternalID == "" {
		issued, err := c.call(e, http.MethodGet, "/v1/cloud-credentials/aws-external-id", nil)
		if err != nil {
			return err
		}
		c.ExternalID = client.Text(issued, "externalId")
	}
	text := func(name, value string) client.Record {
		return client.Record{"name": name, "type": posture.StringProperty, "stringV": value}
	}
	const aws = "/v1/providers/aws/"
	if _, err := c.call(e, http.MethodPost, aws+"cloud-accounts", client.Record{
		"cloudAccountName": cmp.Or(c.Name, c.Account), "properties": []client.Record{text("accountId", c.Account)},
	}); err != nil {
		return err
	}
	credential, err := c.call(e, http.MethodPost, aws+"cloud-credentials", client.Record{
		"properties": []client.Record{text(posture.PropRoleArn, c.RoleARN), text(posture.PropExternalID, c.ExternalID)},
	})
	if err != nil {
		return fmt.Errorf("the account is added, but not linked: %w", err)
	}
	if _, err := c.call(e, http.MethodPost, aws+"account-credential-relationship", client.Record{
		"cloudAccountId": c.Account, "credentialId": client.Text(credential, "credentialId"),
	}); err != nil {
		return fmt.Errorf("the account is added, but not linked: %w", err)
	}
	fmt.Fprintf(e.stdout, "account %s is linked; Vigil checks the role and collects the account\n", c.Account)
	if !c.Watch {
		return nil
	}
	return c.wait(e)
}

// wait waits until the first collection has ended. It fails if the account cannot be
// read.
func (c *accountsLinkCmd) wait(e *environment) error {
	progress := terminal.NewProgress(e.stderr)
	defer progress.Clear()
	for {
		a, err := c.call(e, http.MethodGet, "/v1/cloud-accounts/"+url.PathEscape(c.Account), nil)
		if err != nil {
			return err
		}
		switch status, run := client.Text(a, "accountStatus.value"), client.Text(a, "lastCollection.status"); {
		case status == string(posture.AccountValidationFailed):
			return &exitError{exitFailed, "the account cannot be read: " + client.Text(a, "accountStatus.reason")}
		case run != "" && run != string(posture.RunStarted):
			progress.Clear()
			fmt.Fprintf(e.stdout, "%s: %s resources %s\n", run, client.Text(a, "lastCollection.progress.entities"), client.Text(a, "lastCollection.reason"))
			if run != string(posture.RunCompleted) && run != string(posture.RunCompletedWithErrors) {
				return &exitError{exitFailed, "the collection ended as " + run}
			}
			return nil
		default:
			progress.Say("%s, %s resources", status, cmp.Or(client.Text(a, "lastCollection.progress.entities"), "0"))
		}
		if err := wait(e.ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}
