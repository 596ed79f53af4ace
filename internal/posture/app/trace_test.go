package app_test

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

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

	all := spans.GetSpans()
	if got := namesIn(all, func(s tracetest.SpanStub) bool { return s.SpanContext.TraceID().String() == id }); !strings.Contains(got, " GET /v1/entities/schema ") {
		t.Errorf("the trace of the caller has%s", got)
	}
	wantTrace(t, all, "account-credential-relationship", "job validate", "queue wait", "job collect", "collect AWS.EC2.SecurityGroup", "job judge", "evaluate rules", "SELECT", "INSERT")
	wantTrace(t, all, "/events/aws", "changed resources", "read changed resources", "save changed resources", "evaluate rules", "SELECT", "UPDATE")
	for _, s := range all {
		for _, a := range s.Attributes {
			if strings.Contains(a.Value.Emit(), "Bearer") || strings.Contains(a.Value.Emit(), "ExternalId") {
				t.Errorf("span %s has %s", s.Name, a.Value.Emit())
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

// wantTrace fails the test unless some trace that begins with a request to a route has
// spans with the given names.
func wantTrace(t *testing.T, all tracetest.SpanStubs, route string, names ...string) {
	t.Helper()
	begun := map[trace.TraceID]bool{}
	for _, s := range all {
		if strings.HasSuffix(s.Name, route) {
			begun[s.SpanContext.TraceID()] = true
		}
	}
	var missing []string
	for id := range begun {
		got := namesIn(all, func(s tracetest.SpanStub) bool { return s.SpanContext.TraceID() == id })
		missing = nil
		for _, name := range names {
			if !strings.Contains(got, " "+name) {
				missing = append(missing, name)
			}
		}
		if missing == nil {
			return
		}
	}
	t.Errorf("%d traces begin at %s; none has all spans, the last lacks %v", len(begun), route, missing)
}
