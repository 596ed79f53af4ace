package witness_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/audit"
	"vigil/internal/audit/witness"
	"vigil/internal/outbound"
)

var checkpoint = audit.Checkpoint{Head: audit.Head{Number: 7, Hash: []byte{1, 2}}, Key: "k", Signature: []byte{3, 4}}

func one(t *testing.T, o witness.Options) audit.Witness {
	t.Helper()
	all, err := witness.New(o)
	if err != nil || len(all) != 1 {
		t.Fatalf("witnesses %v, %v; want one", all, err)
	}
	return all[0]
}

// TestWebServerStoresTheNewestCheckpoint writes a checkpoint and reads it back with the token. Without the
// token, the web server refuses both.
func TestWebServerStoresTheNewestCheckpoint(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var received []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Bearer s3cret":
			w.WriteHeader(http.StatusForbidden)
		case r.Method == http.MethodPut:
			received, _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusCreated)
		case received == nil:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(received)
		}
	}))
	t.Cleanup(server.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := one(t, witness.Options{URL: server.URL + "/checkpoint", Token: "file:" + token})
	if c, err := w.Newest(t.Context()); err != nil || c.Number != 0 {
		t.Errorf("before the first checkpoint: %v, %v", c, err)
	}
	if err := w.Put(t.Context(), checkpoint); err != nil {
		t.Fatal(err)
	}
	if c, err := w.Newest(t.Context()); err != nil || c.String() != checkpoint.String() {
		t.Errorf("read back %v, %v", c, err)
	}
	unauthorised := one(t, witness.Options{URL: server.URL + "/checkpoint"})
	if err := unauthorised.Put(t.Context(), checkpoint); err == nil {
		t.Error("a refused write is not an error")
	}
	if _, err := unauthorised.Newest(t.Context()); err == nil {
		t.Error("a refused read is not an error")
	}
	cloudMetadata := one(t, witness.Options{URL: "http://169.254.169.254/checkpoint"})
	// Outside of a cloud, every attempt to write fails: only ErrRefused shows that no connection was attempted.
	if err := cloudMetadata.Put(t.Context(), checkpoint); !errors.Is(err, outbound.ErrRefused) {
		t.Errorf("writing to the metadata service: %v, want %v", err, outbound.ErrRefused)
	}
}

func TestSyslogServersReceiveCheckpoints(t *testing.T) {
	t.Parallel()
	// Priority 109 is facility 13 (log audit) and severity 5 (notice). T replaces the time.
	want := fmt.Sprintf("<109>1 T me vigil - audit-checkpoint - %s", checkpoint)
	check := func(network, got string) {
		t.Helper()
		fields := strings.SplitN(got, " ", 3)
		if len(fields) != 3 {
			t.Fatalf("%s: %q", network, got)
		}
		if _, err := time.Parse(time.RFC3339, fields[1]); err != nil {
			t.Errorf("%s: %v", network, err)
		}
		fields[1] = "T"
		if strings.Join(fields, " ") != want {
			t.Errorf("%s: %q, want %q", network, got, want)
		}
	}
	folder, err := os.MkdirTemp("", "syslog") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	for _, server := range []struct{ network, listenAddress string }{
		{"udp", "127.0.0.1:0"}, {"unixgram", filepath.Join(folder, "log")},
	} {
		conn, err := new(net.ListenConfig).ListenPacket(t.Context(), server.network, server.listenAddress)
		if err != nil {
			t.Fatal(err)
		}
		address := "udp://" + conn.LocalAddr().String()
		if server.network == "unixgram" {
			address = "unix://" + server.listenAddress
		}
		if err := one(t, witness.Options{Syslog: address, Host: "me"}).Put(t.Context(), checkpoint); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4096)
		n, _, err := conn.ReadFrom(buf)
		if err != nil {
			t.Fatal(err)
		}
		check(server.network, string(buf[:n]))
		_ = conn.Close()
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	got := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			got <- err.Error()
			return
		}
		text, _ := io.ReadAll(conn)
		got <- string(text)
	}()
	if err := one(t, witness.Options{Syslog: "tcp://" + listener.Addr().String(), Host: "me"}).Put(context.WithoutCancel(t.Context()), checkpoint); err != nil {
		t.Fatal(err)
	}
	length, message, _ := strings.Cut(<-got, " ")
	if length != fmt.Sprint(len(message)) {
		t.Errorf("a message of %d bytes is framed as %s", len(message), length)
	}
	check("tcp", message)
}
