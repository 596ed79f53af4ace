package app_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/apidoc"
	"vigil/internal/apidoc/apitest"
	"vigil/internal/desktop"
	"vigil/internal/desktop/api"
	"vigil/internal/docsite"
	"vigil/internal/sim/estate"
	"vigil/web"
)

// expect sends a request and fails the test unless the response has the wanted
// status.
func (f *fixture) expect(status int, method, path, token string, body any) answer {
	f.Helper()
	a := f.call(method, path, token, body)
	if a.status != status {
		f.Errorf("%s %s: %d, want %d: %.300s", method, path, a.status, status, a.body)
	}
	return a
}

func idOf(t *testing.T, a answer) string {
	t.Helper()
	var v struct {
		ID string `json:"id"`
	}
	a.decode(t, &v)
	return v.ID
}

func TestInstantCloneAccounts(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	const path = "/rest/config/v1/ic-domain-accounts"
	var domains []desktop.DomainInfo
	w.until("the SIDs of all domains are known", func() bool {
		w.expect(200, "GET", "/rest/external/v1/ad-domains", token, nil).decode(t, &domains)
		return len(domains) == 4
	})
	sid := domains[0].ID
	spec := object{"ad_domain_id": sid, "username": w.estate.Admin.Username, "password": []string{w.estate.Admin.Password}}
	created := w.expect(201, "POST", path, token, spec)
	id := idOf(t, created)
	if got := created.header.Get("Location"); got != path+"/"+id {
		t.Errorf("Location %q, want %q", got, path+"/"+id)
	}
	w.expect(200, "GET", path+"/"+id, token, nil)
	// The case of a name is ignored.
	w.expect(409, "POST", path, token, object{"ad_domain_id": sid, "username": strings.ToUpper(w.estate.Admin.Username), "password": "x"})
	refused := w.expect(400, "POST", path, token, object{"ad_domain_id": sid, "username": "clone", "password": "wrong"})
	if !strings.Contains(string(refused.body), "wrong password") {
		t.Errorf("the reason is missing: %s", refused.body)
	}
	// An unknown domain is refused.
	w.expect(400, "POST", path, token, object{"ad_domain_id": "S-1-5-21-9", "username": "clone", "password": "x"})
	other := idOf(t, w.expect(201, "POST", path+"?verify=false", token, object{"ad_domain_id": sid, "username": "clone", "password": "x"}))
	w.expect(400, "PUT", path+"/"+id, token, object{"password": "wrong"})
	w.expect(204, "PUT", path+"/"+id, token, object{"password": w.estate.Admin.Password})
	w.expect(204, "PUT", path+"/"+other+"?verify=false", token, object{"password": []string{"n", "e", "w"}})
	w.expect(404, "PUT", path+"/11111111-1111-4111-8111-111111111111", token, object{"password": "x"})
	w.expect(400, "DELETE", path+"/nonsense", token, nil) // only DELETE checks that the id is a UUID
	w.expect(204, "DELETE", path+"/"+other, token, nil)
	w.expect(404, "DELETE", path+"/"+other, token, nil)
	w.expect(404, "GET", path+"/nonsense", token, nil)
	var remaining []struct {
		ID string `json:"id"`
	}
	w.expect(200, "GET", path, token, nil).decode(t, &remaining)
	if len(remaining) != 1 || remaining[0].ID != id {
		t.Errorf("accounts left: %v, want only %s", remaining, id)
	}
}

func TestVerifyingAccountsCannotLockThem(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	w.until("the SID of a domain is known", func() bool { return len(w.app.Board().Domains()) > 0 })
	domain := w.app.Board().Domains()[0].ID
	statuses := map[int]int{}
	for range 15 {
		a := w.call("POST", "/rest/config/v1/ic-domain-accounts", token, object{"ad_domain_id": domain, "username": "reader", "password": "wrong"})
		statuses[a.status]++
	}
	// The directory locks an account after ten failures. The server passes on six
	// attempts at once, and one or two more over time.
	if w.estate.Domains[0].Locked("reader") || statuses[400] < 6 || statuses[400] > 8 || statuses[400]+statuses[429] != 15 {
		t.Errorf("locked %v, statuses %v; want not locked, 400 for 6 to 8 attempts, 429 for the rest", w.estate.Domains[0].Locked("reader"), statuses)
	}
}

