// Package gcp reads Google Cloud projects.
//
// A project is read with the key of a service account. Every type has a
// collector in a file named after its service: a declaration, the calls that
// list it, and how one answer becomes an entity. All services are called through
// one client, which signs in, keeps the pace and tries again.
package gcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"google.golang.org/api/cloudresourcemanager/v1"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// Options say how projects are reached.
type Options struct {
	// HTTP makes the calls; see package egress.
	HTTP *http.Client
	// Limiter keeps calls under what Google allows. No limit when nil.
	Limiter collect.Limiter
	// Attempts is how often a call is tried at most. 5 when zero.
	Attempts int
	// RetryDelay is how long to wait before the second attempt. Half a second
	// when zero.
	RetryDelay time.Duration
	// Timeout is how long one attempt may take. A minute when zero.
	Timeout time.Duration
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
func (*Source) Declarations() []collect.Declaration { return collect.Declarations(collectors) }

// Open implements [collect.Source]. It asks for a token and looks at the project,
// whose number many answers use in place of its id.
func (src *Source) Open(ctx context.Context, a posture.Access) (collect.Session, error) {
	s, err := src.open(ctx, a)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (src *Source) open(ctx context.Context, a posture.Access) (*session, error) {
	key, problem := posture.ParseServiceAccountKey(a.Secrets[posture.PropServiceAccountKey])
	if problem != "" {
		return nil, &identityError{"the ServiceAccountKey " + problem, nil}
	}
	if email := a.Credential.Property(posture.PropServiceAccountEmail); email != "" && !strings.EqualFold(email, key.ClientEmail) {
		return nil, &identityError{fmt.Sprintf("the key is of %s, not of %s", key.ClientEmail, email), nil}
	}
	s, err := src.newSession(a.Account.ID, key)
	if err != nil {
		return nil, err
	}
	if _, err := s.line.tokens.get(ctx); err != nil {
		return nil, err
	}
	project, err := s.resources.Projects.Get(s.project).Context(ctx).Do()
	if err != nil {
		return nil, s.refused(sorted(err, "resourcemanager.projects.get"))
	}
	s.about = project
	s.number = fmt.Sprint(project.ProjectNumber)
	return s, nil
}

// refused makes a project that cannot be looked at a matter of access: it does
// not exist for this key, or the API that tells is not enabled where the key is
// from.
func (s *session) refused(err error) error {
	const permission = "resourcemanager.projects.get"
	switch {
	case errors.Is(err, collect.ErrOff), isHomeOff(err):
		return &accessError{fmt.Sprintf("the Cloud Resource Manager API is not enabled in project %s, which the service account belongs to", s.key.ProjectID), err}
	case errors.Is(err, collect.ErrGone):
		return &collect.DeniedError{Permission: permission, Err: err}
	}
	return err
}

// probes are permissions of which any credential that is of use has one. Asking
// which of them it has takes no permission.
var probes = []string{
	"resourcemanager.projects.getIamPolicy", "compute.instances.list", "storage.buckets.list", "iam.serviceAccounts.list",
}

// Validate says how far the credential of a project opens it; see
// [posture.Cloud].
func (src *Source) Validate(ctx context.Context, a posture.Access) (posture.AccountStatus, string, error) {
	const mend = "Grant the service account the roles Viewer (roles/viewer) and Security Reviewer (roles/iam.securityReviewer) on the project."
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
	case errors.Is(err, collect.ErrDenied):
		return posture.AccountDenyAccess, fmt.Sprintf("The key is accepted, but it may not read project %s: %s %s", a.Account.ID, lower(sentence(err)), mend), nil
	}
	return "", "", err
}

// probe fails with ErrDenied when the project may be seen and nothing of it read.
func (s *session) probe(ctx context.Context) error {
	granted, err := s.resources.Projects.TestIamPermissions(s.project, &cloudresourcemanager.TestIamPermissionsRequest{Permissions: probes}).Context(ctx).Do()
	if err != nil {
		return sorted(err, "")
	}
	if len(granted.Permissions) == 0 {
		return &accessError{"the service account has none of the permissions " + strings.Join(probes, ", "), nil}
	}
	return nil
}

// Discover lists the projects that a service account key opens; see
// [posture.Cloud].
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
	return nil, fault.Wrap(fault.Unavailable, err, "Google Cloud cannot be asked for projects now")
}

func (src *Source) discover(ctx context.Context, key posture.ServiceAccountKey) ([]posture.Project, error) {
	s, err := src.newSession(posture.AccountID(key.ProjectID), key)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	projects := []posture.Project{}
	err = s.resources.Projects.List().PageSize(500).Pages(ctx, func(page *cloudresourcemanager.ListProjectsResponse) error {
		for _, p := range page.Projects {
			projects = append(projects, posture.Project{
				ID: p.ProjectId, Number: fmt.Sprint(p.ProjectNumber), Name: p.Name, State: p.LifecycleState, Labels: p.Labels, Created: parseTime(p.CreateTime),
			})
		}
		return nil
	})
	if err != nil {
		return nil, s.refused(sorted(err, "resourcemanager.projects.get"))
	}
	return projects, nil
}

// sentence makes an error fit to be read by the person who made the key.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

func lower(text string) string { return strings.ToLower(text[:1]) + text[1:] }
