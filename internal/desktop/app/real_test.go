package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"text/template"

	"github.com/jackc/pgx/v5"

	"vigil/internal/config"
	"vigil/internal/desktop"
	"vigil/internal/desktop/agent"
	"vigil/internal/desktop/app"
	"vigil/internal/desktop/directory"
	"vigil/internal/desktop/heartbeat"
)

// realFixture is a server with real components: a Samba domain controller, a
// PostgreSQL server and an xrdp session host, each managed by a script.
type realFixture struct {
	*fixture
	samba, xrdp, postgres string // folders of the scripts
	database              atomic.Pointer[url.URL]
	proxy                 net.Listener // forwards to the database
	rdp                   string       // address of the session host
	loggedIn              int          // successful logins, including those that the event database had at the start
}

const realPassword = "Passw0rd!Test"

var realInventory = template.Must(template.New("").Parse(`
version: 1
policy: {failures_before_down: 1, give_up_after: 15, agent_interval: 1s, certificate_warning: 24h}
administrators: [{domain: corp.example, group: Root Admins}]
domains:
  - dns_name: corp.example
    controllers: [127.0.0.10]
    tls: {ca_file: {{.Samba}}/ca.pem}
    bind: {username: svc-vigil, password: "file:{{.Dir}}/bind"}
    primary: true
    clone_ou: OU=Clones,DC=corp,DC=example
connection_servers: [{name: cs1, url: "{{.Self}}", self: true}]
event_database:
  type: POSTGRESQL
  server: 127.0.0.1
  port: {{.Port}}
  database: postgres
  login: {username: vigil, password: "file:{{.Postgres}}/password"}
  prefix: e2e_
  plain: true
farms:
  - {name: farm, type: MANUAL, rds_servers: [{name: host, address: "{{.RDP}}"}]}
sso_connectors:
  - name: logon
    domain: corp.example
    template: TrueSso
    certificate_servers: [corp-ca]
    primary_enrollment_server: {dns_name: 127.0.0.10, port: 636, tls: {ca_file: {{.Samba}}/ca.pem}}
`))

// script runs one of the scripts that manage the real components.
func script(t *testing.T, name, command, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", filepath.FromSlash("../../../scripts/"+name), command, dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, command, err)
	}
	return strings.TrimSpace(string(out))
}

// newReal returns the fixture, or skips the test unless all three components
// are available.
func newReal(t *testing.T) *realFixture {
	t.Helper()
	r := &realFixture{fixture: &fixture{T: t, dir: t.TempDir()}}
	for name, dir := range map[string]*string{
		"VIGIL_TEST_SAMBA": &r.samba, "VIGIL_TEST_XRDP": &r.xrdp, "VIGIL_TEST_EVENTS": &r.postgres,
	} {
		*dir = os.Getenv(name)
		if *dir == "" {
			t.Skipf("%s is not set: scripts/test-e2e sets it", name)
		}
	}
	r.rdp = script(t, "xrdp.sh", "start", r.xrdp)
	script(t, "samba.sh", "start", r.samba)
	r.startDatabase()
	r.loggedIn = max(r.logins(), 0) // a new database has no tables
	r.forward()
	if err := os.WriteFile(r.dir+"/bind", []byte(realPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	r.conf = config.Config{DataDir: r.dir + "/data"}
	r.conf.Desktop = config.Desktop{Enabled: true, Inventory: r.dir + "/inventory.yaml"}
	r.conf.Desktop.Listen = "127.0.0.1:0"
	r.conf.Complete()
	r.run(options{app: func(o *app.Options) { o.Prepare = r.write }})
	return r
}

func (r *realFixture) write(self string) error {
	var text bytes.Buffer
	err := realInventory.Execute(&text, map[string]any{
		"Samba": r.samba, "Postgres": r.postgres, "Dir": r.dir, "Self": self, "RDP": r.rdp, "Port": r.proxy.Addr().(*net.TCPAddr).Port,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(r.conf.Desktop.Inventory, text.Bytes(), 0o600)
}

func (r *realFixture) startDatabase() {
	r.Helper()
	u, err := url.Parse(script(r.T, "postgres.sh", "start", r.postgres))
	if err != nil {
		r.Fatal(err)
	}
	r.database.Store(u)
}

// killDatabase kills PostgreSQL, like a crash of the machine.
func (r *realFixture) killDatabase() {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.postgres, "data", "postmaster.pid"))
	if err != nil {
		r.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		r.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		r.Fatal(err)
	}
	r.until("the database is gone", func() bool { return syscall.Kill(pid, 0) != nil })
}

// forward gives the database a port that stays the same when it is restarted.
func (r *realFixture) forward() {
	var err error
	if r.proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = r.proxy.Close() })
	go func() {
		for {
			c, err := r.proxy.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				to, err := net.Dial("tcp", r.database.Load().Host)
				if err != nil {
					return
				}
				defer to.Close()
				go func() {
					_, _ = io.Copy(to, c)
					_ = to.Close()
				}()
				_, _ = io.Copy(c, to)
			}()
		}
	}()
}

func (r *realFixture) login(user, password string) answer {
	r.Helper()
	return r.call(http.MethodPost, "/rest/login", "", object{"domain": "CORP", "username": user, "password": password})
}

func (r *realFixture) mustLogin() tokens {
	r.Helper()
	var got tokens
	r.until("alice logs in", func() bool {
		a := r.login("alice", realPassword)
		if a.status == http.StatusOK {
			a.decode(r, &got)
			r.loggedIn++
		}
		return a.status == http.StatusOK
	})
	return got
}

