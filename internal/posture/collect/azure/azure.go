// Package azure reads Azure subscriptions.
//
// It reads a subscription from Resource Manager and Microsoft Graph with the secret of an
// application. The types are declared in resources/azure; this package signs in, makes the
// calls and classifies errors.
package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
)

// Options configure access to subscriptions.
type Options struct {
	// HTTP makes the calls; see package egress.
	HTTP *http.Client
	// Limiter keeps calls below Azure's rate limits. No limit when nil.
	Limiter collect.Limiter
	// Attempts is the maximum number of attempts per call. 5 when zero.
	Attempts int
	// RetryDelay is the pause before the first retry. 0.8 s when zero.
	RetryDelay time.Duration
	// Timeout is the time limit of one attempt. A minute when zero.
	Timeout time.Duration
	// Now is the clock. time.Now when nil.
	Now func() time.Time
	// Credential, when not nil, signs in to every subscription in place of the secret of
	// an application. It is for scans that users start with their own credentials; a
	// server never sets it.
	Credential azcore.TokenCredential
	// Catalog holds the resource types. The types that come with Vigil when nil.
	Catalog *resource.Catalog
}

// Source reads Azure subscriptions. It implements [collect.Source].
type Source struct {
	options Options
}

// New returns a source.
func New(o Options) *Source {
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.RetryDelay == 0 {
		o.RetryDelay = 800 * time.Millisecond
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Catalog == nil {
		o.Catalog = declared.Catalog()
	}
	return &Source{options: o}
}

var _ collect.Source = (*Source)(nil)

// Provider implements [collect.Source].
func (*Source) Provider() posture.Provider { return posture.Azure }

// Declarations implements [collect.Source].
func (src *Source) Declarations() []collect.Declaration { return declarations(src.options.Catalog) }

// API versions of the calls that the source makes itself.
const (
	subscriptionVersion  = "2022-12-01"
	resourceGroupVersion = "2021-04-01"
)

// Open implements [collect.Source]. It requests a token and reads the subscription. Any role on
// the subscription allows that.
func (src *Source) Open(ctx context.Context, a posture.Access) (collect.Session, error) {
	s, err := src.open(ctx, a)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (src *Source) open(ctx context.Context, a posture.Access) (*session, error) {
	s, err := src.newSession(a)
	if err != nil {
		return nil, err
	}
	subscription, err := s.get(ctx, s.arm("/subscriptions/"+string(s.account), subscriptionVersion), "Microsoft.Resources/subscriptions/read")
	if errors.Is(err, collect.ErrGone) { // Resource Manager hides resources on which the principal has no role
		err = &collect.DeniedError{Permission: "Microsoft.Resources/subscriptions/read", Err: err}
	}
	if err != nil {
		return nil, err
	}
	if s.tenant == "" { // with Options.Credential there is no DirectoryId
		s.tenant = strings.ToLower(subscription.Get("tenantId").String())
	}
	return s, nil
}

// Validate checks how much of a subscription its credential can read; see
// [posture.Cloud].
func (src *Source) Validate(ctx context.Context, a posture.Access) (posture.AccountStatus, string, error) {
	s, err := src.open(ctx, a)
	if err == nil {
		defer s.Close()
		_, err = s.get(ctx, s.arm("/subscriptions/"+string(s.account)+"/resourcegroups", resourceGroupVersion)+"&$top=1", "Microsoft.Resources/subscriptions/resourceGroups/read")
	}
	switch {
	case err == nil:
		return posture.AccountActive, "", nil
	case errors.Is(err, collect.ErrIdentity):
		return posture.AccountValidationFailed, sentence(err), nil
	case errors.Is(err, collect.ErrDenied):
		return posture.AccountDenyAccess, fmt.Sprintf("The application signs in but may not read subscription %s: %v. Assign it the role Reader on the subscription.", a.Account.ID, err), nil
	}
	return "", "", err
}

// sentence formats an error for the person who created the credential.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}