func TestMonitoringKeysMayOnlyRead(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	const path = "/rest/config/v1/monitoring-keys"
	created := w.expect(201, "POST", path, token, object{"name": "grafana"})
	var key struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	created.decode(t, &key)
	w.expect(200, "GET", "/rest/monitor/rds-servers", key.Key, nil)
	w.expect(200, "GET", "/rest/external/v1/ad-domains", key.Key, nil)
	w.expect(200, "GET", "/rest/monitor/history", key.Key, nil)
	w.expect(403, "GET", "/rest/config/v1/ic-domain-accounts", key.Key, nil)
	w.expect(403, "POST", path, key.Key, object{"name": "another"})
	if listed := w.expect(200, "GET", path, token, nil); strings.Contains(string(listed.body), key.Key) {
		t.Error("a key is shown a second time")
	}
	request, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key.Key)
	response, err := w.anonymous.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || !strings.Contains(string(text), `vigil_desktop_status{`) {
		t.Errorf("metrics: %d %.200s, %v", response.StatusCode, text, err)
	}
	w.expect(400, "POST", path, token, object{"name": ""})
	w.expect(400, "POST", path, token, object{"name": "x", "expires_at": 1})
	w.expect(204, "DELETE", path+"/"+key.ID, token, nil)
	w.expect(404, "DELETE", path+"/"+key.ID, token, nil)
	w.expect(401, "GET", "/rest/monitor/rds-servers", key.Key, nil)
}

func TestMonitoringKeysExpireAndAreLimitedToAddresses(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), fewProbes: true})
	token := w.login().Access
	const path = "/rest/config/v1/monitoring-keys"
	type key struct {
		Key         string   `json:"key"`
		ExpiresAt   int64    `json:"expires_at"`
		LastAddress string   `json:"last_used_address"`
		Addresses   []string `json:"addresses"`
	}
	var ownKey, foreignKey key
	w.expect(201, "POST", path, token, object{"name": "here", "addresses": []string{"127.0.0.0/8"}}).decode(t, &ownKey)
	w.expect(201, "POST", path, token, object{"name": "elsewhere", "addresses": []string{"192.0.2.1"}}).decode(t, &foreignKey)
	if lifetime := time.Until(time.UnixMilli(ownKey.ExpiresAt)); lifetime < 89*24*time.Hour || lifetime > 90*24*time.Hour {
		t.Errorf("a key without a requested expiry expires in %s, want 90 days", lifetime)
	}
	w.expect(401, "GET", "/rest/monitor/farms", foreignKey.Key, nil)
	for range 2 { // the server has cached the key when the second request comes
		w.expect(200, "GET", "/rest/monitor/farms", ownKey.Key, nil)
	}
	w.expect(400, "POST", path, token, object{"name": "x", "addresses": []string{"nowhere"}})
	var all []key
	w.expect(200, "GET", path, token, nil).decode(t, &all)
	i := slices.IndexFunc(all, func(k key) bool { return k.LastAddress != "" })
	if len(all) != 2 || i < 0 || all[i].LastAddress != "127.0.0.1" || !slices.Equal(all[i].Addresses, []string{"127.0.0.0/8"}) {
		t.Errorf("listed as %+v", all)
	}
}

