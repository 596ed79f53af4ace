// Package aws reads AWS accounts.
//
// An account is read with sessions of a role that its owner made for us. Every
// type has a collector in a file named after its service: a declaration, the
// calls that list it, and how one answer becomes an entity.
package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go/middleware"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// Options say how accounts are reached.
type Options struct {
	// HTTP makes the calls; see package egress.
	HTTP *http.Client
	// Identity is who we are when we ask for a customer's role.
	Identity Identity
	// Limiter keeps calls under what the accounts allow. No limit when nil.
	Limiter collect.Limiter
	// SessionName is what customers see of us in their logs. "vigil" when empty.
	SessionName string
	// SessionLength is how long a session lasts before it is renewed. An hour
	// when zero, which every role allows.
	SessionLength time.Duration
	// Attempts is how often a call is tried at most. 5 when zero.
	Attempts int
	// Backoff is the longest pause before a call is tried again; it doubles with
	// every attempt. Half a second when zero.
	Backoff time.Duration
	// Timeout is how long one attempt may take. A minute when zero.
	Timeout time.Duration
	// LookupHost finds the addresses of a host. The machine's resolver when nil.
	LookupHost func(ctx context.Context, host string) ([]string, error)
}

// Source reads AWS accounts. It implements [collect.Source].
type Source struct {
	options Options
	base    aws.Config // our own identity, no region
	self    ownName
}

// New returns a source.
func New(o Options) *Source {
	if o.SessionName == "" {
		o.SessionName = "vigil"
	}
	if o.SessionLength == 0 {
		o.SessionLength = time.Hour
	}
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.LookupHost == nil {
		o.LookupHost = net.DefaultResolver.LookupHost
	}
	if o.Backoff == 0 {
		o.Backoff = 500 * time.Millisecond
	}
	return &Source{options: o, base: aws.Config{
		HTTPClient:  o.HTTP,
		Credentials: aws.NewCredentialsCache(&o.Identity),
		Retryer:     func() aws.Retryer { return newRetryer(o, nil) },
		APIOptions:  []func(*middleware.Stack) error{timed(o.Timeout), limited(o.Limiter, "")},
	}}
}

var _ collect.Source = (*Source)(nil)

// Provider implements [collect.Source].
func (*Source) Provider() posture.Provider { return posture.AWS }

// Declarations implements [collect.Source].
func (*Source) Declarations() []collect.Declaration { return collect.Declarations(collectors) }

// Open implements [collect.Source]. It asks for a session, and nothing more: a
// role that may read nothing fails in each collector, which then names what it
// misses.
func (src *Source) Open(ctx context.Context, a posture.Access) (collect.Session, error) {
	return src.open(ctx, a)
}

func (src *Source) open(ctx context.Context, a posture.Access) (*session, error) {
	role, err := arn.Parse(a.Credential.Property(posture.PropRoleArn))
	if err != nil {
		return nil, fmt.Errorf("read the role's name: %w: %w", collect.ErrIdentity, err)
	}
	if role.AccountID != string(a.Account.ID) {
		return nil, fmt.Errorf("%w: the role is of account %s, not of %s", collect.ErrIdentity, role.AccountID, a.Account.ID)
	}
	s := src.newSession(a, role)
	if _, err := s.credentials.Retrieve(ctx); err != nil {
		return nil, classify(err)
	}
	return s, nil
}

// Validate says how far the credential of an account opens it; see
// [posture.Cloud].
func (src *Source) Validate(ctx context.Context, a posture.Access) (posture.AccountStatus, string, error) {
	s, err := src.open(ctx, a)
	switch {
	case errors.Is(err, collect.ErrIdentity):
		return posture.AccountValidationFailed, sentence(err), nil
	case err != nil:
		return "", "", err
	}
	defer s.Close()
	_, _, err = s.regions(ctx)
	switch {
	case errors.Is(err, collect.ErrDenied):
		return posture.AccountDenyAccess, "The role may be assumed, but it may not read: " + strings.TrimSuffix(err.Error(), ".") + ".", nil
	case errors.Is(err, collect.ErrIdentity):
		return posture.AccountValidationFailed, sentence(err), nil
	case err != nil:
		return "", "", err
	}
	return posture.AccountActive, "", nil
}

// regions returns the regions that are enabled in the account, and those that are
// not.
func (s *session) regions(ctx context.Context) (enabled, closed []string, err error) {
	out, err := ec2.NewFromConfig(s.scope(posture.Global).config).DescribeRegions(ctx, &ec2.DescribeRegionsInput{AllRegions: aws.Bool(true)})
	if err != nil {
		return nil, nil, plain(err)
	}
	for _, r := range out.Regions {
		if aws.ToString(r.OptInStatus) == "not-opted-in" {
			closed = append(closed, aws.ToString(r.RegionName))
		} else {
			enabled = append(enabled, aws.ToString(r.RegionName))
		}
	}
	return enabled, closed, nil
}

// sentence makes an error fit to be read by the person who made the role.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
