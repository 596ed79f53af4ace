package desktop

import (
	"slices"
	"time"
)

// A Pod is a remote group of connection servers.
type Pod struct {
	ID        ID
	Name      string
	SiteID    ID
	Endpoints []PodEndpoint
}

// A PodEndpoint is a connection server of a remote pod.
type PodEndpoint struct {
	ID      ID
	Name    string
	URL     string
	Enabled bool // a disabled endpoint is listed but not probed
	Trust   Trust
}

// PodReading is the result of reading a pod endpoint.
type PodReading struct {
	RoundTrip time.Duration
}

// Kind implements [Reading].
func (PodReading) Kind() Kind { return KindPodEndpoint }

// PodMonitor is the monitor record of a pod.
type PodMonitor struct {
	ID        ID                   `json:"id"`
	Name      string               `json:"name"`
	SiteID    ID                   `json:"site_id"`
	Endpoints []PodEndpointMonitor `json:"endpoints"`
	Status    Health               `json:"status"`
	Freshness
	unchecked bool
}

// PodEndpointMonitor is the part of a pod's record about one endpoint.
type PodEndpointMonitor struct {
	ID        ID                `json:"id"`
	Name      string            `json:"name"`
	Enabled   bool              `json:"enabled"`
	Status    PodEndpointStatus `json:"status"`
	URL       string            `json:"url"`
	RoundTrip *int64            `json:"roundtrip_time,omitempty"` // milliseconds

	certificate *Certificate
	notTried    bool
	unverified  bool // it has answered only once since the start, which does not show whether it was offline before
}

// StatusOfPodEndpoint derives the status of an endpoint: offline before its first
// answer and after repeated failures, then unchecked after one answer, and online
// after a second.
func (p Policy) StatusOfPodEndpoint(s Snapshot[PodReading]) PodEndpointStatus {
	switch {
	case !s.EverRead(), s.Failing(p.FailuresBeforeDown) != nil:
		return PodEndpointOffline
	case s.Successes == 1 && s.FailuresBefore >= p.FailuresBeforeDown:
		return PodEndpointUnchecked
	}
	return PodEndpointOnline
}

// PodRecord derives the monitor record of a pod; snapshot returns the snapshot
// of an endpoint.
func (p Policy) PodRecord(pod Pod, snapshot func(ID) Snapshot[PodReading], now time.Time) PodMonitor {
	m := PodMonitor{ID: pod.ID, Name: pod.Name, SiteID: pod.SiteID, Endpoints: []PodEndpointMonitor{}}
	var newest Millis
	var reasons []string
	for _, e := range pod.Endpoints {
		s := snapshot(e.ID)
		newest = max(newest, MillisOf(s.At))
		em := PodEndpointMonitor{ID: e.ID, Name: e.Name, Enabled: e.Enabled, URL: e.URL, certificate: s.Certificate, notTried: !s.Tried()}
		em.Status = p.StatusOfPodEndpoint(s)
		em.unverified = em.Status == PodEndpointUnchecked && s.FailuresBefore == firstContact
		switch {
		case !e.Enabled:
			reasons = append(reasons, e.Name+": it is disabled")
		case !s.Tried():
			reasons = append(reasons, e.Name+": not checked yet")
		case em.Status == PodEndpointOffline:
			reasons = append(reasons, e.Name+": "+s.Failure.Reason)
		case em.Status == PodEndpointUnchecked:
			reason := "it answers again and is not yet verified"
			if em.unverified {
				reason = "it has answered once and is not yet verified"
			}
			reasons = append(reasons, e.Name+": "+reason)
		}
		if em.Status != PodEndpointOffline {
			em.RoundTrip = new(s.Good.RoundTrip.Milliseconds())
		}
		m.Endpoints = append(m.Endpoints, em)
	}
	m.Status = healthOfEndpoints(m.Endpoints)
	m.unchecked = m.hasUnchecked() // hasUnchecked reads m.Status before certificates can change it
	expiring := p.expiringCertificates(now, m.Certificates()...)
	if len(expiring) > 0 && m.Status == HealthOK {
		m.Status = HealthWarning
	}
	m.Freshness = fresh(newest, m.Status, append(reasons, expiring...)...)
	return m
}

// hasUnchecked reports whether endpoints that were not checked yet may change the pod's status. An endpoint that has
// answered once is not offline, so it cannot change a warning: that comes from other endpoints, which are offline.
func (m PodMonitor) hasUnchecked() bool {
	return slices.ContainsFunc(m.Endpoints, func(e PodEndpointMonitor) bool {
		return e.Enabled && (e.notTried || e.unverified && m.Status != HealthWarning)
	})
}

// healthOfEndpoints returns the health of a pod: an error if all enabled endpoints are
// offline, a warning if some are.
func healthOfEndpoints(endpoints []PodEndpointMonitor) Health {
	var enabled, online, offline int
	for _, e := range endpoints {
		if !e.Enabled {
			continue
		}
		enabled++
		switch {
		case e.notTried: // its status is offline only because no probe has ended yet
		case e.Status == PodEndpointOnline:
			online++
		case e.Status == PodEndpointOffline:
			offline++
		}
	}
	switch {
	case enabled == 0:
		return HealthDisabled
	case offline == enabled:
		return HealthError
	case offline > 0:
		return HealthWarning
	case online > 0:
		return HealthOK
	}
	return HealthUnknown
}

// Ref implements [Record].
func (m PodMonitor) Ref() Ref { return Ref{KindPod, m.ID, m.Name} }

// Statuses implements [Record].
func (m PodMonitor) Statuses() []PartStatus {
	out := []PartStatus{{Status: string(m.Status), Unchecked: m.unchecked, Disabled: m.Status == HealthDisabled}}
	for _, e := range m.Endpoints {
		out = append(out, PartStatus{Part: e.Name, Status: string(e.Status), Unchecked: e.notTried || e.unverified, Disabled: !e.Enabled})
	}
	return out
}

// Certificates implements [Record].
func (m PodMonitor) Certificates() []PartCertificate {
	var out []PartCertificate
	for _, e := range m.Endpoints {
		out = append(out, certificates(e.Name, e.certificate)...)
	}
	return out
}
