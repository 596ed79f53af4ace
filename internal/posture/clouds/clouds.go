// Package clouds puts the three clouds together: how they are reached, what can
// be read of them, and whether a credential opens an account.
package clouds

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/posture/resource"
)

// Options say how the clouds are reached.
type Options struct {
	AWS     aws.Identity    // who we are to AWS; the identity of this machine when zero
	Gateway *egress.Gateway // stands in for all clouds in development; nil in production
	Limiter collect.Limiter
	Metrics prometheus.Registerer // tells how the clouds answer; may be nil
	Catalog *resource.Catalog     // the types that are read; those that come with Vigil when nil
}

// Clouds implements [posture.Cloud].
type Clouds struct {
	aws       *aws.Source
	azure     *azure.Source
	gcp       *gcp.Source
	transport *egress.Transport
}

var _ posture.Cloud = (*Clouds)(nil)

// New returns the clouds. It calls none of them.
func New(o Options) (*Clouds, error) {
	var observe func(egress.Call)
	if o.Metrics != nil {
		m, err := newMetrics(o.Metrics)
		if err != nil {
			return nil, err
		}
		observe, o.Limiter = m.observe, measured{o.Limiter, m}
	}
	transport, err := egress.New(egress.Options{Gateway: o.Gateway, Observe: observe})
	if err != nil {
		return nil, err
	}
	client := transport.Client()
	return &Clouds{
		aws:       aws.New(aws.Options{Catalog: o.Catalog, HTTP: client, Identity: o.AWS, Limiter: o.Limiter}),
		azure:     azure.New(azure.Options{Catalog: o.Catalog, HTTP: client, Limiter: o.Limiter}),
		gcp:       gcp.New(gcp.Options{HTTP: client, Limiter: o.Limiter}),
		transport: transport,
	}, nil
}

// Client returns a client that reaches the clouds and nothing else, and follows
// no redirects.
func (c *Clouds) Client() *http.Client { return c.transport.Client() }

// Close closes the connections that nobody uses.
func (c *Clouds) Close() { c.transport.Close() }

// Sources lists the clouds.
func (c *Clouds) Sources() []collect.Source { return []collect.Source{c.aws, c.azure, c.gcp} }

// Validate implements [posture.Cloud].
func (c *Clouds) Validate(ctx context.Context, a posture.Access) (posture.AccountStatus, string, error) {
	switch a.Account.Provider {
	case posture.AWS:
		return c.aws.Validate(ctx, a)
	case posture.Azure:
		return c.azure.Validate(ctx, a)
	case posture.GCP:
		return c.gcp.Validate(ctx, a)
	}
	return "", "", fmt.Errorf("there is no cloud %q", a.Account.Provider)
}

// Discover implements [posture.Cloud].
func (c *Clouds) Discover(ctx context.Context, key posture.ServiceAccountKey) ([]posture.Project, error) {
	return c.gcp.Discover(ctx, key)
}

// Members implements [posture.Cloud].
func (c *Clouds) Members(ctx context.Context, a posture.Access) ([]posture.Member, error) {
	return c.aws.Members(ctx, a)
}

// Subscriptions implements [posture.Cloud].
func (c *Clouds) Subscriptions(ctx context.Context, a posture.Access, group string) ([]posture.Subscription, error) {
	return c.azure.Subscriptions(ctx, a, group)
}

// Principal implements [posture.Cloud].
func (c *Clouds) Principal(ctx context.Context) (string, error) { return c.aws.Principal(ctx) }
