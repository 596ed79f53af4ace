package eventdb

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/sim/flakylistener"
)

// fixture is a board with an event database that is probed when the test calls
// probe.
type fixture struct {
	t        *testing.T
	board    *desktop.Board
	spec     desktop.EventDatabase
	db       *Database
	password atomic.Value
}

func (f *fixture) Secret(context.Context, desktop.SecretRef) (string, error) {
	return f.password.Load().(string), nil
}

func newFixture(t *testing.T, spec desktop.EventDatabase, password string) *fixture {
	t.Helper()
	f := &fixture{t: t, board: desktop.NewBoard(time.Now)}
	f.password.Store(password)
	f.configure(spec)
	t.Cleanup(func() { f.db.Close() })
	return f
}

func (f *fixture) configure(spec desktop.EventDatabase) {
	f.t.Helper()
	if f.db != nil {
		f.db.Close()
	}
	spec.ID = "e"
	f.spec = spec
	var err error
	if f.db, err = New(spec, f, time.Now); err != nil {
		f.t.Fatal(err)
	}
	f.board.Configure(desktop.Inventory{Policy: desktop.DefaultPolicy(), EventDatabase: &spec})
}

// probe probes a number of times and returns the record.
func (f *fixture) probe(times int) desktop.EventDatabaseMonitor {
	f.t.Helper()
	for range times {
		ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
		reading, certificate, err := f.db.Probe(ctx)
		cancel()
		o := desktop.Observation{Kind: desktop.KindEventDatabase, ID: "e", At: time.Now(), Reading: reading, Certificate: certificate}
		if err != nil {
			o.Reading, o.Failure = nil, desktop.FailureOf(err)
		}
		f.board.Observe(o)
	}
	return f.board.Records(desktop.KindEventDatabase)[0].(desktop.EventDatabaseMonitor)
}

func (f *fixture) requireStatus(what string, m desktop.EventDatabaseMonitor, want desktop.EventDatabaseStatus) {
	f.t.Helper()
	if m.Status != want {
		f.t.Errorf("%s: status = %s, want %s (%q)", what, m.Status, want, m.Reasons)
	}
}

// proxy forwards connections to a server and can cut them. It forwards what open
// returns for an accepted connection, or the connection itself if open is nil.
func proxy(t *testing.T, to string, open func(net.Conn) (net.Conn, error)) *flakylistener.Listener {
	t.Helper()
	l, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go pass(in, to, open)
		}
	}()
	return l
}

func pass(in net.Conn, to string, open func(net.Conn) (net.Conn, error)) {
	defer in.Close()
	if open != nil {
		var err error
		if in, err = open(in); err != nil {
			return
		}
	}
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
	_, _ = io.Copy(in, out)
}

// overTLS returns a function for [proxy] that accepts the request for TLS of a PostgreSQL
// client, with the byte S, and then speaks TLS with the client.
func overTLS(leaf tls.Certificate) func(net.Conn) (net.Conn, error) {
	return func(c net.Conn) (net.Conn, error) {
		request := make([]byte, 8)
		if _, err := io.ReadFull(c, request); err != nil {
			return nil, err
		}
		if _, err := c.Write([]byte("S")); err != nil {
			return nil, err
		}
		return tls.Server(c, &tls.Config{Certificates: []tls.Certificate{leaf}}), nil
	}
}

// someEvents contain an empty value, which is stored as NULL, and characters that databases
// refuse: NUL, which is removed, and invalid UTF-8, which is replaced.
var someEvents = []desktop.Event{
	{
		At: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), Type: "BROKER_USERLOGGEDIN", Severity: desktop.SeverityAuditSuccess,
		Module: "Broker", Text: "User CORP\\alice has logged in", Node: "cs1", UserSID: "S-1-5-21-1-2-3-1105",
		Data: map[string]string{"ClientIpAddress": "192.0.2.7", "Empty": ""},
	},
	{At: time.Date(2026, 11, 15, 12, 0, 1, 0, time.UTC), Type: "VIGIL_STATUS_CHANGED", Severity: desktop.SeverityError, Module: "Rest", Text: "x\x00\xff", Node: "cs1"},
}
