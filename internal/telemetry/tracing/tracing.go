// Package tracing records traces: the spans of requests, jobs and what they do, which a
// collector of OpenTelemetry receives.
//
// Only requests and jobs start traces, with a [Tracer]. Everything else starts spans
// within the span of its context, and nothing if there is none.
package tracing

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options configure a Tracer.
type Options struct {
	URL     string  // of the collector's OTLP endpoint, such as http://127.0.0.1:4318/v1/traces
	Token   string  // bearer token for it; none if empty
	Sample  float64 // share of traces that are recorded, from 0 to 1
	Service string  // name of this program in traces
	Version string

	Client   *http.Client     // http.DefaultClient if nil
	Exporter sdk.SpanExporter // receives spans instead of the collector, for tests
	Failed   func(error)      // is called when spans could not be sent; may be nil
}

// Tracer starts traces. A nil Tracer starts none.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

const scope = "vigil"

// New returns a Tracer that sends spans in the background, in batches.
func New(o Options) (*Tracer, error) {
	if !(o.Sample >= 0 && o.Sample <= 1) { // true for NaN
		return nil, fmt.Errorf("the sampled share of traces is %v, which is not from 0 to 1", o.Sample)
	}
	var processor sdk.TracerProviderOption
	if o.Exporter != nil {
		processor = sdk.WithSyncer(o.Exporter)
	} else {
		processor = sdk.WithBatcher(newExporter(o), sdk.WithBatchTimeout(2*time.Second))
	}
	// The share applies to traces that callers began too: otherwise every caller that sets
	// the sampled flag would have everything recorded.
	ratio := sdk.TraceIDRatioBased(o.Sample)
	p := sdk.NewTracerProvider(processor,
		sdk.WithSampler(sdk.ParentBased(ratio, sdk.WithRemoteParentSampled(randomSampler{ratio}), sdk.WithRemoteParentNotSampled(sdk.NeverSample()))),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", o.Service), attribute.String("service.version", o.Version))))
	return &Tracer{p, p.Tracer(scope)}, nil
}

// randomSampler lets a sampler decide by a random trace id instead of the trace id of the
// request. The caller chose that one, and could choose an id that is always sampled.
type randomSampler struct{ sdk.Sampler }

// ShouldSample implements [sdk.Sampler].
func (s randomSampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	binary.BigEndian.PutUint64(p.TraceID[:8], rand.Uint64())
	binary.BigEndian.PutUint64(p.TraceID[8:], rand.Uint64())
	return s.Sampler.ShouldSample(p)
}

// Stop sends the remaining spans.
func (t *Tracer) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Request starts the span of a request, in the trace of its traceparent header if it has
// one.
func (t *Tracer) Request(r *http.Request) (*http.Request, Span) {
	if t == nil {
		return r, Span{}
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), Span{span}
}

// Job starts the span of a job, in the trace with the given traceparent if it is not
// empty. The span begins when the job was due, and contains a span of the time that the
// job has waited since. A zero due means now.
func (t *Tracer) Job(ctx context.Context, kind, queue, parent string, due time.Time) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx = parentIn(ctx, parent)
	now := time.Now()
	if due.IsZero() || due.After(now) {
		due = now
	}
	ctx, span := t.tracer.Start(ctx, "job "+kind, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(due), trace.WithAttributes(
		attribute.String("messaging.system", "vigil"), attribute.String("messaging.destination.name", queue)))
	if span.IsRecording() {
		_, wait := t.tracer.Start(ctx, "queue wait", trace.WithTimestamp(due))
		wait.End(trace.WithTimestamp(now))
	}
	return ctx, Span{span}
}

// Continue starts a span in the trace with the given traceparent, for work in another
// process or after the end of the request. If parent is empty, it starts the span within
// that of the context.
func (t *Tracer) Continue(ctx context.Context, name, parent string) (context.Context, Span) {
	if t == nil || parent == "" {
		return Start(ctx, name)
	}
	ctx, span := t.tracer.Start(parentIn(ctx, parent), name)
	return ctx, Span{span}
}

// parentIn returns a context in which spans belong to the trace of the given traceparent.
// Its span counts as local, so that the trace is not sampled again: the server that wrote
// the traceparent has decided whether the trace is recorded.
func parentIn(ctx context.Context, parent string) context.Context {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, span.WithRemote(false))
	}
	return ctx
}

// Parent returns the traceparent of the span of a context, for a job that follows from
// it. It is empty if the trace is not recorded.
func Parent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// Span is a part of a trace. The zero Span records nothing.
type Span struct{ span trace.Span }

// Start starts a span within that of the context. Attributes are names and values in
// turn.
func Start(ctx context.Context, name string, attributes ...string) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name)
	s := Span{span}
	for i := 0; i+1 < len(attributes); i += 2 {
		s.Set(attributes[i], attributes[i+1])
	}
	return ctx, s
}

// Recording reports whether the span of a context is recorded. If not, a caller need not
// prepare the attributes of a span within it.
func Recording(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// Name changes the name.
func (s Span) Name(name string) {
	if s.span != nil {
		s.span.SetName(name)
	}
}

// Set sets an attribute.
func (s Span) Set(name, value string) {
	if s.span != nil && value != "" {
		s.span.SetAttributes(attribute.String(name, value))
	}
}

// SetInt sets an attribute to a number.
func (s Span) SetInt(name string, value int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(name, value))
	}
}

// End ends the span. An error marks it as failed; its text is not recorded, because it
// may contain what a trace must not.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}
