package desktop

import (
	"cmp"
	"fmt"
)

// A Farm is a group of RDS servers that serve the same applications.
type Farm struct {
	ID           ID
	Name         string
	Type         FarmType
	Source       FarmSource // for automated farms
	Enabled      bool
	Applications int // number of published applications
	ErrorPercent int // 0: use the policy's
}

// FarmMonitor is the monitor record of a farm.
type FarmMonitor struct {
	ID               ID          `json:"id"`
	Name             string      `json:"name"`
	Status           FarmStatus  `json:"status"`
	Details          FarmDetails `json:"details"`
	ApplicationCount int32       `json:"application_count"`
	RDSServerCount   int32       `json:"rds_server_count"`
	HealthyCount     int32       `json:"healthy_rds_server_count"` // servers without a problem
	SessionCount     int32       `json:"session_count"`            // on all its servers that report
	LoadIndex        *int32      `json:"load_index,omitempty"`     // mean of the servers that report one
	Freshness
	unchecked bool
}

// FarmDetails describes the configuration of a farm.
type FarmDetails struct {
	Type   FarmType   `json:"type"`
	Source FarmSource `json:"source,omitempty"`
}

// StatusOfFarm derives the status of a farm from its servers, with the reasons.
// Disabled servers are ignored, and if all are disabled, the farm is OK. Exception: in an automated farm, a
// provisioning error of any server counts. A server that was not checked since this server started counts as a
// warning, until it reports or is silent for too long.
func (p Policy) StatusOfFarm(f Farm, servers []RDSServerMonitor) (FarmStatus, []string) {
	if !f.Enabled {
		return FarmDisabled, []string{"the farm is disabled"}
	}
	var enabled, unchecked, failed, warned, loadKnown, loadUnknown, unprovisioned int
	for _, s := range servers {
		if s.Details.State == RDSProvisioningError {
			unprovisioned++
		}
		if s.Status == RDSStatusDisabled {
			continue
		}
		enabled++
		if s.unchecked {
			unchecked++
			continue
		}
		switch s.Status {
		case RDSStatusError:
			failed++
		case RDSStatusWarning:
			warned++
		}
		if s.LoadPreference == LoadUnknown {
			loadUnknown++
		} else {
			loadKnown++
		}
	}
	threshold := cmp.Or(f.ErrorPercent, p.FarmErrorPercent)
	var reasons []string
	note := func(n int, format string) {
		if n > 0 {
			reasons = append(reasons, fmt.Sprintf(format, n, enabled))
		}
	}
	broken := f.Type == FarmAutomated && unprovisioned > 0
	if broken {
		reasons = append(reasons, fmt.Sprintf("provisioning of %d servers failed", unprovisioned))
	}
	note(failed, "errors on %d of %d enabled servers")
	note(warned, "warnings on %d of %d enabled servers")
	note(unchecked, "%d of %d enabled servers were not checked since this server started")
	if loadKnown > 0 { // it is no problem if all loads are unknown
		note(loadUnknown, "the load of %d of %d enabled servers is unknown")
	}
	switch {
	case broken, failed*100 > threshold*enabled:
		return FarmError, reasons
	case len(reasons) > 0:
		return FarmWarning, reasons
	}
	return FarmOK, nil
}

// FarmRecord derives the monitor record of a farm from those of its servers.
func (p Policy) FarmRecord(f Farm, servers []RDSServerMonitor) FarmMonitor {
	status, reasons := p.StatusOfFarm(f, servers)
	var newest Millis
	unchecked := false
	var healthy, sessions, loadSum, loadCount int64
	for _, s := range servers {
		newest = max(newest, s.LastUpdated)
		unchecked = unchecked || s.unchecked && s.Status != RDSStatusDisabled
		if s.Status == RDSStatusOK {
			healthy++
		}
		if s.SessionCount != nil {
			sessions += int64(*s.SessionCount)
		}
		if s.LoadIndex != nil {
			loadSum += int64(*s.LoadIndex)
			loadCount++
		}
	}
	m := FarmMonitor{
		ID: f.ID, Name: f.Name, Status: status,
		Details:          FarmDetails{f.Type, f.Source},
		ApplicationCount: Count(int64(f.Applications)),
		RDSServerCount:   Count(int64(len(servers))),
		HealthyCount:     Count(healthy),
		SessionCount:     Count(sessions),
		// The servers that were not checked yet cannot undo an error.
		unchecked: unchecked && f.Enabled && status != FarmError,
	}
	health := HealthOf(KindFarm, "", string(status))
	if m.unchecked {
		health = HealthUnknown
	}
	m.Freshness = fresh(newest, health, reasons...)
	if loadCount > 0 {
		m.LoadIndex = new(Count(loadSum / loadCount))
	}
	return m
}

// Ref implements [Record].
func (m FarmMonitor) Ref() Ref { return Ref{KindFarm, m.ID, m.Name} }

// Statuses implements [Record].
func (m FarmMonitor) Statuses() []PartStatus {
	return []PartStatus{{Status: string(m.Status), Unchecked: m.unchecked}}
}

// Certificates implements [Record].
func (m FarmMonitor) Certificates() []PartCertificate { return nil }
