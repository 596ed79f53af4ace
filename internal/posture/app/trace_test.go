package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"vigil/internal/posture/app"
	"vigil/internal/sqldb/dbtest"
	"vigil/internal/telemetry/tracing"
)

// TestTracesFollowRequestsRunsAndEvents records all traces while an account is linked and
// collected and its changes become findings. The request and what follows from it must
// be one trace, as must an event and what follows from it.
func TestTracesFollowRequestsRunsAndEvents(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	tracer, err := tracing.New(tracing.Options{Sample: 1, Exporter: spans})
	if err != nil {
		t.Fatal(err)
	}
	s := newCloudFixtureOf(t, dbtest.SQLite(t), 1, func(o *app.Options) { o.Tracer = tracer })
	const id = "0af7651916cd43dd8448eb211c80319c"
	s.want(200, "GET", "/v1/entities/schema", nil, "Traceparent", "00-"+id+"-b7ad6b7169203331-01")
	s.changeAWS()

	awaitTrace(t, spans, "account-credential-relationship", "job validate", "queue wait", "job collect", "collect AWS.EC2.SecurityGroup", "job judge", "evaluate rules", "SELECT", "INSERT")
	awaitTrace(t, spans, "/events/aws", "changed resources", "read changed resources", "save changed resources", "evaluate rules", "SELECT", "UPDATE")
	all := spans.GetSpans()
	if got := namesIn(all, func(span tracetest.SpanStub) bool { return span.SpanContext.TraceID().String() == id }); !strings.Contains(got, " GET /v1/entities/schema ") {
		t.Errorf("the trace of the caller lacks its request; its spans are%s", got)
	}
	for _, span := range all {
		for _, a := range span.Attributes {
			if strings.Contains(a.Value.Emit(), "Bearer") || strings.Contains(a.Value.Emit(), "ExternalId") {
				t.Errorf("span %s has %s", span.Name, a.Value.Emit())
			}
		}
	}
}

// namesIn returns the names of some spans, with spaces around each.
func namesIn(all tracetest.SpanStubs, which func(tracetest.SpanStub) bool) string {
	names := " "
	for _, s := range all {
		if which(s) {
			names += " " + s.Name + " "
		}
	}
	return names
}

// awaitTrace waits until some trace that begins with a request to a route has spans whose
// names begin with the given ones. A span is exported when it ends, which may be after its effect can be seen.
func awaitTrace(t *testing.T, spans *tracetest.InMemoryExporter, route string, names ...string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		missing := missingSpans(spans.GetSpans(), route, names)
		if len(missing) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no trace that begins at %s has all spans; the best one lacks %v", route, missing)
		}
	}
}

// missingSpans returns the names that a trace lacks: no span of the trace has a name that begins with them. Of the
// traces that begin with a request to the route, it takes the most complete one.
func missingSpans(all tracetest.SpanStubs, route string, names []string) []string {
	missing := names
	for _, s := range all {
		if !strings.HasSuffix(s.Name, route) {
			continue
		}
		got := namesIn(all, func(other tracetest.SpanStub) bool { return other.SpanContext.TraceID() == s.SpanContext.TraceID() })
		lacks := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(got, " "+name) })
		if len(lacks) < len(missing) {
			missing = lacks
		}
	}
	return missing
}
