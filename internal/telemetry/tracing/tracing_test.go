package tracing_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"vigil/internal/telemetry/tracing"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestSpansAreSentByOTLP sends the spans of a request and of the job that follows from it
// to a receiver.
func TestSpansAreSentByOTLP(t *testing.T) {
	t.Parallel()
	type span struct {
		TraceID, SpanID, ParentSpanID, Name string
		Kind                                int
		StartTimeUnixNano, EndTimeUnixNano  string
		Status                              *struct{ Code int }
	}
	var got struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []struct{ Key string } }
			ScopeSpans []struct{ Spans []span }
		}
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
	}))
	defer receiver.Close()
	tracer, err := tracing.New(tracing.Options{URL: receiver.URL, Token: "t", Sample: 1, Service: "vigil"})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/x", nil)
	r.Header.Set("Traceparent", traceparent)
	r, request := tracer.Request(r)
	parent := tracing.Parent(r.Context())
	request.Name("POST /{x}")
	request.End(errors.New("it failed"))
	ctx, job := tracer.Job(t.Context(), "greet", "default", parent, time.Now().Add(-time.Second))
	_, inner := tracing.Start(ctx, "inner", "key", "value")
	inner.End(nil)
	job.End(nil)
	if err := tracer.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := map[string]span{}
	for _, s := range got.ResourceSpans[0].ScopeSpans[0].Spans {
		spans[s.Name] = s
		if s.TraceID != "0af7651916cd43dd8448eb211c80319c" || s.StartTimeUnixNano == "" || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("span %+v", s)
		}
	}
	parents := map[string]string{"POST /{x}": "b7ad6b7169203331", "job greet": spans["POST /{x}"].SpanID, "queue wait": spans["job greet"].SpanID, "inner": spans["job greet"].SpanID}
	for name, want := range parents {
		if s, ok := spans[name]; !ok || s.ParentSpanID != want {
			t.Errorf("%s has the parent %q, want %q", name, s.ParentSpanID, want)
		}
	}
	const kindServer, codeError = 2, 2 // of OTLP
	if s := spans["POST /{x}"]; s.Kind != kindServer || s.Status == nil || s.Status.Code != codeError {
		t.Errorf("the span of the request is %+v, want a failed one of a server", s)
	}
}

// TestSampling checks which share of requests is recorded, without and with the traceparent of a
// caller. The ratio sampler of OpenTelemetry by itself would record the low trace id and not the
// high one.
func TestSampling(t *testing.T) {
	t.Parallel()
	const low, high = "00-00000000000000010000000000000000-b7ad6b7169203331-01", "00-0000000000000001ffffffffffffffff-b7ad6b7169203331-01"
	for _, tt := range []struct {
		name, parent    string
		sample          float64
		requests        int
		atLeast, atMost int // recorded spans
	}{
		{"all", "", 1, 1, 1, 1},
		{"none", "", 0, 1, 0, 0},
		{"a share", "", 0.5, 200, 50, 150}, // seven standard deviations
		{"a caller cannot have its traces recorded", traceparent, 0, 1, 0, 0},
		{"a caller can have its traces not recorded", traceparent[:len(traceparent)-1] + "0", 1, 1, 0, 0},
		{"a caller cannot have its traces recorded by a low trace id", low, 0.5, 200, 50, 150},
		{"a high trace id changes nothing either", high, 0.5, 200, 50, 150},
		{"all traces of callers", high, 1, 1, 1, 1},
		{"an invalid traceparent is ignored", "00-x-y-01", 1, 1, 1, 1},
	} {
		exporter := tracetest.NewInMemoryExporter()
		tracer, err := tracing.New(tracing.Options{Sample: tt.sample, Exporter: exporter})
		if err != nil {
			t.Fatal(err)
		}
		for range tt.requests {
			before := len(exporter.GetSpans())
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Traceparent", tt.parent)
			r, span := tracer.Request(r)
			recorded := tracing.Parent(r.Context()) != ""
			span.End(nil)
			if got := len(exporter.GetSpans()) > before; got != recorded {
				t.Errorf("%s: the request is recorded: %v, but jobs get the trace: %v", tt.name, got, recorded)
			}
		}
		if got := len(exporter.GetSpans()); got < tt.atLeast || got > tt.atMost {
			t.Errorf("%s: %d spans of %d requests, want from %d to %d", tt.name, got, tt.requests, tt.atLeast, tt.atMost)
		}
	}
}

func TestSampledShareOutsideOfItsRangeIsAnError(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{-0.1, 1.1, math.Inf(1), math.Inf(-1), math.NaN()} {
		if _, err := tracing.New(tracing.Options{Sample: share, Exporter: tracetest.NewInMemoryExporter()}); err == nil {
			t.Errorf("%v is accepted", share)
		}
	}
}

// TestWithoutTracerNothingIsRecorded uses a nil tracer.
func TestWithoutTracerNothingIsRecorded(t *testing.T) {
	t.Parallel()
	var tracer *tracing.Tracer
	r, span := tracer.Request(httptest.NewRequest(http.MethodGet, "/", nil))
	span.Name("x")
	span.Set("a", "b")
	span.End(nil)
	ctx, job := tracer.Job(context.Background(), "k", "q", traceparent, time.Now())
	job.End(nil)
	if diff := cmp.Diff([]bool{false, false}, []bool{tracing.Recording(r.Context()), tracing.Recording(ctx)}); diff != "" {
		t.Error(diff)
	}
	if err := tracer.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
