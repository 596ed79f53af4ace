package probe

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
)

// tlsListener returns a listener whose connections can be cut, and a TLS
// configuration with a certificate for it.
func (f *fixture) tlsListener() (*flakylistener.Listener, *tls.Config) {
	f.t.Helper()
	leaf, err := f.ca.Leaf(pki.Around(time.Now(), 500*24*time.Hour), "127.0.0.1")
	if err != nil {
		f.t.Fatal(err)
	}
	listener, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = listener.Close() })
	return listener, &tls.Config{Certificates: []tls.Certificate{leaf}}
}

// serveRDP answers a connection request by selecting TLS, in the format of
// connectionRequest, and completes the TLS handshake.
func serveRDP(conn net.Conn, config *tls.Config) {
	request := make([]byte, len(connectionRequest))
	if _, err := io.ReadFull(conn, request); err != nil || !bytes.Equal(request, connectionRequest) {
		return
	}
	if _, err := conn.Write([]byte{3, 0, 0, 19, 14, 0xd0, 0, 0, 0, 0, 0, 2, 0, 8, 0, protocolTLS, 0, 0, 0}); err != nil {
		return
	}
	_ = tls.Server(conn, config).Handshake()
}

func TestConfirmationsOfRDP(t *testing.T) {
	t.Parallel()
	// A body is an X.224 confirm (its length, 0xd0 and 5 bytes) and an RDP negotiation response: 2 to accept or 3 to
	// refuse, flags, length 8, and the selected protocol or the reason.
	for _, tt := range []struct {
		name string
		body []byte
		want uint32
		ok   bool
	}{
		{"TLS", []byte{14, 0xd0, 0, 0, 0, 0, 0, 2, 0, 8, 0, 1, 0, 0, 0}, protocolTLS, true},
		{"CredSSP", []byte{14, 0xd0, 0, 0, 0, 0, 0, 2, 0, 8, 0, 2, 0, 0, 0}, protocolCredSSP, true},
		{"an old listener", []byte{6, 0xd0, 0, 0, 0, 0, 0}, protocolRDP, true},
		{"a refusal", []byte{14, 0xd0, 0, 0, 0, 0, 0, 3, 0, 8, 0, 2, 0, 0, 0}, 0, false},
		{"another answer", []byte{14, 0x80, 0, 0, 0, 0, 0}, 0, false},
		{"nothing", nil, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := selectedProtocol(tt.body); got != tt.want || (err == nil) != tt.ok {
				t.Errorf("selectedProtocol = %d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func FuzzSelectedProtocol(f *testing.F) {
	f.Add([]byte{14, 0xd0, 0, 0, 0, 0, 0, 2, 0, 8, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		if protocol, err := selectedProtocol(body); err == nil && protocol > protocolCredSSP {
			t.Errorf("selectedProtocol(%x) = %d", body, protocol)
		}
	})
}

// TestRealListener tests the RDP probe with a real session host.
func TestRealListener(t *testing.T) {
	dir := os.Getenv("VIGIL_TEST_XRDP")
	if dir == "" {
		t.Skip("VIGIL_TEST_XRDP is not set: start a session host with scripts/xrdp.sh and set it to its folder")
	}
	script := func(command string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "sh", filepath.FromSlash("../../../scripts/xrdp.sh"), command, dir).Output()
		if err != nil {
			t.Fatalf("xrdp.sh %s: %v", command, err)
		}
		return strings.TrimSpace(string(out))
	}
	f := newFixture(t)
	f.configure(desktop.Inventory{
		Farms:      []desktop.Farm{{ID: "f", Name: "farm", Enabled: true, Type: desktop.FarmManual}},
		RDSServers: []desktop.RDSServer{{ID: "r", Name: "host", FarmID: "f", Enabled: true, Address: script("start")}},
	})
	state := func(what string, want desktop.RDSState) {
		t.Helper()
		m := first[desktop.RDSServerMonitor](f, desktop.KindRDSServer)
		const healthy = desktop.RDSAvailable // the only state that needs no reason
		requireStatus(t, what, m.Details.State, want, m.Freshness, healthy)
	}
	f.probe(1)
	state("it runs", desktop.RDSAvailable)
	script("pause")
	f.probe(2)
	state("it was stopped", desktop.RDSAgentUnreachable)
	script("start")
	f.probe(1)
	state("it runs again", desktop.RDSAvailable)
}
