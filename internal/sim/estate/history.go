package estate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
)

// A History is a simulated history of the environment. The demo starts with it, so
// that histories and trends are not empty.
type History struct {
	Changes []desktop.Change // oldest first
	Fine    []desktop.Sample
	Coarse  []desktop.Sample
	Rules   []alert.Rule
	Alerts  []alert.Alert // all resolved
}

// HistoryDays is the length of the simulated history.
const HistoryDays = 30

// How far samples go back: less for individual RDS servers, because there are many.
const (
	serverFine   = 6 * time.Hour
	serverCoarse = 7 * 24 * time.Hour
	otherFine    = 48 * time.Hour // of all other series
)

// historyBuilder generates a history.
type historyBuilder struct {
	History
	inv  desktop.Inventory
	now  time.Time
	rng  *rand.Rand
	rule alert.Rule // of all alerts
}

// GenerateHistory generates the history of an inventory. The same arguments always give
// the same history. The notices of its alert rules are sent to the given address.
func GenerateHistory(inv desktop.Inventory, now time.Time, notices string) History {
	p := &historyBuilder{inv: inv, now: now, rng: rand.New(rand.NewPCG(20, 26))} //nolint:gosec // need not be unpredictable
	channels := []alert.Channel{{Type: alert.Webhook, URL: notices}}
	begin := now.Add(-HistoryDays * 24 * time.Hour).Truncate(24 * time.Hour) // the start of the first day
	p.rule = alert.Rule{
		ID: "5b1c2f6e-50a1-4d6a-9b62-0f8f0a4b7c01", Name: "Component is down", Enabled: true, Version: 1, CreatedAt: begin, UpdatedAt: begin,
		Condition: alert.Condition{Type: alert.StatusIs, Statuses: []string{
			"ERROR", "NOT_RESPONDING", "UNCONTACTABLE", "CANNOT_BIND", "PROBLEM", "STALE", "OFFLINE", "DOWN", "CERT_ERROR", "NOT_ACCESSIBLE",
		}},
		Channels: channels,
	}
	p.Rules = []alert.Rule{p.rule, {
		ID: "5b1c2f6e-50a1-4d6a-9b62-0f8f0a4b7c02", Name: "A certificate expires within 30 days", Enabled: true, Version: 1, CreatedAt: begin, UpdatedAt: begin,
		Condition: alert.Condition{Type: alert.CertificateExpires, Days: 30}, Channels: channels,
	}}
	for day := HistoryDays; day >= 1; day-- {
		p.day(now.Add(-time.Duration(day) * 24 * time.Hour).Truncate(24 * time.Hour))
	}
	// The API lists the alerts of the last 24 hours. Without this failure, the list would be empty on some days.
	p.gatewayProblem(now.Add(-3*time.Hour), 25*time.Minute)
	slices.SortStableFunc(p.Changes, func(a, b desktop.Change) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(p.Alerts, func(a, b alert.Alert) int { return a.Since.Compare(b.Since) })
	p.sample()
	return p.History
}

// day generates some failures on a past day, fewer at weekends. All have ended before the
// next day begins.
func (b *historyBuilder) day(start time.Time) {
	maxFailures := 2
	if w := start.Weekday(); w == time.Saturday || w == time.Sunday {
		maxFailures = 1
	}
	for i := range b.rng.IntN(maxFailures + 1) {
		at := start.Add(time.Duration(7+i*4)*time.Hour + time.Duration(b.rng.IntN(180))*time.Minute)
		length := time.Duration(4+b.rng.IntN(50)) * time.Minute
		// agentUnreachable is in the list twice, because it is the most frequent.
		mishaps := []func(at time.Time, length time.Duration){
			b.domainDown, b.serverDown, b.gatewayProblem, b.farmFails, b.agentUnreachable, b.podDown, b.composerDown, b.agentUnreachable,
		}
		mishaps[b.rng.IntN(len(mishaps))](at, length)
	}
}

// fail adds a failure: the status of a component, or of a part of it, changes from healthy to
// failed because of a cause, and back after the given length. If the alert rule has the failed
// status, fail also adds an alert.
func (b *historyBuilder) fail(at time.Time, length time.Duration, ref desktop.Ref, part, healthy, failed string, cause desktop.Ref, reason string) {
	at = at.Add(time.Duration(b.rng.IntN(25_000)) * time.Millisecond) // components are not probed at the same moment
	end := at.Add(length)
	b.Changes = append(b.Changes,
		desktop.Change{At: at, Ref: ref, Part: part, From: healthy, To: failed, Reasons: []string{reason}, Cause: cause},
		desktop.Change{At: end, Ref: ref, Part: part, From: failed, To: healthy, Reasons: []string{}, Cause: cause},
	)
	if !slices.Contains(b.rule.Condition.Statuses, failed) {
		return
	}
	b.Alerts = append(b.Alerts, alert.Alert{
		RuleID: b.rule.ID, Subject: alert.Subject{Ref: ref, Part: part}, Cause: cause, State: alert.Resolved,
		Summary: alert.StatusSummary(failed) + ": " + reason, Since: at, FiredAt: at, NotifiedAt: at, ResolvedAt: end,
	})
}

// pickOne returns a random element of a list that is not empty.
func pickOne[T any](rng *rand.Rand, all []T) T { return all[rng.IntN(len(all))] }

func (b *historyBuilder) domainDown(at time.Time, length time.Duration) {
	if len(b.inv.Domains) < 2 {
		return
	}
	d := pickOne(b.rng, b.inv.Domains[1:])
	ref := desktop.Ref{Kind: desktop.KindDomain, ID: d.ID, Name: d.DNSName}
	reason := "no controller of " + d.DNSName + " answers"
	b.fail(at, length, ref, "", "OK", "ERROR", ref, reason)
	for _, cs := range b.inv.ConnectionServers {
		b.fail(at, length, ref, cs.Name, "FULLY_ACCESSIBLE", "UNCONTACTABLE", ref, reason)
	}
}

func (b *historyBuilder) serverDown(at time.Time, length time.Duration) {
	if len(b.inv.ConnectionServers) < 2 {
		return
	}
	cs := pickOne(b.rng, b.inv.ConnectionServers[1:])
	ref := desktop.Ref{Kind: desktop.KindConnectionServer, ID: cs.ID, Name: cs.Name}
	b.fail(at, length, ref, "", "OK", "NOT_RESPONDING", ref, cs.Name+" does not answer")
	for _, peer := range b.inv.ConnectionServers {
		if peer.ID != cs.ID {
			b.fail(at, length, desktop.Ref{Kind: desktop.KindConnectionServer, ID: peer.ID, Name: peer.Name}, "replication "+cs.Name, "OK", "ERROR", ref,
				"nothing is replicated to "+cs.Name+", which does not answer")
		}
	}
}

func (b *historyBuilder) gatewayProblem(at time.Time, length time.Duration) {
	if len(b.inv.Gateways) == 0 {
		return
	}
	g := pickOne(b.rng, b.inv.Gateways)
	ref := desktop.Ref{Kind: desktop.KindGateway, ID: g.ID, Name: g.Name}
	b.fail(at, length, ref, "", "OK", "PROBLEM", ref, "a back end is unreachable")
}

// servers returns a random farm and its enabled RDS servers: none if the farm is disabled, or if there is no farm.
func (b *historyBuilder) servers() (desktop.Ref, []desktop.RDSServer) {
	if len(b.inv.Farms) == 0 {
		return desktop.Ref{}, nil
	}
	f := pickOne(b.rng, b.inv.Farms)
	ref := desktop.Ref{Kind: desktop.KindFarm, ID: f.ID, Name: f.Name}
	if !f.Enabled {
		return ref, nil
	}
	return ref, slices.DeleteFunc(slices.Clone(b.inv.RDSServers), func(r desktop.RDSServer) bool { return r.FarmID != f.ID || !r.Enabled })
}

func (b *historyBuilder) farmFails(at time.Time, length time.Duration) {
	farm, servers := b.servers()
	if len(servers) == 0 {
		return
	}
	b.fail(at, length, farm, "", "OK", "ERROR", farm, fmt.Sprintf("errors on %d of %[1]d enabled servers", len(servers)))
	for _, s := range servers {
		b.serverFails(at, length, s, farm, string(desktop.RDSDomainFailure), desktop.RDSDomainFailure.Reason())
	}
}

func (b *historyBuilder) agentUnreachable(at time.Time, length time.Duration) {
	farm, servers := b.servers()
	if len(servers) == 0 {
		return
	}
	b.fail(at, length, farm, "", "OK", "WARNING", farm, fmt.Sprintf("errors on 1 of %d enabled servers", len(servers)))
	b.serverFails(at, length, pickOne(b.rng, servers), farm, string(desktop.RDSAgentUnreachable), desktop.RDSAgentUnreachable.Reason())
}

func (b *historyBuilder) serverFails(at time.Time, length time.Duration, s desktop.RDSServer, farm desktop.Ref, state, reason string) {
	ref := desktop.Ref{Kind: desktop.KindRDSServer, ID: s.ID, Name: s.Name}
	b.fail(at, length, ref, "", "OK", "ERROR", farm, reason)
	b.fail(at, length, ref, "state", "AVAILABLE", state, farm, reason)
}

func (b *historyBuilder) podDown(at time.Time, length time.Duration) {
	if len(b.inv.Pods) == 0 {
		return
	}
	pod := pickOne(b.rng, b.inv.Pods)
	if len(pod.Endpoints) == 0 {
		return
	}
	ref, endpoint := desktop.Ref{Kind: desktop.KindPod, ID: pod.ID, Name: pod.Name}, pickOne(b.rng, pod.Endpoints)
	reason := endpoint.Name + ": it does not answer"
	b.fail(at, length, ref, "", "OK", "WARNING", ref, reason)
	b.fail(at, length, ref, endpoint.Name, "ONLINE", "OFFLINE", ref, reason)
}

func (b *historyBuilder) composerDown(at time.Time, length time.Duration) {
	if len(b.inv.Composers) == 0 {
		return
	}
	c := pickOne(b.rng, b.inv.Composers)
	ref := desktop.Ref{Kind: desktop.KindComposer, ID: c.ID, Name: c.Name}
	b.fail(at, length, ref, "", "OK", "ERROR", ref, c.Name+" does not answer")
	for _, cs := range b.inv.ConnectionServers {
		b.fail(at, length, ref, cs.Name, "OK", "ERROR", ref, c.Name+" does not answer")
	}
}

// activity returns the activity of users at a time, from 0 to 1: mostly in the
// daytime of weekdays.
func activity(at time.Time) float64 {
	hour := float64(at.Hour()) + float64(at.Minute())/60
	day := math.Exp(-math.Pow((hour-13)/4, 2))
	if w := at.Weekday(); w == time.Saturday || w == time.Sunday {
		day *= 0.25
	}
	return 0.08 + 0.9*day
}
