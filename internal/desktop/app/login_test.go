package app_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/audit"
	"vigil/internal/config"
	"vigil/internal/desktop"
	"vigil/internal/desktop/api"
	"vigil/internal/desktop/app"
	"vigil/internal/instance"
	"vigil/internal/sim/directory"
	"vigil/internal/sim/estate"
)

// tiny is the size of an environment for tests that need little more than its
// directory.
func tiny() estate.Size {
	return estate.Size{ConnectionServers: 2, Farms: 1, RDSServers: 1, Gateways: 1, Pods: 1}
}

// concurrently calls f concurrently from n goroutines.
func concurrently(n int, f func(i int)) {
	var wait sync.WaitGroup
	release := make(chan struct{})
	for i := range n {
		wait.Go(func() {
			<-release
			f(i)
		})
	}
	close(release)
	wait.Wait()
}

func TestTwoHundredLoginsAtOnceAllSucceed(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), fewProbes: true})
	w.login()
	statuses := make([]int, 200)
	concurrently(len(statuses), func(i int) {
		statuses[i] = w.call(http.MethodPost, "/rest/login", "", w.credentials(w.estate.Admin.Password)).status
	})
	counts := map[int]int{}
	for _, s := range statuses {
		counts[s]++
	}
	if counts[http.StatusOK] != len(statuses) {
		t.Errorf("statuses %v", counts)
	}
}

func TestAThousandWrongPasswordsNeverLockTheAccount(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), fewProbes: true})
	w.login()
	domain := w.estate.Domains[0]
	var mu sync.Mutex
	counts, throttled := map[int]int{}, 0
	concurrently(50, func(i int) {
		for j := range 20 {
			a := w.call(http.MethodPost, "/rest/login", "", w.credentials(fmt.Sprintf("wrong-%d-%d", i, j)))
			mu.Lock()
			counts[a.status]++
			if after, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil && after > 0 {
				throttled++
			}
			mu.Unlock()
		}
	})
	if counts[http.StatusUnauthorized] != 1000 || throttled < 900 {
		t.Errorf("statuses %v, %d with Retry-After; want 1000 times 401, at least 900 with Retry-After", counts, throttled)
	}
	if domain.Locked(w.estate.Admin.Username) {
		t.Error("the directory locked the account")
	}
	if bad := domain.BadPasswords(w.estate.Admin.Username); bad >= 10 {
		t.Errorf("the directory saw %d bad passwords; 10 lock the account", bad)
	}
	// The right password is refused too until the window has passed, because the
	// directory must not be queried.
	a := w.call(http.MethodPost, "/rest/login", "", w.credentials(w.estate.Admin.Password))
	if a.status != http.StatusUnauthorized || a.header.Get("Retry-After") == "" {
		t.Errorf("a throttled login: %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
}

func TestRightPasswordIsAcceptedAfterFiveWrongOnes(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), fewProbes: true})
	for i := range 5 {
		if a := w.call(http.MethodPost, "/rest/login", "", w.credentials(fmt.Sprintf("wrong-%d", i))); a.status != http.StatusUnauthorized || a.header.Get("Retry-After") != "" {
			t.Errorf("wrong password %d: %d, Retry-After %q", i, a.status, a.header.Get("Retry-After"))
		}
	}
	if a := w.call(http.MethodPost, "/rest/login", "", w.credentials(w.estate.Admin.Password)); a.status != http.StatusOK {
		t.Errorf("the right password: %d %s", a.status, a.body)
	}
}