// logins returns the number of successful logins in the event database, or -1 if it cannot be
// read. The count of all events, which the server reports, also grows with every change of a status.
func (r *realFixture) logins() int {
	conn, err := pgx.Connect(r.Context(), r.database.Load().String())
	if err != nil {
		return -1
	}
	defer conn.Close(context.WithoutCancel(r.Context()))
	var n int
	if err := conn.QueryRow(r.Context(), "SELECT COUNT(*) FROM e2e_event WHERE EventType = 'REST_AUTH_LOGIN_SUCCEEDED'").Scan(&n); err != nil {
		return -1
	}
	return n
}

// TestRealComponents kills real components one after the other, and checks that
// their statuses change and recover.
func TestRealComponents(t *testing.T) {
	r := newReal(t)
	r.mustLogin()
	for _, part := range []struct {
		name string
		test func(*realFixture)
	}{
		{"directory", (*realFixture).checkDirectory},
		{"clone accounts", (*realFixture).checkAccounts},
		{"wrong passwords", (*realFixture).checkLockout}, // bob is throttled from then on
		{"event database", (*realFixture).checkEvents},
		{"session host", (*realFixture).checkHost},
	} {
		t.Run(part.name, func(t *testing.T) {
			r.T = t
			part.test(r)
		})
	}
	r.T = t
}

func (r *realFixture) checkDirectory() {
	r.status(desktop.KindDomain, "corp.example", "cs1", "FULLY_ACCESSIBLE")
	r.status(desktop.KindSSOConnector, "logon", "", "OK")
	if a := r.login("bob", realPassword); a.status != http.StatusUnauthorized {
		r.Errorf("bob is not an administrator, but gets %d", a.status)
	}
	script(r.T, "samba.sh", "kill", r.samba)
	r.status(desktop.KindDomain, "corp.example", "cs1", "UNCONTACTABLE")
	r.status(desktop.KindSSOConnector, "logon", "", "ERROR")
	if a := r.login("alice", realPassword); a.status != http.StatusServiceUnavailable {
		r.Errorf("a login without a directory: %d", a.status)
	}
	script(r.T, "samba.sh", "start", r.samba)
	r.status(desktop.KindDomain, "corp.example", "cs1", "FULLY_ACCESSIBLE")
	r.status(desktop.KindSSOConnector, "logon", "", "OK")
	r.mustLogin()
}

// checkLockout sends far more wrong passwords than lock an account, and then
// checks the account in the directory.
func (r *realFixture) checkLockout() {
	concurrently(10, func(i int) {
		for j := range 10 {
			if a := r.login("bob", fmt.Sprintf("wrong-%d-%d", i, j)); a.status != http.StatusUnauthorized {
				r.Errorf("a wrong password: %d", a.status)
			}
		}
	})
	inv := r.app.Board().Inventory()
	client := directory.New(directory.Options{Secrets: secretOf(realPassword)})
	inv.Domains[0].CloneOU = "" // checks the password only: bob may not create computers
	client.Configure(inv)
	if err := client.CheckCloneAccount(r.Context(), inv.Domains[0].ID, "bob", realPassword); err != nil {
		r.Errorf("after 100 wrong passwords the directory says: %v", err)
	}
}

type secretOf string

func (s secretOf) Secret(context.Context, desktop.SecretRef) (string, error) { return string(s), nil }

func (r *realFixture) checkAccounts() {
	token := r.mustLogin().Access
	const path = "/rest/config/v1/ic-domain-accounts"
	sid := r.app.Board().Domains()[0].ID
	r.expect(201, "POST", path, token, object{"ad_domain_id": sid, "username": "alice", "password": realPassword})
	a := r.expect(400, "POST", path, token, object{"ad_domain_id": sid, "username": "bob", "password": realPassword})
	if !strings.Contains(string(a.body), "computer accounts") {
		r.Errorf("the reason is missing: %s", a.body)
	}
}

func (r *realFixture) checkEvents() {
	const db = "127.0.0.1"
	r.status(desktop.KindEventDatabase, db, "", "CONNECTED")
	r.mustLogin()
	r.until("every login is an event", func() bool { return r.logins() == r.loggedIn })
	r.killDatabase()
	r.status(desktop.KindEventDatabase, db, "", "RECONNECTING")
	r.status(desktop.KindEventDatabase, db, "", "DISCONNECTED")
	r.mustLogin()
	r.startDatabase()
	r.status(desktop.KindEventDatabase, db, "", "CONNECTED")
	r.until("the login during the outage is an event too", func() bool { return r.logins() == r.loggedIn })
}

func (r *realFixture) checkHost() {
	host := r.app.Board().Inventory().RDSServers[0]
	token, err := r.app.EnrolmentToken(r.Context(), heartbeat.Agent{Kind: desktop.KindRDSServer, ID: host.ID})
	if err != nil {
		r.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan error, 1)
	go func() {
		done <- agent.Run(ctx, agent.Options{
			Server: r.url, Thumbprint: r.trust.Thumbprint, Token: token, StateDir: r.dir + "/agent", RDPAddress: r.rdp,
			Version: "1", Build: "1", Log: slog.New(slog.DiscardHandler),
		})
	}()
	r.status(desktop.KindRDSServer, "host", "state", "AVAILABLE")
	r.status(desktop.KindFarm, "farm", "", "OK")
	script(r.T, "xrdp.sh", "pause", r.xrdp)
	r.status(desktop.KindRDSServer, "host", "state", "AGENT_ERR_PROTOCOL_FAILURE")
	r.status(desktop.KindFarm, "farm", "", "ERROR")
	script(r.T, "xrdp.sh", "start", r.xrdp)
	r.status(desktop.KindRDSServer, "host", "state", "AVAILABLE")
	cancel()
	if err := <-done; err != nil {
		r.Error(err)
	}
	r.status(desktop.KindRDSServer, "host", "state", "AGENT_UNREACHABLE")
}
