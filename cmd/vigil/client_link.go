package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"vigil/internal/client"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/terminal"
)

type accountsLinkCmd struct {
	profileFlags
	Account string `arg:"" help:"Id of the AWS account (12 digits), Azure subscription (a UUID) or Google Cloud project."`
	Name    string `help:"Name of the account. Default: its id."`
	Watch   bool   `short:"w" help:"Wait until the account was collected for the first time."`

	RoleARN    string `group:"AWS" name:"role-arn" placeholder:"ARN" help:"Role of the account that Vigil may assume."`
	ExternalID string `group:"AWS" name:"external-id" placeholder:"ID" help:"External id that the role requires. Default: the one that the server issued to your organisation."`

	ApplicationID      string `group:"Azure" name:"application-id" env:"AZURE_CLIENT_ID" placeholder:"UUID" help:"Application that may read the subscription."`
	DirectoryID        string `group:"Azure" name:"directory-id" env:"AZURE_TENANT_ID" placeholder:"UUID" help:"Directory (tenant) of the application."`
	ApplicationKeyFile string `group:"Azure" name:"application-key-file" placeholder:"FILE" help:"File with a secret of the application. Default: the environment variable AZURE_CLIENT_SECRET."`

	ServiceAccountKeyFile string `group:"Google Cloud" name:"service-account-key-file" env:"GOOGLE_APPLICATION_CREDENTIALS" placeholder:"FILE" help:"JSON file with a key of a service account that may read the project."`
}

// Help describes how the identity that Vigil uses comes into being.
func (c *accountsLinkCmd) Help() string {
	return `The form of the id says which cloud it is. Vigil reads the account with an identity that its owner creates: a role (AWS), an application (Azure)
or a service account (Google Cloud). Without the flags of the cloud, the command prints how to create one with a script, which also links the account.
Secrets are read from files and the environment only, so that they do not appear in the list of processes.`
}

// Run implements the command.
func (c *accountsLinkCmd) Run(e *environment) error {
	provider, ok := posture.ProviderOfAccount(c.Account)
	if !ok {
		return fault.New(fault.Invalid, "%q is neither an AWS account (12 digits), an Azure subscription (a UUID) nor a Google Cloud project (6 to 30 of a-z, 0-9 and hyphen)", c.Account)
	}
	properties, err := c.credential(e, provider)
	if err != nil {
		return err
	}
	if properties == nil {
		return c.explain(e, provider)
	}
	base := "/v1/providers/" + string(provider) + "/"
	if err := c.addAccount(e, provider, base+"cloud-accounts"); err != nil {
		return err
	}
	credential, err := c.call(e, http.MethodPost, base+"cloud-credentials", client.Record{"properties": properties})
	if err != nil {
		return fmt.Errorf("the account is added, but not linked: %w", err)
	}
	if _, err := c.call(e, http.MethodPost, base+"account-credential-relationship", client.Record{
		"cloudAccountId": c.Account, "credentialId": client.Text(credential, "credentialId"),
	}); err != nil {
		return fmt.Errorf("the account is added, but not linked: %w", err)
	}
	fmt.Fprintf(e.stdout, "account %s is linked; Vigil checks the access and collects the account\n", c.Account)
	if !c.Watch {
		return nil
	}
	return c.wait(e)
}

// addAccount adds the account, unless an earlier run added it but could not link it.
func (c *accountsLinkCmd) addAccount(e *environment, provider posture.Provider, path string) error {
	_, err := c.call(e, http.MethodPost, path, client.Record{
		"cloudAccountName": cmp.Or(c.Name, c.Account), "properties": []client.Record{textProperty(posture.AccountIDProperty(provider), c.Account)},
	})
	if !fault.Is(err, fault.Conflict) {
		return err
	}
	existing, lookupErr := c.call(e, http.MethodGet, path+"/"+url.PathEscape(c.Account), nil)
	if fault.Is(lookupErr, fault.NotFound) {
		return err // the conflict has another cause, such as too many accounts
	} else if lookupErr != nil {
		return lookupErr
	}
	all, lookupErr := c.call(e, http.MethodPost, "/v1/cloud-accounts/query", client.Record{"filters": client.Record{"providers": []posture.Provider{provider}}, "getCredentials": true})
	if lookupErr != nil {
		return lookupErr
	}
	for _, link := range client.Records(all, "relationships") {
		if client.Text(link, "cloudAccountId") == client.Text(existing, "cloudAccountId") {
			return fault.New(fault.Conflict, "account %s is linked already, and its status is %s; vigil collect %[1]s collects it. To change its identity, run the script that vigil accounts link %[1]s prints",
				c.Account, client.Text(existing, "accountStatus.value"))
		}
	}
	fmt.Fprintf(e.stdout, "account %s exists already, but is not linked\n", c.Account)
	return nil
}