// TestFailuresElsewhereDoNotBlockAKnownNetwork sends wrong passwords from many
// addresses, which a trusted proxy reports.
func TestFailuresElsewhereDoNotBlockAKnownNetwork(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), fewProbes: true, conf: func(c *config.Config) { c.Desktop.TrustedProxies = "127.0.0.1" }})
	const home = "203.0.113.7"
	right := func(what string) {
		t.Helper()
		for _, path := range []string{"/rest/login", "/console/session"} {
			if a := w.callFrom(home, http.MethodPost, path, "", w.credentials(w.estate.Admin.Password)); a.status != http.StatusOK {
				t.Errorf("%s: POST %s: %d %s", what, path, a.status, a.body)
			}
		}
	}
	right("before")
	counts := map[int]int{}
	for i := range 200 {
		a := w.callFrom(fmt.Sprintf("198.51.100.%d", i), http.MethodPost, "/rest/login", "", w.credentials("wrong"))
		counts[a.status]++
	}
	if counts[http.StatusUnauthorized] != 200 {
		t.Errorf("statuses of wrong passwords: %v", counts)
	}
	right("after 200 wrong passwords elsewhere")
	// Others at the same address send wrong passwords too.
	for i := range 300 {
		w.callFrom(home, http.MethodPost, "/rest/login", "", object{"domain": "CORP", "username": fmt.Sprintf("user%d", i), "password": "x"})
	}
	right("after 300 failures of others at the same address")
	if w.estate.Domains[0].Locked(w.estate.Admin.Username) {
		t.Error("the directory locked the account")
	}
}

func TestRefusedLoginsHaveOneResponseAndTheirCauseInTheAuditLog(t *testing.T) {
	t.Parallel()
	var in *instance.Installation
	w := start(t, options{size: tiny(), app: func(o *app.Options) { in = o.Install }})
	w.login()
	domain := w.estate.Domains[0]
	domain.Change(func(d *directory.Domain) {
		d.Users = append(d.Users,
			directory.User{Name: "plain", Password: "right"},
			directory.User{Name: "off", Password: "right", Disabled: true},
			directory.User{Name: "old", Password: "right", Expired: true},
			directory.User{Name: "new", Password: "right", MustChange: true})
	})
	bodies := map[string]bool{}
	want := map[string]string{}
	for _, tt := range []struct{ domain, user, password, cause string }{
		{"CORP", "plain", "wrong", "wrong password or unknown user"},
		{"CORP", "nobody", "right", "wrong password or unknown user"},
		{"CORP", "plain", "right", "not a member of the root administrators group"},
		{"CORP", "off", "right", "account is disabled"},
		{"CORP", "old", "right", "account has expired"},
		{"CORP", "new", "right", "password must be changed first"},
		{"NOWHERE", "plain", "right", "unknown domain"},
	} {
		a := w.call(http.MethodPost, "/rest/login", "", object{"domain": tt.domain, "username": tt.user, "password": tt.password})
		var problem struct {
			Message string `json:"error_message"`
		}
		a.decode(t, &problem)
		if a.status != http.StatusUnauthorized {
			t.Errorf("login as %v: status %d, want 401", tt, a.status)
		}
		bodies[problem.Message] = true
		want[a.header.Get("X-Request-Id")] = tt.cause
	}
	if len(bodies) != 1 {
		t.Errorf("%d different responses to refused logins: %v", len(bodies), bodies)
	}
	records, err := in.Audit.Page(t.Context(), audit.Filter{Org: api.AuditScope, Operation: "loginUser", Outcome: audit.Denied, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if cause, ok := want[r.Request]; ok && r.Cause == cause {
			delete(want, r.Request)
		}
	}
	if len(want) > 0 {
		t.Errorf("causes missing in the audit log: %v", want)
	}
}

func TestLogoutEndsAccessTokensAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), fewProbes: true})
	got := w.login()
	other := w.login()
	const path = "/rest/external/v1/ad-domains"
	for _, token := range []string{got.Access, other.Access} {
		if a := w.call(http.MethodGet, path, token, nil); a.status != http.StatusOK {
			t.Fatalf("before the logout: %d", a.status)
		}
	}
	if a := w.call(http.MethodPost, "/rest/logout", "", object{"refresh_token": got.Refresh}); a.status != http.StatusOK || len(a.body) > 0 {
		t.Fatalf("logout: %d %q", a.status, a.body)
	}
	if a := w.call(http.MethodGet, path, got.Access, nil); a.status != http.StatusUnauthorized {
		t.Errorf("after the logout: %d", a.status)
	}
	if a := w.call(http.MethodGet, path, other.Access, nil); a.status != http.StatusOK {
		t.Errorf("another session of the same user: %d", a.status)
	}
	if a := w.call(http.MethodPost, "/rest/refresh", "", object{"refresh_token": got.Refresh}); a.status != http.StatusBadRequest {
		t.Errorf("refresh after the logout: %d", a.status)
	}
}

