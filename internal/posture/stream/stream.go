// Package stream receives the change events of cloud accounts and reads the
// resources that the events name.
//
// The packages aws, azure and gcp verify and parse the messages of their cloud. The
// [Receiver] stores the targets of a message and enqueues a job before it
// acknowledges the message. The job runs [Reader.Work], which reads single resources
// in the same way as a full collection: with the same collectors, limits, store and
// rules.
package stream

import (
	"context"
	"net/http"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/stream/aws"
	"vigil/internal/posture/stream/azure"
	"vigil/internal/posture/stream/change"
	"vigil/internal/posture/stream/gcp"
	"vigil/internal/posture/stream/refusal"
	"vigil/internal/telemetry/tracing"
)

// Options are the dependencies of a [Receiver].
type Options struct {
	Store   posture.StreamStore
	Sources []collect.Source
	// Client is restricted to the addresses of the clouds; see package egress.
	Client *http.Client
	// URL returns the server's public address, without a path.
	URL func() string
	// Wake is called with accounts that have new pending reads; may be nil.
	Wake    func(posture.AccountRef)
	Metrics *Metrics
	Now     func() time.Time
}

// Receiver verifies and stores messages. It is safe for concurrent use.
type Receiver struct {
	commits *groupCommitter
	store   posture.StreamStore
	aws     *aws.Verifier
	azure   *azure.Verifier
	gcp     *gcp.Verifier
	url     func() string
	wake    func(posture.AccountRef)
	metrics *Metrics
	now     func() time.Time
}

// NewReceiver returns a receiver.
func NewReceiver(o Options) *Receiver {
	index := map[posture.Provider]*change.Index{}
	for _, p := range posture.Providers {
		index[p] = change.NewIndex(declarations(o.Sources, p))
	}
	r := &Receiver{commits: &groupCommitter{store: o.Store}, store: o.Store, url: o.URL, wake: o.Wake, metrics: o.Metrics, now: o.Now}
	if r.wake == nil {
		r.wake = func(posture.AccountRef) {}
	}
	r.aws = aws.NewVerifier(o.Store, index[posture.AWS], o.Client, o.Now)
	r.azure = azure.NewVerifier(o.Store, index[posture.Azure], o.Now)
	r.gcp = gcp.NewVerifier(o.Store, index[posture.GCP], o.Client, r.audience, o.Now)
	return r
}

// declarations returns the declarations of one cloud.
func declarations(sources []collect.Source, p posture.Provider) []collect.Declaration {
	var all []collect.Declaration
	for _, s := range sources {
		if s.Provider() == p {
			all = append(all, s.Declarations()...)
		}
	}
	return all
}

// audience returns the audience that Google's identity tokens must have.
func (r *Receiver) audience() string { return r.url() + "/events/gcp" }

// AWS receives a message of SNS or EventBridge.
func (r *Receiver) AWS(ctx context.Context, h http.Header, body []byte) error {
	o, err := r.aws.Verify(ctx, h, body)
	if err == nil {
		err = r.aws.Confirm(ctx, o)
	}
	return r.accept(ctx, posture.AWS, o.Delivery, err)
}

// Azure receives a message of an activity log alert or of Event Grid. A code that it
// returns must be sent back to Event Grid, which validates the endpoint with it.
func (r *Receiver) Azure(ctx context.Context, secret posture.StreamSecret, h http.Header, body []byte) (code string, err error) {
	o, err := r.azure.Verify(ctx, secret, h, body)
	for range o.Stale {
		r.metrics.countRefused(posture.Azure, refusal.Stale)
	}
	return o.Validation, r.accept(ctx, posture.Azure, o.Delivery, err)
}

// AuthenticateAzure fails unless a stream of Azure has this secret. Event Grid sends
// such a request before it sends CloudEvents.
func (r *Receiver) AuthenticateAzure(ctx context.Context, secret posture.StreamSecret) error {
	_, err := r.azure.Authenticate(ctx, secret)
	return r.countRefusal(posture.Azure, err)
}

// GCP receives a message of Pub/Sub.
func (r *Receiver) GCP(ctx context.Context, h http.Header, body []byte) error {
	d, err := r.gcp.Verify(ctx, h, body)
	return r.accept(ctx, posture.GCP, d, err)
}

// accept stores a delivery, unless verifying it has failed.
func (r *Receiver) accept(ctx context.Context, p posture.Provider, d posture.Delivery, err error) error {
	if err != nil {
		return r.countRefusal(p, err)
	}
	verified := r.now()
	for _, m := range d.Messages {
		r.metrics.stage("receive", verified.Sub(m.Time), 1)
	}
	d.Trace = tracing.Parent(ctx)
	got, err := r.commits.accept(ctx, d)
	switch {
	case err != nil:
		return err
	case got.Gone:
		return r.countRefusal(p, refusal.New(refusal.Unknown, "the stream was removed"))
	}
	r.metrics.stage("store", r.now().Sub(verified), len(d.Messages))
	if got.Fresh > 0 {
		r.wake(posture.AccountRef{Org: d.Stream.Org, Account: d.Stream.Account})
	}
	r.metrics.countAccepted(p, got)
	return nil
}

// countRefusal counts a refusal and returns it.
func (r *Receiver) countRefusal(p posture.Provider, err error) error {
	if reason := refusal.ReasonOf(err); reason != "" {
		r.metrics.countRefused(p, reason)
	}
	return err
}
