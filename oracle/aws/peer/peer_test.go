package peer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/awsapi"
)

// peer sends every call to a moto server, with the host name that the call was meant
// for. Moto is an independent implementation: its authors do not know our simulator.
type peer string

func (p peer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if strings.HasPrefix(r.URL.Host, "sts.") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if form, _ := url.ParseQuery(string(body)); form.Get("Action") == "AssumeRole" && form.Get("ExternalId") != peerExternalID {
			return refusal(r), nil
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	r.Host = r.URL.Host
	r.URL.Scheme, r.URL.Host = "http", string(p)
	return http.DefaultTransport.RoundTrip(r)
}

// refusal is the answer of AWS if the trust policy of a role does not accept the external id.
// Moto does not evaluate trust policies.
func refusal(r *http.Request) *http.Response {
	const text = `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>`
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r, ContentLength: int64(len(text)),
	}
}

// Account and region of the resources in moto, and the external id that its role requires.
const (
	peerAccount    = "123456789012"
	peerRegion     = "us-east-1"
	peerExternalID = "external"
)

// unsupported are the types that are not read, because moto does not implement or cannot list them.
var unsupported = []posture.EntityType{
	"AWS.AccessAnalyzer.Analyzer", // no such service
}

// TestPeerMoto creates resources in moto and reads them. It is skipped unless
// VIGIL_TEST_MOTO is the address of a moto server.
func TestPeerMoto(t *testing.T) {
	address := os.Getenv("VIGIL_TEST_MOTO")
	if address == "" {
		t.Skip("VIGIL_TEST_MOTO is not set: make test-peers starts a moto server and sets it to the address")
	}
	client := &http.Client{Transport: peer(address)}
	answer, err := client.Post("https://"+address+"/moto-api/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	maker := &maker{ctx: t.Context(), t: t, config: sdk.Config{
		Region: peerRegion, HTTPClient: client, Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "x", ""), RetryMaxAttempts: 1,
	}}
	want := maker.createAll()
	got := readPeer(t, aws.New(aws.Options{HTTP: client, Identity: aws.Identity{AccessKeyID: "AKIATEST", SecretAccessKey: "x"}, Attempts: 1}))
	for _, id := range slices.Sorted(maps.Keys(want)) {
		e, ok := got.entities[id]
		if !ok {
			t.Errorf("%s was not found; lists that failed: %v", id, got.failures)
			continue
		}
		for _, p := range want[id] {
			if !slices.Contains(propertiesOf(e, p.Name), p) {
				t.Errorf("%s: %s is %v, want %v", id, p.Name, propertiesOf(e, p.Name), p)
			}
		}
	}
	var absent []posture.EntityType
	// A type that need not be found may fail, if moto implements none of its failed calls.
	for kind, errs := range got.failures {
		if !slices.Contains(createdTypes, kind) && !slices.ContainsFunc(errs, func(err error) bool { return !isNotImplemented(err) }) {
			absent = append(absent, kind)
			continue
		}
		t.Errorf("%s: %v", kind, errs)
	}
	slices.Sort(absent)
	t.Logf("%d types have a call that moto does not implement: %v", len(absent), absent)
	found := map[posture.EntityType]bool{}
	for _, e := range got.entities {
		found[e.Type] = true
	}
	for _, kind := range createdTypes {
		if !found[kind] {
			t.Errorf("nothing of %s was found", kind)
		}
	}
	t.Logf("%d of %d types are found in moto", len(found), len(declarations()))
	checkRuleProperties(t, got, found)
}

// isNotImplemented reports whether moto does not implement a call: it answers with status 500, or
// with 404 if it does not know the path.
func isNotImplemented(err error) bool {
	refused, ok := errors.AsType[*awsapi.Error](err)
	return ok && (refused.Code == "InternalServerError" || refused.Code == "NotFound")
}

// readPeer reads one region of moto. Reading all regions would take too long.
func readPeer(t *testing.T, source collect.Source) read {
	t.Helper()
	session, err := source.Open(t.Context(), accessTo(peerAccount, "arn:aws:iam::"+peerAccount+":role/vigil", peerExternalID))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	units, err := session.Units(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := read{entities: map[posture.EntityID]posture.Entity{}, failures: map[posture.EntityType][]error{}}
	for _, u := range units {
		if u.Region != posture.Global && u.Region != peerRegion || slices.Contains(unsupported, u.Type) {
			continue
		}
		err := u.List(t.Context(), func(r *collect.Resource) error {
			r.Normalize()
			got.entities[r.ID] = r.Entity
			return nil
		})
		if err != nil {
			got.failures[u.Type] = append(got.failures[u.Type], err)
		}
	}
	return got
}

// A maker creates resources in moto and records the properties that must be read.
type maker struct {
	ctx    context.Context
	t      *testing.T
	config sdk.Config
	want   map[posture.EntityID][]posture.Property
}

// expect records an entity of the region and the properties that it must have.
func (m *maker) expect(t posture.EntityType, name string, properties ...posture.Property) {
	m.expectIn(t, peerRegion, name, properties...)
}

// expectIn records an entity of a region; "" is for global resources.
func (m *maker) expectIn(t posture.EntityType, region, name string, properties ...posture.Property) {
	m.want[t.ID(peerAccount, region, name)] = properties
}

// must ends the test when a resource could not be created. It returns a function of two arguments:
// Go passes the two results of a call to another call only if that has no further arguments.
func must[T any](m *maker) func(v T, err error) T {
	return func(v T, err error) T {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
		return v
	}
}
