package estate_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/sim/estate"
)

// TestPeersHaveTheStoreOfTheProductFromTheStart asks the peers for their health as soon as they
// know the address of the product, before their next periodic read of its health.
func TestPeersHaveTheStoreOfTheProductFromTheStart(t *testing.T) {
	t.Parallel()
	want := desktop.PeerHealth{Version: "1", Build: "2", Revision: desktop.Revision{Store: "shared", Number: 3, At: 4}}
	product := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(want) }))
	t.Cleanup(product.Close)
	e := start(t, estate.Small())
	if _, err := e.WriteInventory(product.URL); err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Peers {
		status, got := health(t, e, p)
		if status != http.StatusOK || got.Revision != want.Revision || got.Version != want.Version {
			t.Errorf("%s answers %d with the version %q and the revision %+v, want those of the product: %q, %+v",
				p.Name, status, got.Version, got.Revision, want.Version, want.Revision)
		}
	}
}

func TestPeersWithoutAStoreDoNotPretendToHaveOne(t *testing.T) {
	t.Parallel()
	product := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(product.Close)
	e := start(t, estate.Small())
	if _, err := e.WriteInventory(product.URL); err != nil {
		t.Fatal(err)
	}
	if status, _ := health(t, e, e.Peers[0]); status != http.StatusServiceUnavailable {
		t.Errorf("a peer that cannot read the product answers %d, want 503", status)
	}
}

// health reads the health of a connection server, like the product.
func health(t *testing.T, e *estate.Estate, p *estate.Peer) (status int, h desktop.PeerHealth) {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(filepath.Dir(e.InventoryFile()), "peer-token"))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL()+desktop.HealthPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		if err := json.NewDecoder(response.Body).Decode(&h); err != nil {
			t.Fatal(err)
		}
	}
	return response.StatusCode, h
}

// TestPeersHaveDifferentNumbersOfSessions compares the 19 peers of a product with 20 connection
// servers.
func TestPeersHaveDifferentNumbersOfSessions(t *testing.T) {
	t.Parallel()
	product := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(desktop.PeerHealth{Version: "1"})
	}))
	t.Cleanup(product.Close)
	now := time.Now() // a fixed time, because the numbers change every minute
	e, err := estate.New(estate.Options{Dir: t.TempDir(), Size: estate.Size{ConnectionServers: 20, Farms: 1, RDSServers: 1, Gateways: 1, Pods: 1}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := e.WriteInventory(product.URL); err != nil {
		t.Fatal(err)
	}
	seen := map[int]string{}
	for _, p := range e.Peers {
		_, got := health(t, e, p)
		if other := seen[got.ConnectionCount]; other != "" || got.ConnectionCount < 3 {
			t.Errorf("%s has %d sessions, like %q", p.Name, got.ConnectionCount, other)
		}
		seen[got.ConnectionCount] = p.Name
	}
}
