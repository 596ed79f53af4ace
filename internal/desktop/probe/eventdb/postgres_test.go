package eventdb

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
)

// postgresSpec returns the settings of the tests' PostgreSQL server, or skips the
// test.
func postgresSpec(t *testing.T) (spec desktop.EventDatabase, password string) {
	t.Helper()
	text := os.Getenv("VIGIL_TEST_POSTGRES")
	if text == "" {
		t.Skip("VIGIL_TEST_POSTGRES is not set: start a server with scripts/postgres.sh and set it to the URL")
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal("VIGIL_TEST_POSTGRES is not a URL")
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal("VIGIL_TEST_POSTGRES has no port")
	}
	password, _ = u.User.Password()
	return desktop.EventDatabase{
		Type: desktop.PostgreSQL, Server: u.Hostname(), Port: port, Database: strings.TrimPrefix(u.Path, "/"),
		User: u.User.Username(), Prefix: fmt.Sprintf("t%d_", time.Now().UnixNano()), Plain: true,
	}, password
}

// withListener returns the spec of a server behind a proxy, and the proxy's listener.
func withListener(t *testing.T, spec desktop.EventDatabase, open func(net.Conn) (net.Conn, error)) (desktop.EventDatabase, *flakylistener.Listener) {
	t.Helper()
	l := proxy(t, net.JoinHostPort(spec.Server, strconv.Itoa(spec.Port)), open)
	spec.Server, spec.Port = "127.0.0.1", l.Port()
	return spec, l
}

