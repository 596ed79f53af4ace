// Package aws reads AWS accounts. It makes the calls that the declarations of AWS
// resource types name.
//
// Vigil reads an account by assuming a role that the account's owner created for it.
// The types are declared in resources/aws. Package awsapi calls operations by name.
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

// Options configure access to AWS accounts.
type Options struct {
	// Catalog declares the types to read; nil for the types that come with Vigil.
	Catalog *resource.Catalog
	// HTTP makes the calls; see package egress.
	HTTP *http.Client
	// Identity is the identity of Vigil that assumes customers' roles.
	Identity Identity
	// OwnAccount allows reading the account that the identity of Vigil itself belongs to
	// without assuming a role, and assuming roles that require no external id. It is for
	// scans that users start with their own credentials; a server never sets it.
	OwnAccount bool
	// Endpoint, when not empty, is the address of all services in all regions, for
	// emulators of AWS such as moto.
	Endpoint string
	// Limiter keeps calls below the rate limits of the accounts. No limit when nil.
	Limiter collect.Limiter
	// SessionName is the name that customers see in their logs. "vigil" when empty.
	SessionName string
	// SessionLength is the lifetime of a session. An hour when zero, which every role
	// allows.
	SessionLength time.Duration
	// Attempts is the maximum number of attempts per call. 5 when zero.
	Attempts int
	// Backoff is the maximum pause before the first retry; it doubles with every
	// retry. Half a second when zero.
	Backoff time.Duration
	// Timeout is the time limit of one attempt. A minute when zero.
	Timeout time.Duration
	// LookupHost resolves a host name. The machine's resolver when nil.
	LookupHost func(ctx context.Context, host string) ([]string, error)
}

// A Source opens AWS accounts.
type Source struct {
	options     Options
	credentials *aws.CredentialsCache // of Vigil itself
	self        ownName
	trusted     trustedRoles
	hub         hubRoles
	earlier     *collect.EarlierStore
	types       []typeOfService // in the order in which they are read
}

// A typeOfService is a type and the service whose rate limit applies to its calls.
type typeOfService struct {
	*resource.Type
	service string
}

// earlierBytes limits the responses that all accounts keep for their next runs.
const earlierBytes = 32 << 20

// New returns a source. It makes no calls.
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
	src := &Source{options: o, credentials: aws.NewCredentialsCache(&o.Identity), earlier: collect.NewEarlierStore(earlierBytes, time.Now)}
	for _, t := range collect.InOrderOfCalls(o.Catalog, posture.AWS) {
		src.types = append(src.types, typeOfService{t, collect.ServiceOf(o.Catalog, t, conventions{})})
	}
	return src
}

var _ collect.Source = (*Source)(nil)

// client returns a client that signs with the given credentials and counts its calls
// against the rate limits of an account.
func (src *Source) client(credentials aws.CredentialsProvider, account posture.AccountID) (*awsapi.Client, error) {
	o := awsapi.Options{
		HTTP: src.options.HTTP, Credentials: credentials, Attempts: src.options.Attempts, Backoff: src.options.Backoff,
		Timeout: src.options.Timeout, Endpoint: src.options.Endpoint,
	}
	if limiter := src.options.Limiter; limiter != nil {
		o.Before = func(ctx context.Context, a awsapi.Attempt) error { return limiter.Wait(ctx, src.limitKey(account, a)) }
		o.After = func(a awsapi.Attempt, err error) {
			if refused, ok := errors.AsType[*awsapi.Error](err); ok && refused.Throttled() {
				limiter.Throttled(src.limitKey(account, a), refused.RetryAfter)
			}
		}
	}
	return awsapi.New(o)
}

// ownClient returns a client that signs with the credentials of Vigil and counts its calls
// against the rate limits of no account.
func (src *Source) ownClient() (*awsapi.Client, error) { return src.client(src.credentials, "") }

// limitKey returns the rate limit that a call counts against: the call's own if the
// catalog declares one, or else that of the service.
func (src *Source) limitKey(account posture.AccountID, a awsapi.Attempt) collect.Key {
	k := collect.Key{Provider: posture.AWS, Account: account, Region: a.Region, Service: permissionPrefix(a.Service)}
	if call := a.Service + "." + a.Operation; src.options.Catalog.Rate(call) > 0 {
		k.Call, k.Rate = call, src.options.Catalog.Rate(call)
	}
	return k
}

// Provider implements [collect.Source].
func (*Source) Provider() posture.Provider { return posture.AWS }

// Declarations implements [collect.Source].
func (src *Source) Declarations() []collect.Declaration {
	return Declarations(src.options.Catalog)
}

// Declarations returns the declarations of the AWS types.
func Declarations(c *resource.Catalog) []collect.Declaration {
	return collect.Declarations(c, c.Of(posture.AWS), conventions{})
}

// Open implements [collect.Source]. It only requests a session: when the role may read
// nothing, each unit fails and names the missing permission.
func (src *Source) Open(ctx context.Context, a posture.Access) (collect.Session, error) {
	return src.open(ctx, a)
}

func (src *Source) open(ctx context.Context, a posture.Access) (*session, error) {
	if src.options.OwnAccount && a.Credential.Property(posture.PropRoleArn) == "" {
		return src.openOwn(ctx, a)
	}
	role, err := arn.Parse(a.Credential.Property(posture.PropRoleArn))
	if err != nil {
		return nil, fmt.Errorf("parse the role's ARN: %w: %w", collect.ErrIdentity, err)
	}
	if role.AccountID != string(a.Account.ID) {
		return nil, fmt.Errorf("%w: the role belongs to account %s, not to %s", collect.ErrIdentity, role.AccountID, a.Account.ID)
	}
	s, err := src.newSession(a, role)
	if err != nil {
		return nil, err
	}
	if _, err := s.credentials.Retrieve(ctx); err != nil {
		return nil, classify(err, "sts:AssumeRole")
	}
	if src.options.OwnAccount {
		return s, nil // no external id is needed: only the user has this identity
	}
	if err := src.checkTrust(ctx, s.partition, role, a.Credential.Property(posture.PropExternalID)); err != nil {
		return nil, classify(err, "sts:AssumeRole")
	}
	return s, nil
}

// Validate checks how much of an account its credential can read; see
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

// regions returns the regions that are enabled in the account and those that are not.
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

// sentence formats an error for the person who created the role.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
