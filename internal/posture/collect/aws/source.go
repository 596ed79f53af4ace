// Package aws reads AWS accounts: it is the transport of the declared resource
// types of AWS.
//
// An account is read with sessions of a role that its owner made for us. What is
// read is declared in resources/aws; how any operation is called by its name is
// in package awsapi.
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
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
)

// Options say how accounts are reached.
type Options struct {
	// Catalog declares the types that are read. Those that come with Vigil when
	// nil.
	Catalog *resource.Catalog
	// HTTP makes the calls; see package egress.
	HTTP *http.Client
	// Identity is who we are when we ask for a customer's role.
	Identity Identity
	// OwnAccount lets an account without a role be read with our own identity, if
	// the identity belongs to it. For scans that somebody starts with their own
	// credentials; a server never sets it.
	OwnAccount bool
	// Endpoint, when not empty, is the one address of all services in all
	// regions, for stand-ins of AWS such as moto.
	Endpoint string
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

// A Source opens AWS accounts.
type Source struct {
	options Options
	own     *aws.CredentialsCache // our own identity
	self    ownName
	trusted trustedRoles
}

// New returns a source. It calls nothing.
func New(o Options) *Source {
	if o.Catalog == nil {
		o.Catalog = declared.Catalog()
	}
	if o.SessionName == "" {
		o.SessionName = "vigil"
	}
	if o.SessionLength == 0 {
		o.SessionLength = time.Hour
	}
	if o.LookupHost == nil {
		o.LookupHost = net.DefaultResolver.LookupHost
	}
	return &Source{options: o, own: aws.NewCredentialsCache(&o.Identity)}
}

var _ collect.Source = (*Source)(nil)

// client returns a client that signs with the given credentials, for calls that
// count against the limits of an account.
func (src *Source) client(credentials aws.CredentialsProvider, account posture.AccountID) (*awsapi.Client, error) {
	o := awsapi.Options{
		HTTP: src.options.HTTP, Credentials: credentials, Attempts: src.options.Attempts, Backoff: src.options.Backoff,
		Timeout: src.options.Timeout, Endpoint: src.options.Endpoint,
	}
	if limiter := src.options.Limiter; limiter != nil {
		o.Before = func(ctx context.Context, a awsapi.Attempt) error { return limiter.Wait(ctx, limitKey(account, a)) }
		o.After = func(a awsapi.Attempt, err error) {
			if refused, ok := errors.AsType[*awsapi.Error](err); ok && refused.Throttled() {
				limiter.Throttled(limitKey(account, a), refused.RetryAfter)
			}
		}
	}
	return awsapi.New(o)
}

func limitKey(account posture.AccountID, a awsapi.Attempt) collect.Key {
	return collect.Key{Provider: posture.AWS, Account: account, Region: a.Region, Service: permissionPrefix(a.Service)}
}

// Provider implements [collect.Source].
func (*Source) Provider() posture.Provider { return posture.AWS }

// Declarations implements [collect.Source].
func (src *Source) Declarations() []collect.Declaration {
	return Declarations(src.options.Catalog)
}

// Declarations returns what is known of the types of AWS without asking it.
func Declarations(c *resource.Catalog) (all []collect.Declaration) {
	for _, t := range c.Of(posture.AWS) {
		all = append(all, collect.DeclarationOf(c, t, Grammar{}))
	}
	return all
}

// Open implements [collect.Source]. It asks for a session, and nothing more: a
// role that may read nothing fails in each unit, which then names what it misses.
func (src *Source) Open(ctx context.Context, a posture.Access) (collect.Session, error) {
	return src.open(ctx, a)
}

func (src *Source) open(ctx context.Context, a posture.Access) (*session, error) {
	if src.options.OwnAccount && a.Credential.Property(posture.PropRoleArn) == "" {
		return src.openOwn(ctx, a)
	}
	role, err := arn.Parse(a.Credential.Property(posture.PropRoleArn))
	if err != nil {
		return nil, fmt.Errorf("read the role's name: %w: %w", collect.ErrIdentity, err)
	}
	if role.AccountID != string(a.Account.ID) {
		return nil, fmt.Errorf("%w: the role is of account %s, not of %s", collect.ErrIdentity, role.AccountID, a.Account.ID)
	}
	s, err := src.newSession(a, role)
	if err != nil {
		return nil, err
	}
	if _, err := s.credentials.Retrieve(ctx); err != nil {
		return nil, classify(err, "sts:AssumeRole")
	}
	if src.options.OwnAccount {
		return s, nil // the caller acts for itself, and no other organisation shares its identity
	}
	if err := src.checkTrust(ctx, s.partition, role, a.Credential.Property(posture.PropExternalID)); err != nil {
		return nil, classify(err, "sts:AssumeRole")
	}
	return s, nil
}

// Validate says how far the credential of an account opens it; see
// [posture.Cloud].
func (src *Source) Validate(ctx context.Context, a posture.Access) (posture.AccountStatus, string, error) {
	src.trusted.forget(trustKey{a.Credential.Property(posture.PropRoleArn), a.Credential.Property(posture.PropExternalID)})
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
func (s *session) regions(ctx context.Context) (enabled, disabled []string, err error) {
	describe := &resource.Request{Call: "ec2.DescribeRegions"}
	err = s.in(posture.Global).Pages(ctx, describe, describe.Call, []byte(`{"AllRegions":true}`), func(answer gjson.Result) error {
		for _, r := range answer.Get("Regions").Array() {
			name := r.Get("RegionName").String()
			if r.Get("OptInStatus").String() == "not-opted-in" {
				disabled = append(disabled, name)
			} else {
				enabled = append(enabled, name)
			}
		}
		return nil
	})
	return enabled, disabled, err
}

// sentence makes an error fit to be read by the person who made the role.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
