package aws_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/awsapi/awsapitest"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/awsapi/wire"
)

// RoundTrip implements [http.RoundTripper].
func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) { return c.Do(r) }

// TestRequestsAreWrittenTheSame encodes the same inputs with both sides.
func TestRequestsAreWrittenTheSame(t *testing.T) {
	t.Parallel()
	operations(t, differingRequests, func(t *testing.T, client any, c *canned, op *model.Operation) (n int) {
		if differingRequests[op.Service.Name] != "" || differingRequests[op.Service.Name+" "+op.Name] != "" {
			return 0 // operations calls this for exempt ones too, and expects 0
		}
		for seed := range uint64(2) {
			onlyRequired := seed == 0
			input := awsapitest.New(seed).Input(op, onlyRequired)
			if id, ok := input["HostedZoneId"].(string); ok && op.Service.Name == "route53" {
				input["HostedZoneId"] = "/hostedzone/" + id // Route 53 returns ids with this prefix; both sides must remove it from requests
			}
			c.header, c.body = http.Header{}, nil
			_, err := callModule(t.Context(), client, op, c, input) // also removes members that the module does not have
			// Other errors are about the empty answer: the request was sent.
			if errors.Is(err, errNotSent) {
				t.Logf("%s: %v", op.Name, err)
				continue
			}
			want := describe(t, c.asked, c.sent)
			ours := &canned{header: http.Header{}}
			us, err := awsapi.New(awsapi.Options{HTTP: &http.Client{Transport: ours}, Credentials: config(c).Credentials, Attempts: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, err = us.Call(t.Context(), op.Service.Name, op.Name, region, plain(input))
			if _, bad := errors.AsType[*wire.InputError](err); bad {
				t.Logf("%s: %v", op.Name, err) // a removed member is required
				continue
			}
			if ours.asked == nil {
				t.Errorf("%s: we send nothing: %v", op.Name, err)
				continue
			}
			if got := describe(t, ours.asked, ours.sent); !reflect.DeepEqual(want, got) {
				t.Errorf("%s: the module sends\n%+v, we send\n%+v", op.Name, want, got)
			}
			requests.Add(1)
			n++
		}
		return n
	})
	t.Cleanup(func() { t.Logf("%d requests were compared", requests.Load()) })
}

// plain encodes an input as JSON.
func plain(input map[string]any) json.RawMessage {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return text
}

// A request holds the parts of a request that are compared.
type request struct {
	method, host, path, target string
	kind                       string // Content-Type
	scope                      string // region and service that the signature is for
	query                      url.Values

	// The body, by Content-Type.
	form     url.Values
	document any // decoded JSON
	body     string
}

func describe(t *testing.T, r *http.Request, body []byte) request {
	t.Helper()
	q := r.URL.Query()
	q.Del("x-id") // names the operation of S3 for logs
	d := request{
		method: r.Method, host: r.URL.Host, path: r.URL.EscapedPath(), target: r.Header.Get("X-Amz-Target"), kind: r.Header.Get("Content-Type"), query: q,
	}
	d.path = strings.TrimSuffix(d.path, "/") // some models end with a slash
	// CloudTrail accepts its target with and without a namespace.
	d.target = strings.TrimPrefix(d.target, "com.amazonaws.cloudtrail.v20131101.")
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if parts := strings.Split(scope, "/"); len(parts) == 5 { // KEY/DATE/REGION/SERVICE/aws4_request
		d.scope = parts[2] + "/" + parts[3]
	}
	switch {
	case strings.HasPrefix(d.kind, "application/x-www-form-urlencoded"):
		form, err := url.ParseQuery(string(body))
		if err != nil {
			t.Fatal(err)
		}
		d.form = form
	case strings.Contains(d.kind, "json"):
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&d.document); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(fmt.Errorf("%w in %s", err, body))
		}
	default:
		// XML: the modules write members by name, we in the order of the model. Sorting the tags makes the order irrelevant.
		parts := strings.SplitAfter(string(body), ">")
		slices.Sort(parts)
		d.body = strings.Join(parts, "")
	}
	return d
}
