// Package clouds combines the three clouds: their HTTP transport, their collectors, and
// the validation of credentials.
//
// [New] returns [Clouds], which package app uses as its posture.Cloud and as its
// sources of collections ([Clouds.Sources]).
package clouds

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/posture/resource"
)

// Options configure the access to the clouds.
type Options struct {
	AWS     aws.Identity    // this server's AWS identity; that of the machine if zero
	Gateway *egress.Gateway // replaces all clouds in development; nil in production
	Proxy   *url.URL        // for all calls; none if nil
	CA      []byte          // PEM of further certificate authorities
	Limiter collect.Limiter
	Metrics prometheus.Registerer // for metrics of the calls; may be nil
	Catalog *resource.Catalog     // resource types to read; the built-in ones if nil
}

// Clouds implements [posture.Cloud].
type Clouds struct {
	aws       *aws.Source
	azure     *azure.Source
	gcp       *gcp.Source
	transport *egress.Transport
}

var _ posture.Cloud = (*Clouds)(nil)

// New returns the clouds. It makes no calls.
func New(o Options) (*Clouds, error) {
	var observe func(egress.Call)
	if o.Metrics != nil {
		m, err := newMetrics(o.Metrics)
		if err != nil {
			return nil, err
		}
		observe, o.Limiter = m.observe, measured{o.Limiter, m}
	}
	transport, err := egress.New(egress.Options{Proxy: o.Proxy, CA: o.CA, Gateway: o.Gateway, Observe: observe})
	if err != nil {
		return nil, err
	}
	client := transport.Client()
	return &Clouds{
		aws:       aws.New(aws.Options{Catalog: o.Catalog, HTTP: client, Identity: o.AWS, Limiter: o.Limiter}),
		azure:     azure.New(azure.Options{Catalog: o.Catalog, HTTP: client, Limiter: o.Limiter}),
		gcp:       gcp.New(gcp.Options{Catalog: o.Catalog, HTTP: client, Limiter: o.Limiter}),
		transport: transport,
	}, nil
}

// Client returns a client that can only reach the clouds and does not follow redirects.
func (c *Clouds) Client() *http.Client { return c.transport.Client() }

// Close closes idle connections.
func (c *Clouds) Close() { c.transport.Close() }

// Sources returns the source of each cloud.
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
