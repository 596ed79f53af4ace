// Package gcp reads Google Cloud projects.
//
// It reads a project over REST with the key of a service account. The types are declared in
// resources/gcp; this package signs in, makes the calls and classifies errors.
package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/auth"
	"github.com/tidwall/gjson"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
)

// Options configure access to projects.
type Options struct {
	// HTTP makes the calls; see package egress.
	HTTP *http.Client
	// Limiter keeps calls below Google's rate limits. No limit when nil.
	Limiter collect.Limiter
	// Attempts is the maximum number of attempts per call. 5 when zero.
	Attempts int
	// RetryDelay is the pause before the first retry. Half a second when zero.
	RetryDelay time.Duration
	// Timeout is the time limit of one attempt. A minute when zero.
	Timeout time.Duration
	// Tokens, when not nil, sign in to every project in place of the key of a service
	// account. It is for scans that users start with their own credentials; a server
	// never sets it.
	Tokens auth.TokenProvider
	// Catalog holds the resource types. The types that come with Vigil when nil.
	Catalog *resource.Catalog
}

// Source reads Google Cloud projects. It implements [collect.Source].
type Source struct {
	options   Options
	transport http.RoundTripper
}

// New returns a source.
func New(o Options) *Source {
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.RetryDelay == 0 {
		o.RetryDelay = 500 * time.Millisecond
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Catalog == nil {
		o.Catalog = declared.Catalog()
	}
	src := &Source{options: o, transport: http.DefaultTransport}
	if o.HTTP != nil && o.HTTP.Transport != nil {
		src.transport = o.HTTP.Transport
	}
	return src
}

var _ collect.Source = (*Source)(nil)

// Provider implements [collect.Source].
func (*Source) Provider() posture.Provider { return posture.GCP }

// Declarations implements [collect.Source].
func (src *Source) Declarations() []collect.Declaration { return declarations(src.options.Catalog) }

// The address of the projects, and the permission that reading one needs.
const (
	projectsPath      = resourceManager + "/v1/projects"
	projectPermission = "resourcemanager.projects.get"
)

// Open implements [collect.Source]. It requests a token and reads the project, whose number many
// responses use in place of its id.
func (src *Source) Open(ctx context.Context, a posture.Access) (collect.Session, error) {
	s, err := src.open(ctx, a)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (src *Source) open(ctx context.Context, a posture.Access) (*session, error) {
	key, err := src.keyOf(a)
	if err != nil {
		return nil, err
	}
	s, err := src.newSession(a.Account.ID, key)
	if err != nil {
		return nil, err
	}
	if _, err := s.client.tokens.get(ctx); err != nil {
		return nil, err
	}
	project, err := s.call(ctx, http.MethodGet, projectsPath+"/"+string(s.account), nil, nil, projectPermission)
	if err != nil {
		return nil, s.accessErrorOf(err)
	}
	s.number = project.Get("projectNumber").String()
	return s, nil
}

// keyOf returns the key of a project. With Options.Tokens there is none, and calls are counted
// against the project being read.
func (src *Source) keyOf(a posture.Access) (posture.ServiceAccountKey, error) {
	if src.options.Tokens != nil {
		return posture.ServiceAccountKey{ProjectID: string(a.Account.ID)}, nil
	}
	key, problem := posture.ParseServiceAccountKey(a.Secrets[posture.PropServiceAccountKey])
	if problem != "" {
		return key, &identityError{"the ServiceAccountKey " + problem, nil}
	}
	if email := a.Credential.Property(posture.PropServiceAccountEmail); email != "" && !strings.EqualFold(email, key.ClientEmail) {
		return key, &identityError{fmt.Sprintf("the key belongs to %s, not to %s", key.ClientEmail, email), nil}
	}
	return key, nil
}

// accessErrorOf converts the error of reading the project to an access error: the project does not exist
// for this credential, or the API is not enabled in the project that calls are counted against.
func (s *session) accessErrorOf(err error) error {
	switch {
	case errors.Is(err, collect.ErrOff), isUndecidedOff(err):
		where := s.key.ProjectID
		if s.client.src.options.Tokens == nil {
			where += ", which the service account belongs to"
		}
		return &accessError{"the Cloud Resource Manager API is not enabled in project " + where, err}
	case errors.Is(err, collect.ErrGone):
		return &collect.DeniedError{Permission: projectPermission, Err: err}
	}
	return err
}

// probes are permissions of which every useful credential has at least one.
// Testing permissions needs no permission.
var probes = []string{
	"resourcemanager.projects.getIamPolicy", "compute.instances.list", "storage.buckets.list", "iam.serviceAccounts.list",
}

// Validate checks how much of a project its credential can read; see [posture.Cloud].
func (src *Source) Validate(ctx context.Context, a posture.Access) (posture.AccountStatus, string, error) {
	const advice = "Grant the service account the roles Viewer (roles/viewer) and Security Reviewer (roles/iam.securityReviewer) on the project."
	s, err := src.open(ctx, a)
	if err == nil {
		defer s.Close()
		err = s.probe(ctx)
	}
	switch {
	case err == nil:
		return posture.AccountActive, "", nil
	case errors.Is(err, collect.ErrIdentity):
		return posture.AccountValidationFailed, sentence(err), nil
	case errors.Is(err, collect.ErrDenied) && (errors.Is(err, collect.ErrOff) || isUndecidedOff(err)):
		return posture.AccountDenyAccess, fmt.Sprintf("The key is accepted, but it may not read project %s: %s Enable the API there.", a.Account.ID, lowerFirst(sentence(err))), nil
	case errors.Is(err, collect.ErrDenied):
		return posture.AccountDenyAccess, fmt.Sprintf("The key is accepted, but it may not read project %s: %s %s", a.Account.ID, lowerFirst(sentence(err)), advice), nil
	}
	return "", "", err
}

// probe fails with ErrDenied when the project is visible but nothing in it may be read.
func (s *session) probe(ctx context.Context) error {
	body, err := json.Marshal(map[string][]string{"permissions": probes})
	if err != nil {
		return err
	}
	granted, err := s.call(ctx, http.MethodPost, projectsPath+"/"+string(s.account)+":testIamPermissions", nil, body, "")
	if err != nil {
		return err
	}
	if len(granted.Get("permissions").Array()) == 0 {
		return &accessError{"the service account has none of the permissions " + strings.Join(probes, ", "), nil}
	}
	return nil
}

// Discover lists the projects that a service account key can access; see [posture.Cloud].
func (src *Source) Discover(ctx context.Context, key posture.ServiceAccountKey) ([]posture.Project, error) {
	projects, err := src.discover(ctx, key)
	switch {
	case err == nil:
		return projects, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, collect.ErrIdentity), errors.Is(err, collect.ErrDenied):
		return nil, fault.Wrap(fault.Invalid, err, "Google Cloud refuses the key: %s", err)
	}
	return nil, fault.Wrap(fault.Unavailable, err, "Google Cloud cannot list the projects now; try again later")
}

func (src *Source) discover(ctx context.Context, key posture.ServiceAccountKey) ([]posture.Project, error) {
	s, err := src.newSession(posture.AccountID(key.ProjectID), key)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	projects := []posture.Project{}
	list := &resource.Request{Call: projectsPath, Permission: projectPermission}
	err = s.Pages(ctx, list, list.Call, []byte(`{"pageSize":500}`), func(page gjson.Result) error {
		for _, p := range page.Get("projects").Array() {
			projects = append(projects, projectOf(p))
		}
		return nil
	})
	if err != nil {
		return nil, s.accessErrorOf(err)
	}
	return projects, nil
}

// projectOf parses the description of a project.
func projectOf(p gjson.Result) posture.Project {
	project := posture.Project{
		ID: p.Get("projectId").String(), Number: p.Get("projectNumber").String(), Name: p.Get("name").String(), State: p.Get("lifecycleState").String(),
	}
	if created, err := time.Parse(time.RFC3339Nano, p.Get("createTime").String()); err == nil {
		project.Created = created.UTC()
	}
	p.Get("labels").ForEach(func(name, value gjson.Result) bool {
		if project.Labels == nil {
			project.Labels = map[string]string{}
		}
		project.Labels[name.Str] = value.String()
		return true
	})
	return project
}

// sentence formats an error for the person who created the key.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }
