// Package stream turns what clouds tell us of changes into resources that are
// read again.
//
// A message is opened by the package of its cloud below this one, which believes
// it or refuses it. What it names is on disk, together with the job that reads
// it, before the message is acknowledged. The reading takes the way of a full
// collection, with one resource: the same collectors, limits, store and rules.
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
)

// Options are what a receiver is made of.
type Options struct {
	Store   posture.StreamStore
	Sources []collect.Source
	// Client reaches the clouds and nothing else; see package egress.
	Client *http.Client
	// URL returns the address that messages are sent to, without a path.
	URL func() string
	// Nudge is told of accounts that were given work; may be nil.
	Nudge   func(posture.AccountRef)
	Metrics *Metrics
	Now     func() time.Time
}

// Receiver takes messages. It is safe for concurrent use.
type Receiver struct {
	inbox   *inbox
	store   posture.StreamStore
	aws     *aws.Gate
	azure   *azure.Gate
	gcp     *gcp.Gate
	url     func() string
	nudge   func(posture.AccountRef)
	metrics *Metrics
	now     func() time.Time
}

// NewReceiver returns a receiver.
func NewReceiver(o Options) *Receiver {
	index := map[posture.Provider]*change.Index{}
	for _, p := range posture.Providers {
		index[p] = change.NewIndex(declarations(o.Sources, p))
	}
	r := &Receiver{inbox: &inbox{store: o.Store}, store: o.Store, url: o.URL, nudge: o.Nudge, metrics: o.Metrics, now: o.Now}
	if r.nudge == nil {
		r.nudge = func(posture.AccountRef) {}
	}
	r.aws = aws.NewGate(o.Store, index[posture.AWS], o.Client, o.Now)
	r.azure = azure.NewGate(o.Store, index[posture.Azure], o.Now)
	r.gcp = gcp.NewGate(o.Store, index[posture.GCP], o.Client, r.audience, o.Now)
	return r
}

// declarations returns what is declared for one cloud.
func declarations(sources []collect.Source, p posture.Provider) []collect.Declaration {
	var all []collect.Declaration
	for _, s := range sources {
		if s.Provider() == p {
			all = append(all, s.Declarations()...)
		}
	}
	return all
}

// audience is what Google's tokens must be for.
func (r *Receiver) audience() string { return r.url() + "/events/gcp" }

// AWS takes a message of SNS or EventBridge.
func (r *Receiver) AWS(ctx context.Context, h http.Header, body []byte) error {
	o, err := r.aws.Open(ctx, h, body)
	if err == nil {
		err = r.aws.Confirm(ctx, o)
	}
	return r.take(ctx, posture.AWS, o.Delivery, err)
}

// Azure takes a message of an activity log alert or of Event Grid. When it
// returns a code, Event Grid wants to hear it.
func (r *Receiver) Azure(ctx context.Context, secret posture.StreamSecret, h http.Header, body []byte) (code string, err error) {
	o, err := r.azure.Open(ctx, secret, h, body)
	return o.Validation, r.take(ctx, posture.Azure, o.Delivery, err)
}

// KnowsAzure fails unless some stream of Azure has this secret. Event Grid asks
// before it sends CloudEvents.
func (r *Receiver) KnowsAzure(ctx context.Context, secret posture.StreamSecret) error {
	_, err := r.azure.Know(ctx, secret)
	return r.counted(posture.Azure, err)
}

// GCP takes a message of Pub/Sub.
func (r *Receiver) GCP(ctx context.Context, h http.Header, body []byte) error {
	d, err := r.gcp.Open(ctx, h, body)
	return r.take(ctx, posture.GCP, d, err)
}

// take puts a delivery on disk.
func (r *Receiver) take(ctx context.Context, p posture.Provider, d posture.Delivery, err error) error {
	if err != nil {
		return r.counted(p, err)
	}
	opened := r.now()
	for _, m := range d.Messages {
		r.metrics.stage("receive", opened.Sub(m.Time), 1)
	}
	got, err := r.inbox.accept(ctx, d)
	switch {
	case err != nil:
		return err
	case got.Gone:
		return r.counted(p, refusal.New(refusal.Unknown, "the stream was removed"))
	}
	r.metrics.stage("store", r.now().Sub(opened), len(d.Messages))
	if got.Fresh > 0 {
		r.nudge(posture.AccountRef{Org: d.Stream.Org, Account: d.Stream.Account})
	}
	r.metrics.taken(p, got)
	return nil
}

// counted counts a refusal and returns it.
func (r *Receiver) counted(p posture.Provider, err error) error {
	if reason := refusal.ReasonOf(err); reason != "" {
		r.metrics.refused(p, reason)
	}
	return err
}