func TestHistoryListsChanges(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	token := w.login().Access
	w.status(desktop.KindPod, "pod-1", "cs1.pod1.example", "ONLINE")
	begin("pod-down")(w)
	w.status(desktop.KindPod, "pod-1", "cs1.pod1.example", "OFFLINE")
	end("pod-down")(w)
	w.status(desktop.KindPod, "pod-1", "cs1.pod1.example", "ONLINE")
	var page struct {
		Changes []struct {
			Part string `json:"part"`
			From string `json:"from_status"`
			To   string `json:"to_status"`
		} `json:"changes"`
		Next string `json:"next_cursor"`
	}
	w.until("the history has the changes", func() bool {
		w.expect(200, "GET", "/rest/monitor/history?kind=pod&limit=1000", token, nil).decode(t, &page)
		// The newest comes first. On a busy machine a check may time out and add
		// further changes, but none may be missing: each change must lead to the
		// status from which the next newer one starts.
		expected, newerFrom := []string{"UNCHECKED>ONLINE", "OFFLINE>UNCHECKED", "ONLINE>OFFLINE"}, ""
		for _, c := range page.Changes {
			if c.Part != "cs1.pod1.example" {
				continue
			}
			if newerFrom != "" && c.To != newerFrom {
				t.Fatalf("the part became %s, but the next change starts from %s: %+v", c.To, newerFrom, page.Changes)
			}
			newerFrom = c.From
			if len(expected) > 0 && c.From+">"+c.To == expected[0] {
				expected = expected[1:]
			}
		}
		return len(expected) == 0
	})
	w.expect(200, "GET", "/rest/monitor/history?limit=1", token, nil).decode(t, &page)
	if len(page.Changes) != 1 || page.Next == "" {
		t.Errorf("a page of one: %+v", page)
	}
	w.expect(200, "GET", "/rest/monitor/history?limit=1&cursor="+page.Next, token, nil)
	for _, bad := range []string{"kind=x", "limit=1001", "limit=x", "cursor=x", "since=-1", "until=x"} {
		w.expect(400, "GET", "/rest/monitor/history?"+bad, token, nil)
	}
}

func TestAlertsReachTheirWebhook(t *testing.T) {
	t.Parallel()
	received := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p struct {
			Type string `json:"type"`
		}
		_ = json.NewDecoder(r.Body).Decode(&p)
		received <- p.Type + " " + r.Header.Get("X-Vigil-Signature")[:2]
	}))
	defer hook.Close()
	w := start(t, options{size: estate.Small()})
	token := w.login().Access
	w.status(desktop.KindComposer, "composer1.corp.example", self, "OK")
	const path = "/rest/config/v1/alert-rules"
	spec := object{
		"name": "composers", "condition": object{"type": "status", "kind": "COMPOSER", "statuses": []string{"ERROR"}},
		"channels": []object{{"type": "WEBHOOK", "url": hook.URL, "secret": "hush"}},
	}
	created := w.expect(201, "POST", path, token, spec)
	id := idOf(t, created)
	if strings.Contains(string(created.body), "hush") || !strings.Contains(string(created.body), `"signed":true`) {
		t.Errorf("the created rule is %s, want it signed, without its secret", created.body)
	}
	begin("composer-down")(w)
	if got := <-received; got != "alert.firing t=" {
		t.Errorf("received %q", got)
	}
	w.until("the alert is listed", func() bool {
		return strings.Contains(string(w.expect(200, "GET", "/rest/monitor/alerts", token, nil).body), "FIRING")
	})
	end("composer-down")(w)
	if got := <-received; got != "alert.resolved t=" {
		t.Errorf("received %q", got)
	}
	w.expect(200, "POST", path+"/"+id+"/test", token, nil)
	<-received
	spec["channels"] = []object{{"type": "WEBHOOK", "url": hook.URL}}
	if updated := w.expect(200, "PUT", path+"/"+id, token, spec); !strings.Contains(string(updated.body), `"signed":true`) {
		t.Errorf("the secret was lost: %s", updated.body)
	}
	w.expect(400, "PUT", path+"/"+id, token, object{"name": "x", "condition": object{"type": "COUNT"}, "channels": []object{}})
	for _, seconds := range []object{
		{"for_seconds": 86_401}, {"for_seconds": 18_446_744_074}, {"for_seconds": -18_446_744_073}, // the last two, converted to nanoseconds, overflow to 0.29 s and 0.71 s
		{"repeat_seconds": 31_536_001}, {"repeat_seconds": 18_446_744_074 + 60},
	} {
		bad := maps.Clone(spec)
		maps.Copy(bad, seconds)
		w.expect(400, "PUT", path+"/"+id, token, bad)
	}
	w.expect(200, "GET", path+"/"+id, token, nil)
	w.expect(200, "GET", path, token, nil)
	w.expect(204, "DELETE", path+"/"+id, token, nil)
	w.expect(404, "GET", path+"/"+id, token, nil)
}

