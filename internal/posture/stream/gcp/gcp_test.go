package gcp_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"hash"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/stream/change"
	"vigil/internal/posture/stream/gcp"
	"vigil/internal/posture/stream/refusal"
	"vigil/internal/posture/stream/streamtest"
	"vigil/internal/sim/events"
)

const (
	project      = "shop-prod-1"
	handle       = "abcdefabcdef"
	audience     = "https://vigil.example/events/gcp"
	pusher       = "vigil-push-abcdefabcdef@shop-prod-1.iam.gserviceaccount.com"
	subscription = "projects/shop-prod-1/subscriptions/vigil-push-abcdefabcdef"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

var index = change.NewIndex([]collect.Declaration{
	{Type: "GCP.Compute.Firewall", Forms: []string{"projects/*/global/firewalls/*"}, Events: []collect.Event{{Source: "compute.googleapis.com", Names: []string{"compute.firewalls.patch", "compute.firewalls.insert"}}}},
	{Type: "GCP.Storage.Bucket", Forms: []string{"projects/*/buckets/*"}, Events: []collect.Event{{Source: "storage.googleapis.com", Names: []string{"storage.setIamPermissions"}}}},
	{Type: "GCP.IAM.ServiceAccount", Forms: []string{"projects/*/serviceAccounts/*"}, Events: []collect.Event{{Source: "iam.googleapis.com", Names: []string{"google.iam.admin.v1.DeleteServiceAccount"}}}},
	{Type: "GCP.IAM.Principal", Events: []collect.Event{{Source: "cloudresourcemanager.googleapis.com", Names: []string{"SetIamPolicy"}}}},
	{Type: "GCP.IAM.Role", Forms: []string{"projects/*/roles/*"}, Events: []collect.Event{{Source: "cloudresourcemanager.googleapis.com", Names: []string{"SetIamPolicy"}}}},
})

// A fixture is a verifier with signers of tokens.
type fixture struct {
	verifier *gcp.Verifier
	google   *events.Google // signs like Google
	other    *events.Google // has a key that Google does not publish
	internet *streamtest.Internet
}

// The signers of tokens, which all fixtures share because generating keys takes long.
var (
	google      = sync.OnceValues(func() (*events.Google, error) { return events.NewGoogle(clock) })
	otherGoogle = sync.OnceValues(func() (*events.Google, error) { return events.NewGoogle(clock) })
)

func newFixture(t testing.TB) *fixture {
	t.Helper()
	fx := new(fixture)
	var err error
	if fx.google, err = google(); err != nil {
		t.Fatal(err)
	}
	if fx.other, err = otherGoogle(); err != nil {
		t.Fatal(err)
	}
	fx.internet = &streamtest.Internet{Hosts: map[string]http.Handler{events.KeysHost: fx.google.Handler(nil)}}
	fx.verifier = gcp.NewVerifier(streamtest.Streams{ // by secrets, which this verifier does not use: it finds streams by handle
		"a": {Org: "org", Account: project, Provider: posture.GCP, Handle: handle},
		"b": {Org: "org", Account: "other-project", Provider: posture.GCP, Handle: "otherhandle1"},
		"c": {Org: "org", Account: "123456789012", Provider: posture.AWS, Handle: "awshandle123"},
	}, index, fx.internet.Client(), func() string { return audience }, clock)
	return fx
}

func (fx *fixture) token(edit ...func(map[string]any)) string {
	c := fx.google.Claims(pusher, audience)
	for _, f := range edit {
		f(c)
	}
	return fx.google.Token(c)
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// entry returns an entry of the audit log. Its service is the first part of the method,
// such as compute in v1.compute.firewalls.patch; the edits can set another one.
func entry(method, resource string, edit ...func(map[string]any)) []byte {
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "v1."), ".")
	e := events.Entry(project, service+".googleapis.com", method, resource, now)
	for _, f := range edit {
		f(e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return text
}

var firewall = entry("v1.compute.firewalls.patch", "projects/shop-prod-1/global/firewalls/ssh")

func (fx *fixture) push(data []byte) []byte { return fx.google.Push(subscription, data, nil).Body() }

func TestPushIsAccepted(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	p := fx.google.Push(subscription, firewall, map[string]string{"logging.googleapis.com/timestamp": "x"})
	for range 3 {
		d, err := fx.verifier.Verify(t.Context(), bearer(fx.token()), p.Body())
		if err != nil {
			t.Fatal(err)
		}
		want := []posture.StreamMessage{{ID: "pubsub " + p.Message.MessageID, Time: now, ChangeOrigin: posture.ChangeOrigin{Actor: "operator@example.com", Operation: "v1.compute.firewalls.patch"}, Target: []posture.Target{
			{Type: "GCP.Compute.Firewall", Region: "global", Name: "projects/shop-prod-1/global/firewalls/ssh"},
		}}}
		if diff := cmp.Diff(want, d.Messages); diff != "" || d.Stream.Account != project {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got := fx.internet.Calls.Load(); got != 1 {
		t.Errorf("the keys were fetched %d times, want once", got)
	}
}

func TestAttributesOfMessagesAreSignals(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	for attribute, want := range map[[2]string]posture.StreamSignal{
		{"eventStreamStatus", "connected"}: posture.SignalConnected, {"eventStreamStatus", "disconnected"}: posture.SignalDisconnected,
		{"heartbeat", "1"}: posture.SignalHeartbeat, {"other", "1"}: posture.SignalEvent,
	} {
		p := fx.google.Push(subscription, []byte("{}"), map[string]string{attribute[0]: attribute[1]})
		d, err := fx.verifier.Verify(t.Context(), bearer(fx.token()), p.Body())
		if err != nil || d.Messages[0].Signal != want {
			t.Errorf("%v: %v, %v; want the signal %v", attribute, d.Messages, err, want)
		}
	}
}

// payload changes members of the entry's protoPayload.
func payload(members map[string]any) func(map[string]any) {
	return func(e map[string]any) {
		for name, v := range members {
			e["protoPayload"].(map[string]any)[name] = v
		}
	}
}

func TestEntriesTargetResources(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	const global = "projects/shop-prod-1/global/firewalls"
	globalTarget := func(typ posture.EntityType, name string) []posture.Target {
		return []posture.Target{{Type: typ, Region: "global", Name: name}}
	}
	for _, tt := range []struct {
		name string
		data []byte
		want []posture.Target
	}{
		{"a firewall", firewall, globalTarget("GCP.Compute.Firewall", global+"/ssh")},
		{"the beginning of a long call", entry("v1.compute.firewalls.insert", global+"/new", func(e map[string]any) {
			e["operation"] = map[string]any{"first": true}
		}), nil},
		{"the end of a long call", entry("v1.compute.firewalls.insert", global+"/new", func(e map[string]any) {
			e["operation"] = map[string]any{"last": true}
		}), globalTarget("GCP.Compute.Firewall", global+"/new")},
		{"a failure", entry("v1.compute.firewalls.patch", global+"/ssh", payload(map[string]any{"status": map[string]any{"code": 7}})), nil},
		{"a collection, with the name in the request", entry("v1.compute.firewalls.insert", global, payload(map[string]any{
			"request": map[string]any{"name": "new"},
		})), globalTarget("GCP.Compute.Firewall", global+"/new")},
		{"a collection, with a link in the answer", entry("v1.compute.firewalls.insert", global, payload(map[string]any{
			"response": map[string]any{"targetLink": "https://www.googleapis.com/compute/v1/projects/shop-prod-1/global/firewalls/new"},
		})), globalTarget("GCP.Compute.Firewall", global+"/new")},
		{"a collection and no name", entry("v1.compute.firewalls.insert", global), globalTarget("GCP.Compute.Firewall", "")},
		{"a bucket", entry("storage.setIamPermissions", "projects/_/buckets/b"), globalTarget("GCP.Storage.Bucket", "projects/_/buckets/b")},
		{"a service account by number", entry("google.iam.admin.v1.DeleteServiceAccount", "projects/-/serviceAccounts/12345", payload(map[string]any{
			"serviceName": "iam.googleapis.com",
		}), func(e map[string]any) {
			e["resource"] = map[string]any{"labels": map[string]string{"email_id": "sa@shop-prod-1.iam.gserviceaccount.com", "project_id": project}}
		}), globalTarget("GCP.IAM.ServiceAccount", "projects/-/serviceAccounts/sa@shop-prod-1.iam.gserviceaccount.com")},
		{"a project's policy", entry("SetIamPolicy", "projects/shop-prod-1", payload(map[string]any{"serviceName": "cloudresourcemanager.googleapis.com"})),
			[]posture.Target{{Type: "GCP.IAM.Principal", Region: "global"}, {Type: "GCP.IAM.Role", Region: "global"}}},
		{"a type that is not collected", entry("v1.compute.addresses.insert", "projects/shop-prod-1/regions/r/addresses/a"), nil},
		{"members that are not text", entry("v1.compute.firewalls.patch", global+"/ssh", payload(map[string]any{
			"request": map[string]any{"name": map[string]any{"value": "ssh"}}, "response": map[string]any{"name": 7},
		})), globalTarget("GCP.Compute.Firewall", global+"/ssh")},
		{"JSON that is not an entry", []byte(`["hello"]`), nil},
		{"a text that is not JSON", []byte("hello"), nil},
	} {
		d, err := fx.verifier.Verify(t.Context(), bearer(fx.token()), fx.push(tt.data))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, d.Messages[0].Target); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestIDsAreThoseOfTheCollector(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]posture.EntityID{
		"projects/shop-prod-1/zones/europe-west1-b/instances/i":               "GCP.X.shop-prod-1.europe-west1-b.T.i",
		"projects/shop-prod-1/global/firewalls/ssh":                           "GCP.X.shop-prod-1.global.T.ssh",
		"projects/_/buckets/b.example.com":                                    "GCP.X.shop-prod-1.global.T.b.example.com",
		"projects/shop-prod-1/locations/global/keyRings/r/cryptoKeys/k":       "GCP.X.shop-prod-1.global.T.r/k",
		"projects/shop-prod-1/locations/europe-west1/keyRings/r/cryptoKeys/k": "GCP.X.shop-prod-1.europe-west1.T.r/k",
		"projects/shop-prod-1":                                                "GCP.X.shop-prod-1.global.T.shop-prod-1",
	} {
		found := false
		for _, id := range gcp.IDs(project, posture.Target{Type: "GCP.X.T", Region: "global", Name: name}) {
			found = found || id == want
		}
		if !found {
			t.Errorf("%s is not among the ids of %s", want, name)
		}
	}
}

// claim changes one claim; nil removes it.
func claim(name string, v any) func(map[string]any) {
	return func(c map[string]any) {
		if v == nil {
			delete(c, name)
			return
		}
		c[name] = v
	}
}

// A forgery is a request that the verifier must refuse.
type forgery struct {
	name    string
	reason  refusal.Reason
	request func(fx *fixture) (http.Header, []byte)
}

// pushWithClaims makes a push whose token has changed claims.
func pushWithClaims(edits ...func(map[string]any)) func(fx *fixture) (http.Header, []byte) {
	return func(fx *fixture) (http.Header, []byte) { return bearer(fx.token(edits...)), fx.push(firewall) }
}

// pushWithToken makes a push with another token.
func pushWithToken(f func(fx *fixture) string) func(fx *fixture) (http.Header, []byte) {
	return func(fx *fixture) (http.Header, []byte) { return bearer(f(fx)), fx.push(firewall) }
}

// pushWithBody makes a push with a valid token and a changed body.
func pushWithBody(f func(p *events.Push)) func(fx *fixture) (http.Header, []byte) {
	return func(fx *fixture) (http.Header, []byte) {
		p := fx.google.Push(subscription, firewall, nil)
		f(&p)
		return bearer(fx.token()), p.Body()
	}
}

// pushSignedBy makes a push with a token that Google's key signed by another algorithm.
func pushSignedBy(algorithm string) func(fx *fixture) (http.Header, []byte) {
	return pushWithToken(func(fx *fixture) string {
		return fx.google.Sign(map[string]any{"alg": algorithm, "kid": fx.google.KeyID()}, fx.google.Claims(pusher, audience))
	})
}

// pushWithMAC makes a push with a token whose signature is a MAC with Google's public key, as if
// that were a shared secret.
func pushWithMAC(algorithm string, newHash func() hash.Hash) func(fx *fixture) (http.Header, []byte) {
	return pushWithToken(func(fx *fixture) string {
		der, err := x509.MarshalPKIXPublicKey(fx.google.Public())
		if err != nil {
			panic(err)
		}
		key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		parts := strings.Split(fx.google.Sign(map[string]any{"alg": algorithm, "kid": fx.google.KeyID()}, fx.google.Claims(pusher, audience)), ".")
		h := hmac.New(newHash, key)
		h.Write([]byte(parts[0] + "." + parts[1]))
		return parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
	})
}

var forgeries = []forgery{
	{"no token", refusal.Unsigned, func(fx *fixture) (http.Header, []byte) { return nil, fx.push(firewall) }},
	{"an empty token", refusal.Unsigned, pushWithToken(func(*fixture) string { return "" })},
	{"another scheme", refusal.Unsigned, func(fx *fixture) (http.Header, []byte) {
		return http.Header{"Authorization": {"Basic " + fx.token()}}, fx.push(firewall)
	}},
	{"a token that is not a JWT", refusal.Signature, pushWithToken(func(*fixture) string { return "made-up" })},
	{"a token that is too long", refusal.Unsigned, pushWithToken(func(*fixture) string { return strings.Repeat("x", 20000) })},
	{"stripped signature", refusal.Signature, pushWithToken(func(fx *fixture) string { t := fx.token(); return t[:strings.LastIndex(t, ".")+1] })},
	{"signature of another token", refusal.Signature, pushWithToken(func(fx *fixture) string {
		a, b := fx.token(), fx.token(claim("sub", "other"))
		return a[:strings.LastIndex(a, ".")] + b[strings.LastIndex(b, "."):]
	})},
	{"claims changed", refusal.Signature, pushWithToken(func(fx *fixture) string {
		a, b := strings.Split(fx.token(claim("aud", "x")), "."), strings.Split(fx.token(), ".")
		return a[0] + "." + b[1] + "." + a[2]
	})},
	{"no algorithm", refusal.Signature, pushWithToken(func(fx *fixture) string {
		t := fx.google.Sign(map[string]any{"alg": "none", "kid": fx.google.KeyID()}, fx.google.Claims(pusher, audience))
		return t[:strings.LastIndex(t, ".")+1]
	})},
	// Google signs by RS256 only.
	{"signed by RS384", refusal.Signature, pushSignedBy("RS384")},
	{"signed by RS512", refusal.Signature, pushSignedBy("RS512")},
	{"signed by PS256", refusal.Signature, pushSignedBy("PS256")},
	{"signed by PS384", refusal.Signature, pushSignedBy("PS384")},
	{"signed by PS512", refusal.Signature, pushSignedBy("PS512")},
	{"HS256 with the public key", refusal.Signature, pushWithMAC("HS256", sha256.New)},
	{"HS384 with the public key", refusal.Signature, pushWithMAC("HS384", sha512.New384)},
	{"HS512 with the public key", refusal.Signature, pushWithMAC("HS512", sha512.New)},
	{"another key with Google's id", refusal.Signature, pushWithToken(func(fx *fixture) string {
		return fx.other.Sign(map[string]any{"alg": "RS256", "kid": fx.google.KeyID()}, fx.google.Claims(pusher, audience))
	})},
	{"another key with its own id", refusal.Signature, pushWithToken(func(fx *fixture) string { return fx.other.Token(fx.google.Claims(pusher, audience)) })},
	{"no key id", refusal.Signature, pushWithToken(func(fx *fixture) string {
		return fx.google.Sign(map[string]any{"alg": "RS256"}, fx.google.Claims(pusher, audience))
	})},
	{"a key at an address in the token", refusal.Signature, pushWithToken(func(fx *fixture) string {
		return fx.other.Sign(map[string]any{"alg": "RS256", "kid": fx.other.KeyID(), "jku": "https://evil.example/keys"}, fx.google.Claims(pusher, audience))
	})},
	{"a key id that is a path", refusal.Signature, pushWithToken(func(fx *fixture) string {
		return fx.google.Sign(map[string]any{"alg": "RS256", "kid": "../../etc/passwd"}, fx.google.Claims(pusher, audience))
	})},
	{"another issuer", refusal.Claims, pushWithClaims(claim("iss", "https://evil.example"))},
	{"an issuer that begins like Google's", refusal.Claims, pushWithClaims(claim("iss", "https://accounts.google.com.evil.example"))},
	{"no issuer", refusal.Claims, pushWithClaims(claim("iss", nil))},
	{"another audience", refusal.Claims, pushWithClaims(claim("aud", "https://other.example/events/gcp"))},
	{"an audience that begins like ours", refusal.Claims, pushWithClaims(claim("aud", audience+"/x"))},
	{"two audiences", refusal.Claims, pushWithClaims(claim("aud", []string{audience, "https://other.example"}))},
	{"no audience", refusal.Claims, pushWithClaims(claim("aud", nil))},
	{"another service account", refusal.Unknown, pushWithClaims(claim("email", "someone@shop-prod-1.iam.gserviceaccount.com"))},
	{"service account of our name in another project", refusal.Claims, pushWithClaims(claim("email", "vigil-push-abcdefabcdef@evil-project.iam.gserviceaccount.com"))},
	{"service account of an unknown stream", refusal.Unknown, pushWithClaims(claim("email", "vigil-push-zzzzzzzzzzzz@shop-prod-1.iam.gserviceaccount.com"))},
	{"service account with the handle of an AWS stream", refusal.Unknown, pushWithClaims(claim("email", "vigil-push-awshandle123@shop-prod-1.iam.gserviceaccount.com"))},
	{"service account of another project's stream", refusal.Foreign, pushWithClaims(claim("email", "vigil-push-otherhandle1@other-project.iam.gserviceaccount.com"))},
	{"a person's address", refusal.Claims, pushWithClaims(claim("email", "vigil-push-abcdefabcdef@gmail.com"))},
	{"no address", refusal.Unknown, pushWithClaims(claim("email", nil))},
	{"an address that is not verified", refusal.Claims, pushWithClaims(claim("email_verified", false))},
	{"an address without the claim that it is verified", refusal.Claims, pushWithClaims(claim("email_verified", nil))},
	{"expired", refusal.Stale, pushWithClaims(claim("iat", now.Add(-2*time.Hour).Unix()), claim("exp", now.Add(-2*time.Minute).Unix()))},
	{"not yet valid", refusal.Stale, pushWithClaims(claim("nbf", now.Add(10*time.Minute).Unix()))},
	{"of the future", refusal.Stale, pushWithClaims(claim("iat", now.Add(10*time.Minute).Unix()), claim("exp", now.Add(time.Hour).Unix()))},
	{"without an end", refusal.Claims, pushWithClaims(claim("exp", nil))},
	{"without a beginning", refusal.Claims, pushWithClaims(claim("iat", nil))},
	{"for years", refusal.Claims, pushWithClaims(claim("exp", now.AddDate(5, 0, 0).Unix()))},
	{"another subscription", refusal.Foreign, pushWithBody(func(p *events.Push) { p.Subscription = "projects/shop-prod-1/subscriptions/other" })},
	{"subscription of another project", refusal.Foreign, pushWithBody(func(p *events.Push) { p.Subscription = strings.Replace(subscription, project, "other-project", 1) })},
	{"no subscription", refusal.Foreign, pushWithBody(func(p *events.Push) { p.Subscription = "" })},
	{"log of another project", refusal.Foreign, pushWithBody(func(p *events.Push) {
		p.Message.Data = []byte(strings.ReplaceAll(string(firewall), "projects/shop-prod-1/logs", "projects/other-project/logs"))
	})},
	{"log of an organisation", refusal.Foreign, pushWithBody(func(p *events.Push) {
		p.Message.Data = []byte(strings.ReplaceAll(string(firewall), "projects/shop-prod-1/logs", "organizations/1/logs"))
	})},
	{"label of another project", refusal.Foreign, pushWithBody(func(p *events.Push) {
		p.Message.Data = []byte(strings.ReplaceAll(string(firewall), `"project_id":"shop-prod-1"`, `"project_id":"other-project"`))
	})},
	{"message without an id", refusal.Malformed, pushWithBody(func(p *events.Push) { p.Message.MessageID = "" })},
	{"message without a time", refusal.Stale, pushWithBody(func(p *events.Push) { p.Message.PublishTime = time.Time{} })},
	{"message of the future", refusal.Stale, pushWithBody(func(p *events.Push) { p.Message.PublishTime = now.Add(time.Hour) })},
	{"garbage", refusal.Malformed, func(fx *fixture) (http.Header, []byte) { return bearer(fx.token()), []byte("garbage") }},
	{"nothing", refusal.Malformed, func(fx *fixture) (http.Header, []byte) { return bearer(fx.token()), nil }},
}

func TestForgeriesAreRefused(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	seen := map[string]bool{}
	for _, f := range forgeries {
		if seen[f.name] {
			t.Errorf("%s is in the list twice", f.name)
		}
		seen[f.name] = true
		h, body := f.request(fx)
		d, err := fx.verifier.Verify(t.Context(), h, body)
		if err == nil {
			t.Errorf("%s: accepted: %+v", f.name, d)
			continue
		}
		for cause := err; cause != nil; cause = errors.Unwrap(cause) {
			if strings.Contains(cause.Error(), "%!") {
				t.Errorf("%s: badly formatted error %q", f.name, cause)
			}
		}
		streamtest.CheckRefusal(t, f.name, err, f.reason)
	}
	if len(seen) < 30 {
		t.Errorf("only %d forgeries", len(seen))
	}
}

func TestForgeriesCauseFewCalls(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	for range 50 {
		_, err := fx.verifier.Verify(t.Context(), bearer(fx.other.Token(fx.google.Claims("vigil-push-unknown@x.iam.gserviceaccount.com", audience))), nil)
		if err == nil {
			t.Fatal("a forgery was accepted")
		}
	}
	if got := fx.internet.Calls.Load(); got != 0 {
		t.Errorf("%d calls for tokens of an unknown stream, want none", got)
	}
	for range 50 {
		if _, err := fx.verifier.Verify(t.Context(), bearer(fx.other.Token(fx.google.Claims(pusher, audience))), nil); err == nil {
			t.Fatal("a forgery was accepted")
		}
	}
	if got := fx.internet.Calls.Load(); got != 1 {
		t.Errorf("%d calls for tokens with one unknown key, want one", got)
	}
}

func TestMessagesAreNotRefusedWhileTheKeysCannotBeFetched(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	fx.internet.Hosts = nil
	h, body := bearer(fx.token()), fx.push(firewall)
	for n := range 2 { // the second message arrives before the next fetch
		_, err := fx.verifier.Verify(t.Context(), h, body)
		if !fault.Is(err, fault.Unavailable) || refusal.ReasonOf(err) != "" {
			t.Errorf("message %d: %v, want that the keys are unavailable", n+1, err)
		}
	}
	if got := fx.internet.Calls.Load(); got != 1 {
		t.Errorf("%d fetches, want one", got)
	}
}

func FuzzVerify(f *testing.F) {
	fx := newFixture(f)
	f.Add(fx.token(), fx.push(firewall))
	f.Add(fx.token(), fx.google.Push(subscription, []byte("{}"), map[string]string{"eventStreamStatus": "connected"}).Body())
	f.Add("a.b.c", []byte(`{"message":{"data":"e30=","messageId":"1"},"subscription":"`+subscription+`"}`))
	valid := fx.token()
	f.Fuzz(func(t *testing.T, token string, body []byte) {
		if d, err := fx.verifier.Verify(t.Context(), bearer(token), body); err == nil && d.Stream.Handle != handle {
			t.Fatalf("accepted for another stream: %+v", d)
		}
		d, err := fx.verifier.Verify(t.Context(), bearer(valid), body)
		if err == nil && (len(d.Messages) != 1 || d.Messages[0].ID == "" || d.Messages[0].Time.IsZero()) {
			t.Fatalf("accepted without one message with an id and a time: %+v", d)
		}
	})
}
