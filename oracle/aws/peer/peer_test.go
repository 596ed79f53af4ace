package peer_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"slices"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
)

// peer sends every call to a moto server, whose authors never saw our simulator,
// under the name of the host it was meant for.
type peer string

func (p peer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	r.URL.Scheme, r.URL.Host = "http", string(p)
	return http.DefaultTransport.RoundTrip(r)
}

// Where things are made in moto.
const (
	peerAccount = "123456789012"
	peerRegion  = "us-east-1"
)

// unheld are the types that moto cannot hold or does not list: it has no such
// call.
var unheld = []posture.EntityType{
	"AWS.AccessAnalyzer.Analyzer", // no such service
}

// TestPeerMoto makes resources in moto and reads them there. It is skipped unless
// VIGIL_TEST_MOTO says where a moto server listens.
func TestPeerMoto(t *testing.T) {
	address := os.Getenv("VIGIL_TEST_MOTO")
	if address == "" {
		t.Skip("VIGIL_TEST_MOTO does not name a moto server")
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
	want := maker.everything()
	got := readPeer(t, aws.New(aws.Options{HTTP: client, Identity: aws.Identity{AccessKeyID: "AKIATEST", SecretAccessKey: "x"}, Attempts: 1}))
	for _, id := range slices.Sorted(maps.Keys(want)) {
		e, ok := got.entities[id]
		if !ok {
			t.Errorf("%s was not found; %v", id, got.failures)
			continue
		}
		for _, p := range want[id] {
			if !slices.Contains(all(e, p.Name), p) {
				t.Errorf("%s: %s is %v, want %v", id, p.Name, all(e, p.Name), p)
			}
		}
	}
	for kind, errs := range got.failures {
		t.Errorf("%s: %v", kind, errs)
	}
	held := map[posture.EntityType]bool{}
	for _, e := range got.entities {
		held[e.Type] = true
	}
	for _, kind := range made {
		if !held[kind] && !slices.Contains(unheld, kind) {
			t.Errorf("nothing of %s was found", kind)
		}
	}
	t.Logf("%d of %d types are found in moto", len(held), len(declarations()))
	checkRuled(t, got, held)
}

// readPeer reads one region of moto: it has them all, and each takes its time.
func readPeer(t *testing.T, source collect.Source) read {
	t.Helper()
	session, err := source.Open(t.Context(), accessTo(peerAccount, "arn:aws:iam::"+peerAccount+":role/vigil", "external"))
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
		// Moto counts Amazon's own images and their snapshots as the account's.
		if u.Region != posture.Global && u.Region != peerRegion || slices.Contains(unheld, u.Type) {
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

// A maker makes resources in moto and notes what is to be read of them.
type maker struct {
	ctx    context.Context
	t      *testing.T
	config sdk.Config
	want   map[posture.EntityID][]posture.Property
}

// expect notes an entity and what it is to have.
func (m *maker) expect(t posture.EntityType, name string, properties ...posture.Property) {
	m.at(t, peerRegion, name, properties...)
}

func (m *maker) at(t posture.EntityType, region, name string, properties ...posture.Property) {
	m.want[t.ID(peerAccount, region, name)] = properties
}

// must ends the test when something could not be made.
func must[T any](m *maker) func(v T, err error) T {
	return func(v T, err error) T {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
		return v
	}
}