func TestEnrolmentByAPI(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), join: true})
	token := w.login().Access
	gateway := string(w.estate.Gateways[0].ID())
	const tokens, agents = "/rest/config/v1/enrollment-tokens", "/rest/config/v1/agents"
	created := w.expect(201, "POST", tokens, token, object{"kind": "GATEWAY", "component_id": gateway, "expires_in_seconds": 60})
	id := idOf(t, created)
	w.expect(400, "POST", tokens, token, object{"kind": "GATEWAY", "component_id": "nothing"})
	w.expect(400, "POST", tokens, token, object{"kind": "FARM", "component_id": gateway})
	if listed := w.expect(200, "GET", tokens, token, nil); strings.Contains(string(listed.body), "vigil_enrol_") {
		t.Error("a token is shown a second time")
	}
	w.expect(204, "DELETE", tokens+"/"+id, token, nil)
	w.expect(404, "DELETE", tokens+"/"+id, token, nil)
	w.expect(401, "POST", "/rest/agent/v1/gateways/"+gateway+"/heartbeat", token, object{"sequence": 1})
	w.expect(401, "GET", "/rest/agent/v1/self", "", nil)
	w.expect(401, "POST", "/rest/agent/v1/renew", "", object{"csr": "x"})
	w.expect(400, "POST", "/rest/agent/v1/enroll", "", object{"token": "x", "csr": "x"})
	w.expect(200, "GET", agents, token, nil)
	w.expect(204, "DELETE", agents+"/gateways/"+gateway, token, nil)
	w.expect(404, "DELETE", agents+"/gateways/"+gateway, token, nil)
	w.expect(404, "DELETE", agents+"/farms/"+gateway, token, nil)
	w.status(desktop.KindGateway, w.estate.Gateways[0].Name, "", "STALE") // its reports are refused
}

func TestEveryMonitorListAndItsRecords(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), join: true})
	token := w.login().Access
	w.status(desktop.KindVirtualCenter, "vc1.corp.example", self, "OK")
	for _, path := range []string{
		"ad-domains", "connection-servers", "farms", "gateways", "rds-servers", "saml-authenticators", "v1/pods",
		"v1/true-sso", "desktop-composers", "view-composers", "virtual-centers",
	} {
		a := w.expect(200, "GET", "/rest/monitor/"+path, token, nil)
		var records []struct {
			ID string `json:"id"`
		}
		a.decode(t, &records)
		if len(records) == 0 {
			t.Errorf("%s is empty", path)
		}
		if strings.HasSuffix(path, "composers") || path == "ad-domains" {
			continue
		}
		w.expect(200, "GET", "/rest/monitor/"+path+"/"+records[0].ID, token, nil)
		w.expect(404, "GET", "/rest/monitor/"+path+"/nothing", token, nil)
	}
	w.expect(200, "GET", "/rest/monitor/event-database", token, nil)
	w.expect(200, "GET", "/rest/config/v1/virtual-centers", token, nil)
	w.expect(401, "GET", "/rest/peer/v1/health", token, nil)
}

func TestUnchangedListIsAnsweredWith304(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	first := w.expect(200, "GET", "/rest/monitor/farms", token, nil)
	request, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/rest/monitor/farms", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "bearer "+token)
	request.Header.Set("If-None-Match", first.header.Get("ETag"))
	response, err := w.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotModified {
		t.Errorf("status %d, want 304", response.StatusCode)
	}
}

func TestTorture(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	w := start(t, options{size: tiny(), join: true})
	token := w.login().Access
	gateway := string(w.estate.Gateways[0].ID())
	document := apitest.Load(t, api.Document)
	parsed, err := apidoc.Parse(api.Document)
	if err != nil {
		t.Fatal(err)
	}
	apiPages, err := parsed.Routes("")
	if err != nil {
		t.Fatal(err)
	}
	docPages, err := docsite.Routes()
	if err != nil {
		t.Fatal(err)
	}
	console, err := web.Routes()
	if err != nil {
		t.Fatal(err)
	}
	document.Hide(t, slices.Concat(apiPages, docPages, console))
	apitest.Torture{
		Document: document, Handler: w.app.Handler(), N: 3000, Seed: 1,
		Authorize: func(h http.Header) { h.Set("Authorization", "Bearer "+token) },
		Known:     map[string][]string{"id": {gateway, string(w.estate.RDSServers[0].ID())}, "kind": {"gateways"}},
		Skip:      []string{"logoutUser", "testAlertRule", "streamPulse"},
	}.Run(t)
}
