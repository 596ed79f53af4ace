package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// An exporter sends spans by OTLP over HTTP, as JSON. The exporter of OpenTelemetry
// itself would link gRPC.
type exporter struct {
	o Options
}

func newExporter(o Options) *exporter {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	return &exporter{o}
}

// Shutdown implements [sdk.SpanExporter].
func (*exporter) Shutdown(context.Context) error { return nil }

// sendTime limits one request to the collector.
const sendTime = 10 * time.Second

// ExportSpans implements [sdk.SpanExporter]. Spans that the collector does not accept are
// lost.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.send(ctx, spans)
	if err != nil && e.o.Failed != nil {
		e.o.Failed(err)
		return nil
	}
	return err
}

func (e *exporter) send(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := json.Marshal(encode(spans))
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.o.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if e.o.Token != "" {
		r.Header.Set("Authorization", "Bearer "+e.o.Token)
	}
	res, err := e.o.Client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the collector of traces answered %s", res.Status)
	}
	return nil
}

// The types below are those of an ExportTraceServiceRequest in the JSON encoding of OTLP:
// ids are hexadecimal, 64-bit numbers are text.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resourceInfo `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resourceInfo struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []spanRecord `json:"spans"`
	}
	spanRecord struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		Parent     string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Status     *status    `json:"status,omitempty"`
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
	status struct {
		Code int `json:"code"`
	}
)

func encode(spans []sdk.ReadOnlySpan) exportRequest {
	all := resourceSpans{ScopeSpans: make([]scopeSpans, 1)}
	all.ScopeSpans[0].Scope.Name = scope
	for _, s := range spans {
		if all.Resource.Attributes == nil {
			all.Resource.Attributes = encodeAttributes(s.Resource().Attributes())
		}
		r := spanRecord{
			TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(),
			Name: s.Name(), Kind: int(s.SpanKind()), Start: nanoseconds(s.StartTime()), End: nanoseconds(s.EndTime()),
			Attributes: encodeAttributes(s.Attributes()),
		}
		if s.Parent().SpanID().IsValid() {
			r.Parent = s.Parent().SpanID().String()
		}
		if s.Status().Code == codes.Error {
			r.Status = &status{2} // STATUS_CODE_ERROR
		}
		all.ScopeSpans[0].Spans = append(all.ScopeSpans[0].Spans, r)
	}
	return exportRequest{[]resourceSpans{all}}
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func encodeAttributes(all []attribute.KeyValue) []keyValue {
	out := make([]keyValue, len(all))
	for i, a := range all {
		value := map[string]any{"stringValue": a.Value.Emit()}
		if a.Value.Type() == attribute.INT64 {
			value = map[string]any{"intValue": strconv.FormatInt(a.Value.AsInt64(), 10)}
		}
		out[i] = keyValue{string(a.Key), value}
	}
	return out
}