func TestSessionsSurviveARestart(t *testing.T) {
	t.Parallel()
	o := options{size: tiny()}
	w := start(t, o)
	got := w.login()
	w.stop()
	w.run(o)
	w.until("the token is accepted again", func() bool {
		return w.call(http.MethodGet, "/rest/monitor/farms", got.Access, nil).status == http.StatusOK
	})
}

func TestLoginWhileTheDirectoryIsDownIs503(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), fewProbes: true})
	w.login()
	w.estate.Domains[0].Break(directory.Down)
	a := w.call(http.MethodPost, "/rest/login", "", w.credentials(w.estate.Admin.Password))
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("login while the directory is down: status %d, %.200q; want 503 with Retry-After", a.status, a.body)
	}
}

func TestTokensExpire(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), app: func(o *app.Options) { o.AccessLife, o.RefreshLife = 2*time.Second, time.Hour }})
	got := w.login()
	w.until("the access token expires", func() bool {
		return w.call(http.MethodGet, "/rest/monitor/farms", got.Access, nil).status == http.StatusUnauthorized
	})
	// On a busy machine the token may expire before it is used.
	w.until("a renewed token is accepted", func() bool {
		a := w.call(http.MethodPost, "/rest/refresh", "", object{"refresh_token": got.Refresh})
		var renewed tokens
		a.decode(t, &renewed)
		return w.call(http.MethodGet, "/rest/monitor/farms", renewed.Access, nil).status == http.StatusOK
	})
}

func TestMissingAdministratorsGroupRefusesLoginsAndIsLogged(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	w := start(t, options{size: tiny(), fewProbes: true, app: func(o *app.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }})
	w.estate.Domains[0].Change(func(d *directory.Domain) { d.Groups = nil })
	w.until("logins are refused", func() bool {
		return w.call(http.MethodPost, "/rest/login", "", w.credentials(w.estate.Admin.Password)).status == http.StatusUnauthorized
	})
	if text := log.String(); !strings.Contains(text, "nobody can log in") || !strings.Contains(text, "has no group Desktop Root Administrators") {
		t.Errorf("the log does not say why:\n%s", text)
	}
}

// lockedBuffer is a buffer that is safe for concurrent use.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestRefusedInventoryIsReported(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	freshness := func() desktop.Freshness { return w.record(desktop.KindConnectionServer, self).Fresh() }
	w.until("the server is healthy", func() bool { return freshness().Health == desktop.HealthOK })
	w.edit("domains:\n", "domainz:\n")
	w.until("the server's record reports the refused file", func() bool {
		f := freshness()
		return f.Health == desktop.HealthWarning && strings.Contains(strings.Join(f.Reasons, ";"), "inventory file is refused")
	})
	refused := func() *desktop.RefusedInventory {
		var overview struct {
			Inventory struct {
				Refused *desktop.RefusedInventory `json:"refused"`
			} `json:"inventory"`
		}
		w.expect(200, "GET", "/rest/monitor/overview", token, nil).decode(t, &overview)
		return overview.Inventory.Refused
	}
	if r := refused(); r == nil || !strings.Contains(r.Message, "domainz") {
		t.Errorf("the overview says %+v", r)
	}
	w.edit("domainz:\n", "domains:\n")
	w.until("the server is healthy again", func() bool { return freshness().Health == desktop.HealthOK })
	if r := refused(); r != nil {
		t.Errorf("the overview still says %+v", r)
	}
}
