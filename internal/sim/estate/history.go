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

// How far the samples of single RDS servers go back. It is limited because
// there are many.
const (
	serverFine   = 6 * time.Hour
	serverCoarse = 7 * 24 * time.Hour
	fine         = 48 * time.Hour
)

// historyBuilder generates a history.
type historyBuilder struct {
	History
	inv  desktop.Inventory
	now  time.Time
	rng  *rand.Rand
	rule alert.Rule
}

// GenerateHistory generates the history of an inventory; it is the same for the same
// days. The notices of its alert rules are sent to the given address.
func GenerateHistory(inv desktop.Inventory, now time.Time, notices string) History {
	p := &historyBuilder{inv: inv, now: now, rng: rand.New(rand.NewPCG(20, 26))} //nolint:gosec // need not be unpredictable
	channels := []alert.Channel{{Type: alert.Webhook, URL: notices}}
	begin := now.Add(-HistoryDays * 24 * time.Hour)
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
	slices.SortStableFunc(p.Changes, func(a, b desktop.Change) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(p.Alerts, func(a, b alert.Alert) int { return a.Since.Compare(b.Since) })
	p.sample()
	return p.History
}

// day generates some failures on a day, fewer at weekends.
func (p *historyBuilder) day(start time.Time) {
	often := 2
	if w := start.Weekday(); w == time.Saturday || w == time.Sunday {
		often = 1
	}
	for i := range p.rng.IntN(often + 1) {
		at := start.Add(time.Duration(7+i*4)*time.Hour + time.Duration(p.rng.IntN(180))*time.Minute)
		length := time.Duration(4+p.rng.IntN(50)) * time.Minute
		if at.Add(length).After(p.now.Add(-2 * time.Hour)) {
			continue
		}
		mishaps := []func(at time.Time, length time.Duration){
			p.domainDown, p.serverDown, p.gatewayProblem, p.farmFails, p.hostsUnreachable, p.podDown, p.composerDown, p.hostsUnreachable,
		}
		mishaps[p.rng.IntN(len(mishaps))](at, length)
	}
}

// fail adds a failure: a status turns bad because of a cause, and good again
// after a time.
func (p *historyBuilder) fail(at time.Time, length time.Duration, ref desktop.Ref, part, good, bad string, cause desktop.Ref, why string) {
	at = at.Add(time.Duration(p.rng.IntN(25_000)) * time.Millisecond)
	end := at.Add(length)
	p.Changes = append(p.Changes,
		desktop.Change{At: at, Ref: ref, Part: part, From: good, To: bad, Reasons: []string{why}, Cause: cause},
		desktop.Change{At: end, Ref: ref, Part: part, From: bad, To: good, Reasons: []string{}, Cause: cause},
	)
	if !slices.Contains(p.rule.Condition.Statuses, bad) {
		return
	}
	p.Alerts = append(p.Alerts, alert.Alert{
		RuleID: p.rule.ID, Subject: alert.Subject{Ref: ref, Part: part}, Cause: cause, State: alert.Resolved,
		Summary: fmt.Sprintf("the status is %s: %s", bad, why), Since: at, FiredAt: at, NotifiedAt: at, ResolvedAt: end,
	})
}

func one[T any](rng *rand.Rand, all []T) T { return all[rng.IntN(len(all))] }

func (p *historyBuilder) domainDown(at time.Time, length time.Duration) {
	if len(p.inv.Domains) < 2 {
		return
	}
	d := one(p.rng, p.inv.Domains[1:])
	ref := desktop.Ref{Kind: desktop.KindDomain, ID: d.ID, Name: d.DNSName}
	why := "no controller of " + d.DNSName + " answers"
	p.fail(at, length, ref, "", "OK", "ERROR", ref, why)
	for _, cs := range p.inv.ConnectionServers {
		p.fail(at, length, ref, cs.Name, "FULLY_ACCESSIBLE", "UNCONTACTABLE", ref, why)
	}
}

func (p *historyBuilder) serverDown(at time.Time, length time.Duration) {
	if len(p.inv.ConnectionServers) < 2 {
		return
	}
	cs := one(p.rng, p.inv.ConnectionServers[1:])
	ref := desktop.Ref{Kind: desktop.KindConnectionServer, ID: cs.ID, Name: cs.Name}
	p.fail(at, length, ref, "", "OK", "NOT_RESPONDING", ref, cs.Name+" does not answer")
	for _, peer := range p.inv.ConnectionServers {
		if peer.ID != cs.ID {
			p.fail(at, length, desktop.Ref{Kind: desktop.KindConnectionServer, ID: peer.ID, Name: peer.Name}, "replication "+cs.Name, "OK", "ERROR", ref,
				"nothing is replicated to "+cs.Name+", which does not answer")
		}
	}
}

func (p *historyBuilder) gatewayProblem(at time.Time, length time.Duration) {
	g := one(p.rng, p.inv.Gateways)
	ref := desktop.Ref{Kind: desktop.KindGateway, ID: g.ID, Name: g.Name}
	p.fail(at, length, ref, "", "OK", "PROBLEM", ref, "a back end is unreachable")
}

// servers returns an enabled farm and its RDS servers.
func (p *historyBuilder) servers() (desktop.Ref, []desktop.RDSServer) {
	f := one(p.rng, p.inv.Farms)
	ref := desktop.Ref{Kind: desktop.KindFarm, ID: f.ID, Name: f.Name}
	if !f.Enabled {
		return ref, nil
	}
	return ref, slices.DeleteFunc(slices.Clone(p.inv.RDSServers), func(r desktop.RDSServer) bool { return r.FarmID != f.ID || !r.Enabled })
}

func (p *historyBuilder) farmFails(at time.Time, length time.Duration) {
	farm, servers := p.servers()
	if len(servers) == 0 {
		return
	}
	p.fail(at, length, farm, "", "OK", "ERROR", farm, fmt.Sprintf("%d of %[1]d enabled servers are in ERROR", len(servers)))
	for _, s := range servers {
		p.serverFails(at, length, s, farm, "AGENT_ERR_DOMAIN_FAILURE", "its agent reports AGENT_ERR_DOMAIN_FAILURE")
	}
}

func (p *historyBuilder) hostsUnreachable(at time.Time, length time.Duration) {
	farm, servers := p.servers()
	if len(servers) == 0 {
		return
	}
	p.fail(at, length, farm, "", "OK", "WARNING", farm, fmt.Sprintf("1 of %d enabled servers are in ERROR", len(servers)))
	p.serverFails(at, length, one(p.rng, servers), farm, "AGENT_UNREACHABLE", "its agent has not reported for two intervals")
}

func (p *historyBuilder) serverFails(at time.Time, length time.Duration, s desktop.RDSServer, farm desktop.Ref, state, why string) {
	ref := desktop.Ref{Kind: desktop.KindRDSServer, ID: s.ID, Name: s.Name}
	p.fail(at, length, ref, "", "OK", "ERROR", farm, why)
	p.fail(at, length, ref, "state", "AVAILABLE", state, farm, why)
}

func (p *historyBuilder) podDown(at time.Time, length time.Duration) {
	if len(p.inv.Pods) == 0 {
		return
	}
	pod := one(p.rng, p.inv.Pods)
	ref, endpoint := desktop.Ref{Kind: desktop.KindPod, ID: pod.ID, Name: pod.Name}, one(p.rng, pod.Endpoints)
	why := endpoint.Name + ": it does not answer"
	p.fail(at, length, ref, "", "OK", "WARNING", ref, why)
	p.fail(at, length, ref, endpoint.Name, "ONLINE", "OFFLINE", ref, why)
}

func (p *historyBuilder) composerDown(at time.Time, length time.Duration) {
	if len(p.inv.Composers) == 0 {
		return
	}
	c := one(p.rng, p.inv.Composers)
	ref := desktop.Ref{Kind: desktop.KindComposer, ID: c.ID, Name: c.Name}
	p.fail(at, length, ref, "", "OK", "ERROR", ref, c.Name+" does not answer")
	for _, cs := range p.inv.ConnectionServers {
		p.fail(at, length, ref, cs.Name, "OK", "ERROR", ref, c.Name+" does not answer")
	}
}

// busy returns the activity of users at a time, from 0 to 1: mostly in the
// daytime of weekdays.
func busy(at time.Time) float64 {
	hour := float64(at.Hour()) + float64(at.Minute())/60
	day := math.Exp(-math.Pow((hour-13)/4, 2))
	if w := at.Weekday(); w == time.Saturday || w == time.Sunday {
		day *= 0.25
	}
	return 0.08 + 0.9*day
}
