package scan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/auth/credentials"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/collect/gcp"
)

// A Target is an account that can be scanned.
type Target struct {
	Source collect.Source
	Access posture.Access
	As     string // identity of the credentials, as the cloud names it; "" if unknown
}

// AWS selects the AWS account to scan and the identity to use.
type AWS struct {
	Profile    string          // profile of the shared configuration; if empty, AWS_PROFILE or the default
	RoleARN    string          // role to assume, whose account is scanned; if empty, that of the credentials is scanned
	ExternalID string          // external id that the role requires; empty if it requires none
	Endpoint   string          // replaces all endpoints of AWS
	Gateway    *egress.Gateway // simulates all clouds; nil for the real ones
}

// Targets returns the account of the role or, without a role, the account that the
// credentials of the environment belong to.
func (a AWS) Targets(ctx context.Context) ([]Target, error) {
	client, err := httpClient(a.Gateway, a.Endpoint)
	if err != nil {
		return nil, err
	}
	o := aws.Options{HTTP: client, Identity: aws.Identity{Profile: a.Profile}, OwnAccount: true, Endpoint: a.Endpoint, SessionName: "vigil-scan"}
	if a.Endpoint == "" {
		o.Limiter = collect.NewLimits(time.Now)
	} else { // an emulator has no rate limits, and retrying a call that it does not support does not help
		o.Attempts, o.Backoff = 2, 100*time.Millisecond
	}
	src := aws.New(o)
	t := Target{Source: src, Access: posture.Access{Account: posture.Account{Provider: posture.AWS}}}
	if a.RoleARN != "" {
		role, err := arn.Parse(a.RoleARN)
		if err != nil {
			return nil, fault.Field("role-arn", "must be a role resource name such as arn:aws:iam::123456789012:role/vigil")
		}
		t.As, t.Access.Account.ID = a.RoleARN, posture.AccountID(role.AccountID)
		t.Access.Credential.Properties = []posture.Property{posture.Text(posture.PropRoleArn, a.RoleARN)}
		if a.ExternalID != "" {
			t.Access.Credential.Properties = append(t.Access.Credential.Properties, posture.Text(posture.PropExternalID, a.ExternalID))
		}
	} else {
		caller, err := src.Caller(ctx)
		if err != nil {
			return nil, err
		}
		t.As, t.Access.Account.ID = caller.ARN, caller.Account
	}
	return []Target{t}, nil
}

// Azure selects the subscriptions to scan.
type Azure struct {
	Subscriptions []string // if empty, all that the identity can list
	Gateway       *egress.Gateway
}

// Targets returns the subscriptions that the credentials of the environment give access
// to.
func (a Azure) Targets(ctx context.Context) ([]Target, error) {
	client, err := httpClient(a.Gateway, "")
	if err != nil {
		return nil, err
	}
	options := &azidentity.DefaultAzureCredentialOptions{}
	if a.Gateway != nil {
		options.ClientOptions = azcore.ClientOptions{Transport: client}
	}
	credential, err := azidentity.NewDefaultAzureCredential(options)
	if err != nil {
		return nil, fmt.Errorf("find credentials for Azure: %w", err)
	}
	src := azure.New(azure.Options{HTTP: client, Limiter: collect.NewLimits(time.Now), Credential: credential})
	const noGroup = "" // list all subscriptions, not those of a management group
	found, err := src.Subscriptions(ctx, posture.Access{Account: posture.Account{Provider: posture.Azure}}, noGroup)
	if errors.Is(err, collect.ErrIdentity) {
		return nil, noLogin(err, "Azure", "run az login, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET")
	}
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	var ids []string
	for _, s := range found {
		names[string(s.ID)] = s.Name
		if s.State == "" || s.State == "Enabled" || s.State == "Warned" {
			ids = append(ids, string(s.ID))
		}
	}
	if len(a.Subscriptions) > 0 {
		ids = a.Subscriptions
	}
	if len(ids) == 0 {
		return nil, fault.New(fault.Invalid, "the identity has no access to an Azure subscription; give it the role Reader on one")
	}
	var all []Target
	for _, id := range ids {
		id = strings.ToLower(id)
		all = append(all, Target{Source: src, Access: posture.Access{Account: posture.Account{ID: posture.AccountID(id), Name: names[id], Provider: posture.Azure}}})
	}
	return all, nil
}

// GCP selects the projects to scan.
type GCP struct {
	Projects []string // if empty, the project of the environment or of the credentials
	Gateway  *egress.Gateway
}

// Targets returns the projects that the application default credentials give access to.
func (g GCP) Targets(ctx context.Context) ([]Target, error) {
	client, err := httpClient(g.Gateway, "")
	if err != nil {
		return nil, err
	}
	options := &credentials.DetectOptions{Scopes: []string{"https://www.googleapis.com/auth/cloud-platform"}}
	if g.Gateway != nil {
		options.Client = client
	}
	creds, err := credentials.DetectDefault(options)
	if err != nil {
		return nil, noLogin(err, "Google Cloud", "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS")
	}
	projects := g.Projects
	if len(projects) == 0 {
		for _, name := range []string{"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"} {
			if id := os.Getenv(name); id != "" {
				projects = []string{id}
				break
			}
		}
	}
	if len(projects) == 0 {
		for _, projectOf := range []func(context.Context) (string, error){creds.ProjectID, creds.QuotaProjectID} {
			if id, err := projectOf(ctx); err == nil && id != "" {
				projects = []string{id}
				break
			}
		}
	}
	if len(projects) == 0 {
		return nil, fault.New(fault.Invalid, "no project to scan: set --project or GOOGLE_CLOUD_PROJECT")
	}
	src := gcp.New(gcp.Options{HTTP: client, Limiter: collect.NewLimits(time.Now), Tokens: creds})
	var all []Target
	for _, id := range projects {
		all = append(all, Target{Source: src, Access: posture.Access{Account: posture.Account{ID: posture.AccountID(id), Provider: posture.GCP}}})
	}
	return all, nil
}

// noLogin returns an error for missing credentials that says what to do.
func noLogin(err error, cloud, fix string) error {
	return fault.New(fault.Unauthenticated, "no credentials for %s were found in the environment: %s (%s)", cloud, fix, firstLine(err))
}

// firstLine returns the first line of an error. The error of a credential chain has a
// line for each source of credentials.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// httpClient returns a client for the endpoint or, if endpoint is empty, for the clouds. It
// reaches the clouds through the gateway, if there is one, or through the proxy that the
// environment sets, if any.
func httpClient(gateway *egress.Gateway, endpoint string) (*http.Client, error) {
	if endpoint != "" {
		if gateway != nil {
			return nil, fault.New(fault.Invalid, "an endpoint and a gateway cannot be used together")
		}
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = 64, 64
		return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
	}
	o := egress.Options{Gateway: gateway, PerHost: 64}
	if gateway == nil {
		var err error
		if o.Proxy, err = proxy(); err != nil {
			return nil, err
		}
	}
	transport, err := egress.New(o)
	if err != nil {
		return nil, err
	}
	return transport.Client(), nil
}

// proxy returns the proxy that the environment sets for the clouds, or nil. The host of
// AWS stands for all of them.
func proxy() (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: "sts.amazonaws.com"}})
	if err != nil {
		return nil, errors.Join(fault.New(fault.Invalid, "HTTPS_PROXY is not a valid URL"), err)
	}
	return proxy, nil
}