// dropTables removes the tables of a test.
func dropTables(t *testing.T, f *fixture) {
	t.Cleanup(func() {
		db, err := postgres.open(f.spec, f.password.Load().(string), nil, reach.WatchedDialer{FirstError: new(reach.FirstError)})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, name := range append(eventTables, dataTables...) {
			if _, err := db.Exec("DROP TABLE IF EXISTS " + quoteIdentifier(strings.ToLower(f.spec.Prefix)+name)); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestPostgreSQLProbe(t *testing.T) {
	t.Parallel()
	spec, password := postgresSpec(t)
	spec, wire := withListener(t, spec, nil)
	f := newFixture(t, spec, password)
	dropTables(t, f)
	f.requireStatus("before the first probe", f.probe(0), desktop.EventDatabaseConnecting)
	// By the default policy, the status is DISCONNECTED after five failures.
	wire.Set(flakylistener.Down)
	f.requireStatus("it is down", f.probe(2), desktop.EventDatabaseConnecting)
	f.requireStatus("it stays down", f.probe(3), desktop.EventDatabaseDisconnected)
	wire.Set(flakylistener.Up)
	m := f.probe(1)
	f.requireStatus("it answers", m, desktop.EventDatabaseConnected)
	if *m.EventCount != 0 {
		t.Errorf("a new database has %d events", *m.EventCount)
	}
	if err := f.db.Write(t.Context(), someEvents); err != nil {
		t.Fatal(err)
	}
	f.db.count = count{} // count again at once
	if m := f.probe(1); *m.EventCount != 2 {
		t.Errorf("events = %d, want 2", *m.EventCount)
	}
	wire.Set(flakylistener.Down)
	f.requireStatus("it is lost", f.probe(1), desktop.EventDatabaseReconnecting)
	if err := f.db.Write(t.Context(), someEvents); err == nil || desktop.FailureOf(err).Cause != desktop.Unreachable {
		t.Errorf("Write = %v, want it unreachable", err)
	}
	f.requireStatus("it stays lost", f.probe(4), desktop.EventDatabaseDisconnected)
	wire.Set(flakylistener.Up)
	f.requireStatus("it is back", f.probe(1), desktop.EventDatabaseConnected)
	f.password.Store("wrong")
	f.configure(f.spec)
	f.requireStatus("it refuses our password", f.probe(1), desktop.EventDatabaseError)
	f.password.Store(password)
	elsewhere := f.spec
	elsewhere.Database = "nowhere"
	f.configure(elsewhere)
	f.requireStatus("it has no such database", f.probe(1), desktop.EventDatabaseError)
	f.configure(spec)
	f.requireStatus("it recovers", f.probe(1), desktop.EventDatabaseConnected)
	f.board.Configure(desktop.Inventory{Policy: desktop.DefaultPolicy()})
	f.requireStatus("it is removed from the inventory", f.probe(0), desktop.EventDatabaseNotConfigured)
}

func TestEventsAreWrittenToBothTables(t *testing.T) {
	t.Parallel()
	spec, password := postgresSpec(t)
	spec.Prefix = strings.ToUpper(spec.Prefix) // the tables are created in lower case
	f := newFixture(t, spec, password)
	dropTables(t, f)
	for range 2 {
		if err := f.db.Write(t.Context(), someEvents); err != nil {
			t.Fatal(err)
		}
	}
	db, err := postgres.open(spec, password, nil, reach.WatchedDialer{FirstError: new(reach.FirstError)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	prefix := strings.ToLower(spec.Prefix) // scripts use the folded name
	type row struct {
		ID             int
		Type, Severity string
		Text, SID      string
		Name, Value    string
	}
	rows, err := db.Query("SELECT e.eventid, e.eventtype, e.severity, e.moduleandeventtext, COALESCE(e.usersid, ''), COALESCE(d.name, ''), COALESCE(d.strvalue, '') FROM " +
		prefix + "event_historical e LEFT JOIN " + prefix + "event_data_historical d ON d.eventid = e.eventid AND d.strvalue IS NOT NULL ORDER BY e.eventid")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []row
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.ID, &r.Type, &r.Severity, &r.Text, &r.SID, &r.Name, &r.Value); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	want := []row{
		{1, "BROKER_USERLOGGEDIN", "AUDIT_SUCCESS", `User CORP\alice has logged in`, "S-1-5-21-1-2-3-1105", "ClientIpAddress", "192.0.2.7"},
		{2, "VIGIL_STATUS_CHANGED", "ERROR", "x\uFFFD", "", "", ""},
		{3, "BROKER_USERLOGGEDIN", "AUDIT_SUCCESS", `User CORP\alice has logged in`, "S-1-5-21-1-2-3-1105", "ClientIpAddress", "192.0.2.7"},
		{4, "VIGIL_STATUS_CHANGED", "ERROR", "x\uFFFD", "", "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if n := countRows(t, db, prefix+"event"); n != 4 {
		t.Errorf("recent events = %d, want 4", n)
	}
}

// TestUserMayHaveRightsOnlyOnTables uses tables that an administrator has created, as a user
// who may create none.
func TestUserMayHaveRightsOnlyOnTables(t *testing.T) {
	t.Parallel()
	spec, password := postgresSpec(t)
	admin := newFixture(t, spec, password)
	dropTables(t, admin)
	admin.requireStatus("the administrator creates the tables", admin.probe(1), desktop.EventDatabaseConnected)
	user := spec
	user.User = strings.TrimSuffix(spec.Prefix, "_") // a unique name
	for _, statement := range []string{
		"CREATE ROLE " + user.User + " LOGIN PASSWORD 'secret'",
		"GRANT SELECT, INSERT, UPDATE ON " + admin.db.table("event") + ", " + admin.db.table("event_historical") + " TO " + user.User,
		// The data tables are only written, so the user needs no right to read them.
		"GRANT INSERT ON " + admin.db.table("event_data") + ", " + admin.db.table("event_data_historical") + " TO " + user.User,
	} {
		if _, err := admin.db.db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, statement := range []string{"DROP OWNED BY " + user.User, "DROP ROLE " + user.User} {
			if _, err := admin.db.db.Exec(statement); err != nil {
				t.Error(err)
			}
		}
	})
	f := newFixture(t, user, "secret")
	f.requireStatus("the user connects", f.probe(1), desktop.EventDatabaseConnected)
	if err := f.db.Write(t.Context(), someEvents); err != nil {
		t.Errorf("Write = %v", err)
	}
}

func countRows(t *testing.T, db *sql.DB, table string) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestConcurrentWritersGetDistinctEventIDs(t *testing.T) {
	t.Parallel()
	spec, password := postgresSpec(t)
	f := newFixture(t, spec, password)
	dropTables(t, f)
	f.probe(1)
	var wait sync.WaitGroup
	for range 4 { // simulates processes
		db, err := New(spec, f, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		wait.Go(func() {
			for range 5 {
				if err := db.Write(t.Context(), someEvents); err != nil {
					t.Errorf("Write = %v", err)
				}
			}
		})
	}
	wait.Wait()
	f.db.count = count{} // count again at once
	if m := f.probe(1); *m.EventCount != 40 {
		t.Errorf("events = %d, want 40", *m.EventCount)
	}
}

// TestServerThatIsDownIsUnreachableAndNotUntrusted checks that a server that is down is
// reported as unreachable, and not as untrusted because of its last certificate. The certificate
// is still returned.
func TestServerThatIsDownIsUnreachableAndNotUntrusted(t *testing.T) {
	t.Parallel()
	validity := pki.Around(time.Now(), time.Hour)
	ca, err := pki.New("Test CA", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	silent := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	spec, wire := withListener(t, desktop.EventDatabase{
		Type: desktop.PostgreSQL, Server: "127.0.0.1", Port: silent.Port(), Database: "events", User: "vigil",
	}, overTLS(leaf))
	f := newFixture(t, spec, "secret")
	for _, tt := range []struct {
		state flakylistener.State
		want  desktop.Cause
	}{{flakylistener.Up, desktop.Untrusted}, {flakylistener.Down, desktop.Unreachable}, {flakylistener.Up, desktop.Untrusted}} {
		wire.Set(tt.state)
		_, certificate, err := f.db.Probe(t.Context())
		if err == nil || desktop.FailureOf(err).Cause != tt.want || certificate == nil {
			t.Errorf("state %v: %v with the certificate %v, want %s", tt.state, err, certificate, tt.want)
		}
	}
}

func TestPostgreSQLOverTLS(t *testing.T) {
	t.Parallel()
	spec, password := postgresSpec(t)
	validity := pki.Around(time.Now(), time.Hour)
	ca, err := pki.New("Test CA", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	spec, _ = withListener(t, spec, overTLS(leaf))
	spec.Plain, spec.Trust = false, desktop.Trust{CAPEM: string(ca.PEM())}
	f := newFixture(t, spec, password)
	m := f.probe(1)
	f.requireStatus("over verified TLS", m, desktop.EventDatabaseConnected)
	if c := m.Certificates(); len(c) != 1 || !c[0].Certificate.Valid {
		t.Errorf("certificates = %+v", c)
	}
	cleanup := f.spec
	spec.Trust = desktop.Trust{}
	f.configure(spec)
	f.requireStatus("its certificate is not trusted", f.probe(1), desktop.EventDatabaseError)
	f.configure(cleanup)
	if _, err := f.db.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(eventTables, dataTables...) {
		if _, err := f.db.db.Exec("DROP TABLE IF EXISTS " + f.db.table(name)); err != nil {
			t.Error(err)
		}
	}
}
