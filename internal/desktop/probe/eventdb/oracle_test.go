package eventdb

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
	"vigil/internal/sim/flakylistener"
)

func TestOracleProbe(t *testing.T) {
	t.Parallel()
	l := listen(t, func(c net.Conn) { // refuses every service name as unknown
		_, _ = c.Read(make([]byte, 4096))
		text := []byte("(DESCRIPTION=(TMP=)(VSNNUM=318767104)(ERR=12514)(ERROR_STACK=(ERROR=(CODE=12514)(EMFI=4))))")
		// A TNS packet: its length, a checksum, the type 4 (refuse), three empty bytes, two reasons, and the length of the text.
		packet := append([]byte{0, byte(12 + len(text)), 0, 0, 4, 0, 0, 0, 0, 0, 0, byte(len(text))}, text...)
		_, _ = c.Write(packet)
	})
	f := newFixture(t, desktop.EventDatabase{Type: desktop.Oracle, Server: "127.0.0.1", Port: l.Port(), Database: "events", User: "vigil", Plain: true}, "secret")
	f.requireStatus("it has no such database", f.probe(1), desktop.EventDatabaseError)
	l.Set(flakylistener.Down)
	f.configure(f.spec)
	f.requireStatus("it is down", f.probe(1), desktop.EventDatabaseConnecting)
}

func TestHangingOracleIsAbandoned(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	dialled := make(chan net.Conn, 1)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			dialled <- c
		}
	}()
	spec := desktop.EventDatabase{Type: desktop.Oracle, Server: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Database: "events", User: "vigil", Plain: true}
	db, err := oracle.open(spec, "secret", nil, reach.WatchedDialer{FirstError: new(reach.FirstError)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		c := <-dialled
		defer c.Close()
		_, _ = c.Read(make([]byte, 1)) // reads the request and never answers
		cancel()
		_, _ = io.Copy(io.Discard, c) // until the client closes the connection
	}()
	if err := db.PingContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("PingContext = %v, want context.Canceled", err)
	}
}
