package heartbeat_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"vigil/internal/desktop"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/fault"
)

var serialNumber = big.NewInt(1)

func thumbprintOf(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

func TestReportsAreValidated(t *testing.T) {
	t.Parallel()
	valid := heartbeat.AgentReport{
		Stamp:     heartbeat.Stamp{Sequence: 1},
		AgentBeat: desktop.AgentBeat{OperatingSystem: desktop.OSLinuxOther, LoadIndex: new(100)},
	}
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	for path, spoil := range map[string]func(*heartbeat.AgentReport){
		"sequence":         func(r *heartbeat.AgentReport) { r.Sequence = 0 },
		"operating_system": func(r *heartbeat.AgentReport) { r.OperatingSystem = "DOS" },
		"state":            func(r *heartbeat.AgentReport) { r.State = "FINE" },
		"load_index":       func(r *heartbeat.AgentReport) { r.LoadIndex = new(101) },
		"session_count":    func(r *heartbeat.AgentReport) { r.SessionCount = -1 },
		"agent_version":    func(r *heartbeat.AgentReport) { r.AgentVersion = strings.Repeat("x", 65) },
		"agent_build":      func(r *heartbeat.AgentReport) { r.AgentBuild = "a\nb" },
		"problems":         func(r *heartbeat.AgentReport) { r.Problems = make([]string, 17) },
		"problems[1]":      func(r *heartbeat.AgentReport) { r.Problems = []string{"", strings.Repeat("x", 257)} },
	} {
		bad := valid
		spoil(&bad)
		details := fault.Details(bad.Validate())
		if len(details) != 1 || details[0].Path != path {
			t.Errorf("%s: details %v, want one with this path", path, details)
		}
	}
	// The sequence number is missing too.
	gateway := heartbeat.GatewayReport{GatewayBeat: desktop.GatewayBeat{Version: "\x00", BlastConnections: -1, PCoIPConnections: 1 << 31}}
	if got := len(fault.Details(gateway.Validate())); got != 4 {
		t.Errorf("%d validation errors of a bad gateway report, want 4", got)
	}
}
