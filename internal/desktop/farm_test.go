package desktop

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestStatusOfFarm(t *testing.T) {
	t.Parallel()
	const (
		ok = iota
		warning
		failed
		disabled
		unmeasured
		unprovisioned
	)
	server := func(kind int) RDSServerMonitor {
		load := 10
		beat := AgentBeat{LoadIndex: &load}
		switch kind {
		case warning:
			beat.State = RDSDrainMode
		case failed:
			beat.State = RDSDomainFailure
		case unmeasured:
			beat.LoadIndex = nil
		case unprovisioned:
			beat.State = RDSProvisioningError
		}
		return policy.RDSServerRecord(RDSServer{Enabled: kind != disabled}, "farm", snapshotAfter[AgentBeat](beat), Snapshot[ListenerReading]{}, time.Time{}, noon)
	}
	enabled := Farm{Enabled: true, Type: FarmManual}
	automated := Farm{Enabled: true, Type: FarmAutomated, Source: SourceInstantClone}
	strict := Farm{Enabled: true, Type: FarmManual, ErrorPercent: 20}
	for _, tt := range []struct {
		name    string
		farm    Farm
		servers []int
		want    FarmStatus
	}{
		{"no servers", enabled, nil, FarmOK},
		{"all servers are OK", enabled, []int{ok, ok}, FarmOK},
		{"disabled servers do not count", enabled, []int{ok, disabled}, FarmOK},
		{"all servers are disabled", enabled, []int{disabled, disabled}, FarmOK},
		{"a disabled farm", Farm{}, []int{failed}, FarmDisabled},
		{"a server in warning", enabled, []int{ok, warning}, FarmWarning},
		{"a server in error below the threshold", enabled, []int{ok, ok, failed}, FarmWarning},
		{"errors at the threshold", enabled, []int{ok, failed}, FarmWarning},
		{"errors above the threshold", enabled, []int{ok, failed, failed}, FarmError},
		{"a disabled server does not lower the percentage", enabled, []int{disabled, failed}, FarmError},
		{"a stricter threshold", strict, []int{ok, ok, failed}, FarmError},
		{"known and unknown loads mixed", enabled, []int{ok, unmeasured}, FarmWarning},
		{"all loads unknown", enabled, []int{unmeasured, unmeasured}, FarmOK},
		{"a provisioning error in an automated farm", automated, []int{ok, ok, ok, unprovisioned}, FarmError},
		{"a provisioning error in a manual farm is one error", enabled, []int{ok, ok, ok, unprovisioned}, FarmWarning},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var servers []RDSServerMonitor
			for _, kind := range tt.servers {
				servers = append(servers, server(kind))
			}
			got, reasons := policy.StatusOfFarm(tt.farm, servers)
			if got != tt.want {
				t.Errorf("StatusOfFarm = %s, want %s", got, tt.want)
			}
			if (len(reasons) == 0) != (got == FarmOK) {
				t.Errorf("StatusOfFarm = %s with reasons %q", got, reasons)
			}
		})
	}
}

func TestStateOfRDSServer(t *testing.T) {
	t.Parallel()
	type beat = AgentBeat
	full, half := 100, 50
	tooLate := noon.Add(61 * time.Second)
	for _, tt := range []struct {
		name     string
		disabled bool
		snap     Snapshot[beat]
		now      time.Time
		state    RDSState
		status   RDSStatus
	}{
		{"it never reported", false, snapshotAfter[beat](), noon, RDSWaitForAgent, RDSStatusWarning},
		{"it reports", false, snapshotAfter[beat](beat{LoadIndex: &half}), noon, RDSAvailable, RDSStatusOK},
		{"it stopped reporting", false, snapshotAfter[beat](beat{}), tooLate, RDSAgentUnreachable, RDSStatusError},
		{"it came back", false, snapshotAfter[beat](beat{}, beat{}), noon, RDSAvailable, RDSStatusOK},
		{"disabled with sessions", true, snapshotAfter[beat](beat{SessionCount: 2}), noon, RDSDisableInProgress, RDSStatusDisabled},
		{"disabled without sessions", true, snapshotAfter[beat](beat{}), noon, RDSDisabled, RDSStatusDisabled},
		{"disabled and not reporting", true, snapshotAfter[beat](beat{}), tooLate, RDSAgentUnreachable, RDSStatusDisabled},
		{"disabled with a problem", true, snapshotAfter[beat](beat{State: RDSInvalidIP}), noon, RDSInvalidIP, RDSStatusDisabled},
		{"its load is full", false, snapshotAfter[beat](beat{LoadIndex: &full}), noon, RDSAvailable, RDSStatusWarning},
		{"a state we do not know", false, snapshotAfter[beat](beat{State: "DANCING"}), noon, RDSUnknown, RDSStatusWarning},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := policy.RDSServerRecord(RDSServer{Enabled: !tt.disabled}, "farm", tt.snap, Snapshot[ListenerReading]{}, time.Time{}, tt.now)
			if got.Details.State != tt.state || got.Status != tt.status {
				t.Errorf("state = %s %s, want %s %s", got.Details.State, got.Status, tt.state, tt.status)
			}
			if got.Status != RDSStatusOK && len(got.Reasons) == 0 {
				t.Errorf("status %s has no reason", got.Status)
			}
		})
	}
}