func textProperty(name, value string) client.Record {
	return client.Record{"name": name, "type": posture.StringProperty, "stringV": value}
}

// credential returns the properties of the credential that the flags describe, or nil
// if no flag of the cloud is given.
func (c *accountsLinkCmd) credential(e *environment, p posture.Provider) ([]client.Record, error) {
	switch p {
	case posture.Azure:
		return c.azureCredential()
	case posture.GCP:
		return c.gcpCredential()
	}
	if c.RoleARN == "" {
		return nil, nil
	}
	if c.ExternalID == "" {
		issued, err := c.call(e, http.MethodGet, "/v1/cloud-credentials/aws-external-id", nil)
		if err != nil {
			return nil, err
		}
		c.ExternalID = client.Text(issued, "externalId")
	}
	return []client.Record{textProperty(posture.PropRoleArn, c.RoleARN), textProperty(posture.PropExternalID, c.ExternalID)}, nil
}

func (c *accountsLinkCmd) azureCredential() ([]client.Record, error) {
	key := os.Getenv("AZURE_CLIENT_SECRET")
	if c.ApplicationKeyFile != "" {
		text, err := os.ReadFile(c.ApplicationKeyFile)
		if err != nil {
			return nil, err
		}
		key = strings.TrimSpace(string(text))
	}
	if c.ApplicationID == "" && c.DirectoryID == "" && key == "" {
		return nil, nil
	}
	if c.ApplicationID == "" || c.DirectoryID == "" || key == "" {
		return nil, fault.New(fault.Invalid, "an Azure subscription needs --application-id, --directory-id and --application-key-file, or AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET")
	}
	return []client.Record{
		textProperty(posture.PropApplicationID, c.ApplicationID), textProperty(posture.PropDirectoryID, c.DirectoryID), textProperty(posture.PropApplicationKey, key),
	}, nil
}

func (c *accountsLinkCmd) gcpCredential() ([]client.Record, error) {
	if c.ServiceAccountKeyFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.ServiceAccountKeyFile)
	if err != nil {
		return nil, err
	}
	var key struct {
		Email string `json:"client_email"`
	}
	if err := json.Unmarshal(text, &key); err != nil || key.Email == "" {
		return nil, fault.New(fault.Invalid, "%s is not the key of a service account: it has no client_email. Create one with gcloud iam service-accounts keys create", c.ServiceAccountKeyFile)
	}
	return []client.Record{textProperty(posture.PropServiceAccountEmail, key.Email), textProperty(posture.PropServiceAccountKey, string(text))}, nil
}

// explain prints the steps that create the identity and link the account.
func (c *accountsLinkCmd) explain(e *environment, p posture.Provider) error {
	s, err := c.client()
	if err != nil {
		return err
	}
	shell := map[posture.Provider]string{posture.AWS: "AWS CloudShell", posture.Azure: "Azure Cloud Shell", posture.GCP: "Google Cloud Shell"}[p]
	flags := map[posture.Provider]string{
		posture.AWS:   "--role-arn ARN",
		posture.Azure: "--application-id UUID --directory-id UUID --application-key-file FILE",
		posture.GCP:   "--service-account-key-file FILE",
	}[p]
	fmt.Fprintf(e.stdout, `Vigil needs an identity that may read %[1]s. Run as its owner, for example in %[2]s:

  curl -fsS %[3]s/scripts/%[4]s/link.sh -o link.sh
  VIGIL_API_TOKEN=... bash link.sh --dry-run %[1]s
  VIGIL_API_TOKEN=... bash link.sh %[1]s

The script creates the identity with the least permissions and links the account. It needs an API token of an administrator.
If the identity exists already:

  vigil accounts link %[1]s %[5]s
`, c.Account, shell, s.URL(), p, flags)
	return &exitError{exitUsage, "the account is not linked"}
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
