package eventdatabase_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/probe/eventdb"
	"vigil/internal/sim/eventdatabase"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
)

// secret is a store of secrets in which every reference has the same password.
type secret string

func (s secret) Secret(context.Context, desktop.SecretRef) (string, error) { return string(s), nil }

// server starts a server with a number of events. It also returns the inventory entry with
// which the product reaches the server.
func server(t *testing.T, events int64) (*eventdatabase.Server, desktop.EventDatabase) {
	t.Helper()
	ca, err := pki.New("test", pki.Around(time.Now(), time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(pki.Around(time.Now(), time.Hour), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := eventdatabase.New(eventdatabase.Options{
		Database: "events", User: "vigil", Password: "right", Certificate: leaf, Prefix: "vdi_", Events: events,
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s, desktop.EventDatabase{
		Type: desktop.PostgreSQL, Server: "127.0.0.1", Port: s.Listener().Port(), Database: "events", User: "vigil", Prefix: "vdi_",
		Trust: desktop.Trust{CAPEM: string(ca.PEM())},
	}
}

func open(t *testing.T, spec desktop.EventDatabase, password string) *eventdb.Database {
	t.Helper()
	db, err := eventdb.New(spec, secret(password), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func counted(t *testing.T, db *eventdb.Database) int64 {
	t.Helper()
	reading, _, err := db.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return reading.(desktop.EventDatabaseReading).EventCount
}

func TestEventsAreCountedAndWritten(t *testing.T) {
	t.Parallel()
	for _, before := range []int64{0, 41_000} { // with 0, there are no tables
		s, spec := server(t, before)
		if got := counted(t, open(t, spec, "right")); got != before {
			t.Errorf("%d events, want %d", got, before)
		}
		events := []desktop.Event{
			{At: time.Now(), Type: "BROKER_USERLOGGEDIN", Severity: desktop.SeverityInfo, Module: "Broker", Text: "ada logged in", Node: "cs01", Data: map[string]string{"client": "a"}},
			{At: time.Now(), Type: "BROKER_USERLOGGEDOUT", Severity: desktop.SeverityInfo, Module: "Broker", Text: "ada logged out", Node: "cs01", UserSID: "S-1-5-21"},
		}
		writer := open(t, spec, "right")
		for range 2 {
			if err := writer.Write(t.Context(), events); err != nil {
				t.Fatal(err)
			}
		}
		if want := before + 4; s.Events() != want || counted(t, open(t, spec, "right")) != want {
			t.Errorf("%d events are in the database after 4 were written to %d", s.Events(), before)
		}
	}
}

func TestRefusedAndBrokenConnections(t *testing.T) {
	t.Parallel()
	s, spec := server(t, 1)
	other := spec
	other.Database = "none"
	untrusted := spec
	untrusted.Trust = desktop.Trust{}
	for name, c := range map[string]struct {
		spec     desktop.EventDatabase
		password string
		want     desktop.Cause
	}{
		"a wrong password":     {spec, "wrong", desktop.Refused},
		"another database":     {other, "right", desktop.Broken},
		"an unknown authority": {untrusted, "right", desktop.Untrusted},
	} {
		_, _, err := open(t, c.spec, c.password).Probe(t.Context())
		if f, ok := errors.AsType[*desktop.Failure](err); !ok || f.Cause != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	db := open(t, spec, "right")
	if got := counted(t, db); got != 1 {
		t.Errorf("%d events, want 1", got)
	}
	s.Listener().Set(flakylistener.Down)
	_, _, err := db.Probe(t.Context())
	if f, ok := errors.AsType[*desktop.Failure](err); !ok || f.Cause != desktop.Unreachable {
		t.Errorf("while the server is down: %v, want %s", err, desktop.Unreachable)
	}
	s.Listener().Set(flakylistener.Up)
	if got := counted(t, db); got != 1 {
		t.Errorf("%d events after the server came back, want 1", got)
	}
}