func TestEveryReportedStateIsShown(t *testing.T) {
	t.Parallel()
	for state, status := range statusOfState {
		got := policy.RDSServerRecord(RDSServer{Enabled: true}, "farm", snapshotAfter[AgentBeat](AgentBeat{State: state}), Snapshot[ListenerReading]{}, time.Time{}, noon)
		if got.Details.State != state || got.Status != status {
			t.Errorf("an agent that reports %s is shown as %s %s, want %s", state, got.Details.State, got.Status, status)
		}
		if reason := state.Reason(); (reason == "") != (status == RDSStatusOK) || strings.Contains(reason, "_") {
			t.Errorf("state %s with status %s has the reason %q", state, status, reason)
		}
	}
	if len(statusOfState) != 27 {
		t.Errorf("there are %d states, the API document has 27", len(statusOfState))
	}
}

func TestLoadPreference(t *testing.T) {
	t.Parallel()
	for load, want := range map[int]LoadPreference{
		0: LoadLight, 50: LoadLight, 51: LoadNormal, 75: LoadNormal, 76: LoadHeavy, 94: LoadHeavy, 95: LoadBlock, 100: LoadBlock,
	} {
		if got := PreferenceOf(&load); got != want {
			t.Errorf("PreferenceOf(%d) = %s, want %s", load, got, want)
		}
	}
	if got := PreferenceOf(nil); got != LoadUnknown {
		t.Errorf("PreferenceOf(nil) = %s, want UNKNOWN", got)
	}
}

func TestListenerAffectsTheStateOfItsServer(t *testing.T) {
	t.Parallel()
	type beat = AgentBeat
	type listener = ListenerReading
	down := "because " + string(Unreachable)
	// A listener that answered before is down after two failures in succession, any other after one.
	for _, tt := range []struct {
		name     string
		beats    Snapshot[beat]
		listener Snapshot[listener]
		state    RDSState
		reasons  []string
	}{
		{"no agent, the listener answers", snapshotAfter[beat](), snapshotAfter[listener](listener{}), RDSAvailable, nil},
		{"no agent, the listener is down", snapshotAfter[beat](), snapshotAfter[listener](listener{}, Unreachable, Unreachable), RDSAgentUnreachable, []string{down}},
		{"no agent, something else listens", snapshotAfter[beat](), snapshotAfter[listener](Broken), RDSProtocolFailure, []string{"because " + string(Broken)}},
		{"the agent reports, the listener is down", snapshotAfter[beat](beat{}), snapshotAfter[listener](Unreachable), RDSProtocolFailure, []string{down}},
		{"the agent reports worse", snapshotAfter[beat](beat{State: RDSNeedReboot}), snapshotAfter[listener](Unreachable), RDSNeedReboot, []string{RDSNeedReboot.Reason(), down}},
		{"the agent reports, the listener is back", snapshotAfter[beat](beat{}), snapshotAfter[listener](Unreachable, listener{}), RDSAvailable, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := policy.RDSServerRecord(RDSServer{Enabled: true}, "farm", tt.beats, tt.listener, time.Time{}, noon)
			if got.Details.State != tt.state {
				t.Errorf("state = %s, want %s", got.Details.State, tt.state)
			}
			if !slices.Equal(got.Reasons, tt.reasons) {
				t.Errorf("reasons %q, want %q", got.Reasons, tt.reasons)
			}
		})
	}
}
