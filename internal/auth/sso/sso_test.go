package sso_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"vigil/internal/auth/sso"
	"vigil/internal/secret"
	"vigil/internal/sim/idp"
)

// plainSealer does not encrypt; it only refuses to open values of other cells.
type plainSealer struct{}

func (plainSealer) Seal(_ context.Context, c secret.Cell, plaintext []byte) ([]byte, error) {
	return append([]byte(c.Table+c.Field+"\x00"), plaintext...), nil
}

func (plainSealer) Open(_ context.Context, c secret.Cell, sealed []byte) ([]byte, error) {
	plain, ok := strings.CutPrefix(string(sealed), c.Table+c.Field+"\x00")
	if !ok {
		return nil, secret.ErrOpen
	}
	return []byte(plain), nil
}

const callback = "https://vigil.example/console/sso/callback"

var ann = idp.User{Subject: "ann-1", Name: "ann", Email: "ann@example.com", Groups: []string{"staff", "cloud admins"}}

// A fixture is a provider and its client.
type fixture struct {
	t      *testing.T
	idp    *idp.Provider
	server *httptest.Server
	client *sso.Provider
	now    time.Time
}

func newFixture(t *testing.T, change func(*idp.Options, *sso.Options)) *fixture {
	t.Helper()
	o := idp.Options{ClientID: "vigil", ClientSecret: "s3cret", RedirectURL: func() string { return callback }, Users: []idp.User{ann}}
	f := &fixture{t: t, now: time.Now()}
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mine := sso.Options{
		ClientID: "vigil", Secret: "file:" + file, Scopes: []string{"email"}, GroupsClaim: "groups",
		RedirectURL: func() string { return callback }, Sealer: plainSealer{}, Now: func() time.Time { return f.now },
	}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.idp.ServeHTTP(w, r) }))
	t.Cleanup(f.server.Close)
	o.Issuer, mine.Issuer = f.server.URL, f.server.URL
	var err error
	if mine.HTTP, err = sso.NewClient("", ""); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&o, &mine)
	}
	if f.idp, err = idp.New(o); err != nil {
		t.Fatal(err)
	}
	f.client = sso.New(mine)
	return f
}

// answer lets a user log in at the provider, and returns the parameters of its
// response.
func (f *fixture) answer(address, user string) url.Values {
	f.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(address + "&user=" + user)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	to, err := res.Location()
	if err != nil || !strings.HasPrefix(to.String(), callback+"?") {
		f.t.Fatalf("the provider answers %d, %v, %v", res.StatusCode, to, err)
	}
	return to.Query()
}

// begin starts a login and lets ann log in.
func (f *fixture) begin() (cookie string, query url.Values) {
	f.t.Helper()
	address, cookie, err := f.client.Start(f.t.Context(), "/console/findings?level=High")
	if err != nil {
		f.t.Fatal(err)
	}
	return cookie, f.answer(address, ann.Subject)
}

func (f *fixture) fails(want sso.Reason, cause, cookie string, query url.Values) {
	f.t.Helper()
	login, err := f.client.Finish(f.t.Context(), cookie, query)
	if err == nil || sso.ReasonOf(err) != want || !strings.Contains(err.Error(), cause) {
		f.t.Errorf("%+v, %v; want %s: %s", login, err, want, cause)
	}
	if err != nil && strings.Contains(err.Error(), "s3cret") {
		f.t.Errorf("the error contains the client secret: %v", err)
	}
}

func TestLoginReturnsTheUserAndGroups(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	cookie, query := f.begin()
	got, err := f.client.Finish(t.Context(), cookie, query)
	if err != nil || got.Subject != "ann-1" || got.Name != "ann" || got.Email != "ann@example.com" || got.Issuer != f.server.URL ||
		!slices.Equal(got.Groups, ann.Groups) || got.Return != "/console/findings?level=High" {
		t.Errorf("Finish = %+v, %v; want the login of ann", got, err)
	}
}

func TestGroupsAreReadFromUserInformationWhereTheIDTokenHasNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *idp.Options, _ *sso.Options) { o.UserInfoOnly = true })
	cookie, query := f.begin()
	if got, err := f.client.Finish(t.Context(), cookie, query); err != nil || !slices.Equal(got.Groups, ann.Groups) {
		t.Errorf("Finish = %+v, %v; want the groups %q", got, err, ann.Groups)
	}
}

