// Package dex logs in at the identity provider dex with package sso.
package dex

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/server/signer"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	dexweb "github.com/dexidp/dex/web"

	"vigil/internal/auth/sso"
	"vigil/internal/secret"
)

type plainSealer struct{}

func (plainSealer) Seal(_ context.Context, _ secret.Cell, plain []byte) ([]byte, error) {
	return plain, nil
}
func (plainSealer) Open(_ context.Context, _ secret.Cell, plain []byte) ([]byte, error) {
	return plain, nil
}

// callback is the URL at which dex returns the browser to Vigil. Nothing listens there: the test
// reads the redirect.
const callback = "http://127.0.0.1:1/console/sso/callback"

// newDex serves dex with its mock connector, whose user is kilgore@kilgore.trout in the group authors.
func newDex(t *testing.T) string {
	t.Helper()
	var handler http.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	log := slog.New(slog.DiscardHandler)
	store := memory.New(log)
	for _, err := range []error{
		store.CreateClient(t.Context(), storage.Client{ID: "vigil", Secret: "s3cret", RedirectURIs: []string{callback}, Name: "Vigil"}),
		store.CreateConnector(t.Context(), storage.Connector{ID: "mock", Type: "mockCallback", Name: "Mock"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	keys, err := (&signer.LocalConfig{KeysRotationPeriod: "6h"}).Open(t.Context(), store, time.Hour, time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	d, err := server.NewServer(t.Context(), server.Config{
		Issuer: s.URL, Storage: store, SkipApprovalScreen: true, Signer: keys, Logger: log, IDTokensValidFor: time.Hour,
		Web: server.WebConfig{WebFS: dexweb.FS()}, AllowedGrantTypes: []string{"authorization_code"},
	})
	if err != nil {
		t.Fatal(err)
	}
	handler = d
	return s.URL
}

func TestLoginAtDex(t *testing.T) {
	issuer := newDex(t)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := sso.NewClient("", "")
	if err != nil {
		t.Fatal(err)
	}
	p := sso.New(sso.Options{
		Issuer: issuer, ClientID: "vigil", Secret: "file:" + file, Scopes: []string{"openid", "profile", "email", "groups"}, GroupsClaim: "groups",
		RedirectURL: func() string { return callback }, HTTP: client, Sealer: plainSealer{}, Now: time.Now,
	})
	address, cookie, err := p.Start(t.Context(), "/console/findings")
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), callback) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	to, err := res.Location()
	if err != nil {
		t.Fatalf("dex answers %d at %s instead of a redirect to the callback", res.StatusCode, res.Request.URL)
	}
	got, err := p.Finish(t.Context(), cookie, to.Query())
	if err != nil || got.Issuer != issuer || got.Subject == "" || got.Email != "kilgore@kilgore.trout" || !slices.Contains(got.Groups, "authors") || got.Return != "/console/findings" {
		t.Fatalf("log in as kilgore@kilgore.trout: got %+v, %v", got, err)
	}
	if _, err := p.Finish(t.Context(), cookie, to.Query()); sso.ReasonOf(err) != sso.Invalid {
		t.Errorf("a code is accepted twice: %v", err)
	}
}
