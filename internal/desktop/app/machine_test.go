package app_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/agent"
	"vigil/internal/desktop/app"
	"vigil/internal/desktop/store"
	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/sim/estate"
	"vigil/internal/sim/flakylistener"
)

func TestAgentReportsThisMachine(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("needs Linux")
	}
	w := start(t, options{size: tiny(), estate: func(o *estate.Options) { o.ThisMachine = true }, join: true})
	w.status(desktop.KindRDSServer, "this-machine", "state", "AVAILABLE")
	m := w.record(desktop.KindRDSServer, "this-machine").(desktop.RDSServerMonitor)
	if m.LoadIndex == nil || m.SessionCount == nil || m.Details.OperatingSystem != desktop.OSLinuxOther {
		t.Errorf("record = %+v, want the load and the sessions of this machine", m)
	}
	info, err := os.Stat(filepath.Join(w.dir, "estate", "agent", "credential.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the credential file is %v, %v", info, err)
	}
}

// record returns the record of a component.
func (f *fixture) record(kind desktop.Kind, name string) desktop.Record {
	f.Helper()
	for _, r := range f.app.Board().Records(kind) {
		if r.Ref().Name == name {
			coverage.note(f.Name(), r)
			return r
		}
	}
	f.Fatalf("there is no %s %s", kind, name)
	return nil
}

func TestAgentRestartsWithItsCredential(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	server := w.app.Board().Inventory().RDSServers[0]
	token := w.commandLineToken(server.Name)
	o := agent.Options{
		Server: w.url, Thumbprint: w.trust.Thumbprint, Token: token, StateDir: t.TempDir(),
		Version: "1", Build: "2", Log: slog.New(slog.DiscardHandler),
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- agent.Run(ctx, o) }()
		w.status(desktop.KindRDSServer, server.Name, "state", "AVAILABLE")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		w.status(desktop.KindRDSServer, server.Name, "state", "AGENT_UNREACHABLE")
		o.Token = "" // the token was used and is invalid
	}
	o.StateDir = t.TempDir()
	if err := agent.Run(t.Context(), o); err == nil {
		t.Error("an agent without token and credential runs")
	}
}

func TestVirtualCenterWithAChangedPassword(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	w.status(desktop.KindVirtualCenter, "vc1.corp.example", self, "OK")
	passwordFile := filepath.Join(w.dir, "estate", "center-1")
	right, err := os.ReadFile(passwordFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		password []byte
		want     string
	}{{[]byte("wrong"), "INVALID_CREDENTIALS"}, {right, "OK"}} {
		if err := os.WriteFile(passwordFile, tt.password, 0o600); err != nil {
			t.Fatal(err)
		}
		w.estate.Centers[0].Listener().Set(flakylistener.Down)
		w.until("the session is lost", func() bool {
			return w.record(desktop.KindVirtualCenter, "vc1.corp.example").Statuses()[0].Status != "OK"
		})
		w.estate.Centers[0].Listener().Set(flakylistener.Up)
		w.status(desktop.KindVirtualCenter, "vc1.corp.example", self, tt.want)
	}
}

func TestDisabledFarmAndServer(t *testing.T) {
	t.Parallel()
	size := tiny()
	size.Farms, size.RDSServers = 25, 50 // every 25th farm and every 50th server of the simulation is disabled
	w := start(t, options{size: size, join: true})
	w.status(desktop.KindFarm, "farm-25", "", "DISABLED")
	w.status(desktop.KindRDSServer, "rds050.corp.example", "", "DISABLED")
	w.status(desktop.KindRDSServer, "rds050.corp.example", "state", "DISABLED")
}

func TestReloadOfTheInventoryKeepsState(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), join: true})
	w.status(desktop.KindGateway, "gw1.corp.example", "", "OK")
	text, err := os.ReadFile(w.estate.InventoryFile())
	if err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(string(text), "gateways:\n  - {name: gw1",
		"gateways:\n  - {name: gw9.corp.example, address: 192.0.2.9, type: UAG}\n  - {name: gw1", 1)
	if err := os.WriteFile(w.estate.InventoryFile(), []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	w.until("the new gateway is listed", func() bool {
		return len(w.app.Board().Records(desktop.KindGateway)) == 2
	})
	w.status(desktop.KindGateway, "gw9.corp.example", "", "NOT_CONTACTED")
	w.status(desktop.KindGateway, "gw1.corp.example", "", "OK")
	if err := os.WriteFile(w.estate.InventoryFile(), []byte("nonsense: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	w.until("the broken file is refused", func() bool { return w.app.Board().Refused() != nil })
	if got := len(w.app.Board().Records(desktop.KindGateway)); got != 2 {
		t.Errorf("a broken file left %d gateways", got)
	}
}

// commandLineToken creates an enrolment token as the command line does while
// the server runs.
func (f *fixture) commandLineToken(machine string) string {
	f.Helper()
	in, err := instance.Open(f.Context(), f.conf, time.Now)
	if err != nil {
		f.Fatal(err)
	}
	defer in.Close()
	tables := store.New(in.DB, in.Box, time.Now)
	if _, _, err := app.NewEnrolmentToken(f.Context(), f.conf.Desktop.Inventory, tables, "nobody", 0, time.Now); !fault.Is(err, fault.NotFound) {
		f.Errorf("an unknown machine: %v", err)
	}
	_, token, err := app.NewEnrolmentToken(f.Context(), f.conf.Desktop.Inventory, tables, machine, 0, time.Now)
	if err != nil {
		f.Fatal(err)
	}
	return token
}
