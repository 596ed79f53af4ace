package app

import (
	"testing"

	"vigil/internal/desktop"
)

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
		{desktop.KindRDSServer, "state", "DISCONNECTED", desktop.SeverityInfo}, // without a session
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