func TestFailuresOfUserInformationAreDistinguished(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // if this fails, the client reports it
		}
	}
	for name, c := range map[string]struct {
		reason sso.Reason
		cause  string
		handle http.HandlerFunc
	}{
		"no answer":      {sso.Unavailable, "did not answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"a failure":      {sso.Unavailable, "answered with status 503", answer(503, "down")},
		"too many calls": {sso.Unavailable, "answered with status 429", answer(429, "")},
		// The body must not be in the error; see fails.
		"a refusal":      {sso.Misconfigured, `answered with status 403; permit the client to read it there, or add the claim "groups" to the ID token`, answer(403, "s3cret")},
		"a redirect":     {sso.Misconfigured, "answered with status 302", answer(302, "")},
		"a page":         {sso.Invalid, "cannot be read", answer(200, "<html>")},
		"a list":         {sso.Invalid, "cannot be read", answer(200, "[]")},
		"part of a body": {sso.Invalid, "cannot be read", answer(200, `{"sub": "ann-1", "groups": [`)},
		"too long":       {sso.Invalid, "cannot be read", answer(200, `{"sub": "ann-1", "x": "`+strings.Repeat("x", 1<<20)+`"}`)},
		"a lost connection": {sso.Unavailable, "was interrupted", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			_, _ = io.WriteString(w, `{"sub": "ann-1", `)
		}},
		"no subject":      {sso.Invalid, "no subject", answer(200, `{"groups": ["cloud admins"]}`)},
		"another subject": {sso.Invalid, "another subject", answer(200, `{"sub": "bob-1", "groups": ["cloud admins"]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(o *idp.Options, _ *sso.Options) { o.UserInfoOnly = true })
			provider := f.server.Config.Handler
			f.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/userinfo" {
					c.handle(w, r)
					return
				}
				provider.ServeHTTP(w, r)
			})
			cookie, query := f.begin()
			f.fails(c.reason, c.cause, cookie, query)
		})
	}
}

func TestResponsesOfOtherBrowsersAndReplaysAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	cookie, query := f.begin()
	other, _ := f.begin()
	f.fails(sso.Expired, "no cookie", "", query)
	f.fails(sso.Expired, "state", other, query)
	f.fails(sso.Expired, "cookie", "!", query)
	f.fails(sso.Expired, "cookie", base64.RawURLEncoding.EncodeToString([]byte("cursor\x00{}")), query) // sealed for another cell
	changed := url.Values{"code": query["code"], "state": query["state"], "iss": {"https://attacker.example"}}
	f.fails(sso.Invalid, "another issuer", cookie, changed)
	f.fails(sso.Invalid, "no code", cookie, url.Values{"state": query["state"]})
	f.fails(sso.Denied, "access_denied", cookie, url.Values{"state": query["state"], "error": {"access_denied"}})
	if _, err := f.client.Finish(t.Context(), cookie, query); err != nil {
		t.Fatal(err)
	}
	f.fails(sso.Invalid, "invalid_grant", cookie, query) // the code was used
	cookie, query = f.begin()
	f.now = f.now.Add(sso.AttemptLife)
	f.fails(sso.Expired, "too long", cookie, query)
}

func TestCodeOfAnotherLoginIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	cookie, query := f.begin()
	_, attacker := f.begin() // the attacker's code with the victim's state: PKCE and the nonce differ
	f.fails(sso.Invalid, "invalid_grant", cookie, url.Values{"state": query["state"], "code": attacker["code"]})
}

func TestForgedIDTokensAreRefused(t *testing.T) {
	t.Parallel()
	foreign, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	claim := func(name string, value any) func(*idp.Options, *sso.Options) {
		return func(o *idp.Options, _ *sso.Options) {
			o.Tamper = func(claims map[string]any) { claims[name] = value }
		}
	}
	sign := func(alg jose.SignatureAlgorithm, key any) func(*idp.Options, *sso.Options) {
		return func(o *idp.Options, _ *sso.Options) {
			o.Sign = func(payload []byte) string {
				s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil)
				if err != nil {
					panic(err)
				}
				signed, err := s.Sign(payload)
				if err != nil {
					panic(err)
				}
				text, err := signed.CompactSerialize()
				if err != nil {
					panic(err)
				}
				return text
			}
		}
	}
	for name, c := range map[string]struct {
		cause  string
		change func(*idp.Options, *sso.Options)
	}{
		"another nonce":            {"nonce", claim("nonce", "other")},
		"no nonce":                 {"nonce", claim("nonce", "")},
		"another audience":         {"audience", claim("aud", "other")},
		"several audiences":        {"another client", claim("aud", []string{"vigil", "other"})},
		"another party":            {"another client", claim("azp", "other")},
		"expired":                  {"expired", claim("exp", time.Now().Add(-time.Minute).Unix())},
		"not yet valid":            {"nbf", claim("nbf", time.Now().Add(time.Hour).Unix())},
		"another issuer":           {"issued by a different provider", claim("iss", "https://attacker.example")},
		"no subject":               {"subject", claim("sub", "")},
		"another access hash":      {"access token hash", claim("at_hash", "AAAA")},
		"the client secret as key": {"signature algorithm", sign(jose.HS256, []byte(strings.Repeat("s3cret", 8)))}, // repeated, because HS256 needs 32 bytes
		"another key":              {"failed to verify", sign(jose.ES256, foreign)},
		"another key, same id":     {"failed to verify", sign(jose.ES256, jose.JSONWebKey{Key: foreign, KeyID: "1"})},
		"algorithm none": {"malformed jwt", func(o *idp.Options, _ *sso.Options) {
			o.Sign = func(payload []byte) string {
				return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
			}
		}},
		"not a token": {"malformed jwt", func(o *idp.Options, _ *sso.Options) { o.Sign = func([]byte) string { return "x" } }},
		"no token":    {"no ID token", func(o *idp.Options, _ *sso.Options) { o.Sign = func([]byte) string { return "" } }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, c.change)
			cookie, query := f.begin()
			f.fails(sso.Invalid, c.cause, cookie, query)
		})
	}
}

func TestUnreachableProviderIsReportedAndTriedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	var down atomic.Bool
	f.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		f.idp.ServeHTTP(w, r)
	})
	down.Store(true)
	if _, _, err := f.client.Start(t.Context(), ""); sso.ReasonOf(err) != sso.Unavailable {
		t.Fatalf("Start while the provider is down: %v, want %s", err, sso.Unavailable)
	}
	down.Store(false)
	if _, _, err := f.client.Start(t.Context(), ""); sso.ReasonOf(err) != sso.Unavailable {
		t.Errorf("a failure is not remembered: %v", err)
	}
	f.now = f.now.Add(6 * time.Second)
	cookie, query := f.begin()
	down.Store(true)
	f.fails(sso.Unavailable, "did not answer", cookie, query)
	down.Store(false)
	f.now = f.now.Add(2 * time.Hour) // the metadata have expired; if reading fails, the old ones are used
	down.Store(true)
	if _, _, err := f.client.Start(t.Context(), ""); err != nil {
		t.Error(err)
	}
}

func TestWrongIssuerAndClientSecretAreReported(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *idp.Options, _ *sso.Options) { o.Issuer = "https://attacker.example" })
	if _, _, err := f.client.Start(t.Context(), ""); sso.ReasonOf(err) != sso.Unavailable || !strings.Contains(err.Error(), "issuer") {
		t.Errorf("Start with another issuer: %v, want %s", err, sso.Unavailable)
	}
	f = newFixture(t, func(o *idp.Options, _ *sso.Options) { o.ClientSecret = "changed" })
	cookie, query := f.begin()
	f.fails(sso.Misconfigured, "invalid_client", cookie, query)
	f = newFixture(t, func(_ *idp.Options, o *sso.Options) { o.Secret = "file:/does/not/exist" })
	if _, _, err := f.client.Start(t.Context(), ""); sso.ReasonOf(err) != sso.Misconfigured {
		t.Errorf("Start without the file of the client secret: %v, want %s", err, sso.Misconfigured)
	}
}

func TestErrorOfTheConnectionToTheTokenEndpointIsReported(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	cookie, query := f.begin()
	f.server.Close()
	f.fails(sso.Unavailable, `: Post "`+f.server.URL+`/token": `, cookie, query) // then EOF or "connection refused"
}

func TestReturnsOnlyToPagesOfTheConsole(t *testing.T) {
	t.Parallel()
	for _, valid := range []string{"/console/", "/console/findings?level=High&account=a%2Fb", "/console/rules/x#top"} {
		if got := sso.SafeReturn(valid); got != valid {
			t.Errorf("%s becomes %s", valid, got)
		}
	}
	for _, bad := range []string{
		"", "/", "//evil.example", "https://evil.example/console/", "/console/../v1", "/console//evil.example", `/console/\evil.example`,
		`\\evil.example`, "/console/\nx", "/console/sso/start", "/console/open?ticket=x", "console/", "javascript:alert(1)", "/consoles/",
		"/console/%2e%2e/x", "/console/?" + strings.Repeat("a", 2000), "//evil.example/console/", "http:/console/", "/console/ x",
	} {
		if got := sso.SafeReturn(bad); got != "/console/" {
			t.Errorf("%q becomes %q", bad, got)
		}
	}
}
