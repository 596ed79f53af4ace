package app

import (
	"context"
	"net"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/inventory"
	"vigil/internal/desktop/probe/eventdb"
	"vigil/internal/sim/eventdatabase"
	"vigil/internal/sim/pki"
)

// TestLastEventsAreWrittenAtAStop records an event that is still queued when the scheduler has closed its targets.
func TestLastEventsAreWrittenAtAStop(t *testing.T) {
	t.Parallel()
	validity := pki.Around(time.Now(), time.Hour)
	ca, err := pki.New("test", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	server := eventdatabase.New(eventdatabase.Options{Database: "events", User: "vigil", Password: "right", Certificate: leaf, Prefix: "vdi_", Events: 41})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	a := &App{o: Options{Now: time.Now}, secrets: inventory.Secrets{Getenv: func(string) string { return "right" }}, events: eventdb.NewLog()}
	probe, closeTarget := a.eventDatabase(desktop.EventDatabase{
		Type: desktop.PostgreSQL, Server: "127.0.0.1", Port: server.Listener().Port(), Database: "events", User: "vigil", Prefix: "vdi_",
		Password: "env:X", Trust: desktop.Trust{CAPEM: string(ca.PEM())},
	})
	if _, _, err := probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.events.Record(desktop.Event{At: time.Now(), Type: "REST_AUTH_LOGOUT", Severity: desktop.SeverityAuditSuccess, Module: "Rest", Node: "cs1"})
	a.stopping.Store(true)
	closeTarget() // leaves the database open, because the server is stopping
	stopped, stop := context.WithCancel(t.Context())
	stop()
	a.events.Run(stopped) // the context is done: Run writes the queued event and returns
	a.closeEventDatabase()
	if got := server.Events(); got != 42 {
		t.Errorf("%d events are in the database, want 42: the last one is lost", got)
	}
	if _, _, err := probe(t.Context()); err == nil {
		t.Error("the database was not closed")
	}
}

// TestStopDoesNotWaitForAHungEventDatabase closes the event database while a probe waits for an answer of its server.
func TestStopDoesNotWaitForAHungEventDatabase(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	a := &App{o: Options{Now: time.Now}, secrets: inventory.Secrets{Getenv: func(string) string { return "right" }}, events: eventdb.NewLog()}
	probe, _ := a.eventDatabase(desktop.EventDatabase{
		Type: desktop.PostgreSQL, Server: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, Database: "events", User: "vigil",
		Password: "env:X", Plain: true,
	})
	go func() { _, _, _ = probe(context.Background()) }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	closed := make(chan struct{})
	go func() {
		a.closeEventDatabase()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Error("closeEventDatabase still waits for the probe after 30 s")
	}
}

func TestSeverityOfStatusChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind     desktop.Kind
		part, to string
		want     desktop.Severity
	}{
		{desktop.KindGateway, "", "OK", desktop.SeverityInfo},
		{desktop.KindGateway, "", "PROBLEM", desktop.SeverityError},
		{desktop.KindGateway, "", "STALE", desktop.SeverityWarning},
		{desktop.KindConnectionServer, "", "NOT_RESPONDING", desktop.SeverityError},
		{desktop.KindEventDatabase, "", "RECONNECTING", desktop.SeverityWarning},
		{desktop.KindFarm, "", "DISABLED", desktop.SeverityInfo},
		{desktop.KindEventDatabase, "", "DISCONNECTED", desktop.SeverityError},
		{desktop.KindRDSServer, "state", "DISCONNECTED", desktop.SeverityInfo}, // healthy, unlike the same status of an event database
		{desktop.KindRDSServer, "state", "PROVISIONED", desktop.SeverityInfo},
		{desktop.KindRDSServer, "state", "AVAILABLE", desktop.SeverityInfo},
		{desktop.KindRDSServer, "state", "AGENT_UNREACHABLE", desktop.SeverityError},
		{desktop.KindRDSServer, "state", "MAINTENANCE", desktop.SeverityWarning},
	} {
		events := statusEvents([]desktop.Change{{Ref: desktop.Ref{Kind: tt.kind}, Part: tt.part, To: tt.to}}, "node")
		if len(events) != 1 || events[0].Severity != tt.want {
			t.Errorf("%s %q to %s: %+v, want severity %s", tt.kind, tt.part, tt.to, events, tt.want)
		}
	}
}
