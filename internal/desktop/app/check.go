package app

import (
	"context"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
	"vigil/internal/desktop/inventory"
	"vigil/internal/desktop/probe"
	"vigil/internal/desktop/probe/eventdb"
	"vigil/internal/desktop/probe/vcenter"
	"vigil/internal/fault"
)

// A Finding is the result of checking one component, for `vigil desktop check`.
type Finding struct {
	Ref     desktop.Ref
	Took    time.Duration
	Problem string // why it cannot be read; empty if it can
	Warning string // what will need attention although it can be read
}

// A Report is the result of a check.
type Report struct {
	Findings []Finding
	Unprobed int // number of gateways and RDS servers that are not probed, because their agents report
}

// Check reads an inventory and probes each of its components once, all
// concurrently. It stores nothing. Vault resolves references to secrets in the
// vault; it may be nil.
func Check(ctx context.Context, path string, vault inventory.Vault, now func() time.Time) (Report, error) {
	if path == "" {
		return Report{}, fault.New(fault.Invalid, "there is no inventory to check: set desktop.inventory")
	}
	inv, err := inventory.Load(path, inventory.Options{})
	if err != nil {
		return Report{}, err
	}
	secrets := inventory.Secrets{Vault: vault}
	client := directory.New(directory.Options{Secrets: secrets, Now: now})
	client.Configure(inv)
	factory := probe.TargetFactory{
		Directory: client, Secrets: secrets, Now: now,
		Self: func(context.Context) (desktop.PeerHealth, error) { return desktop.PeerHealth{Version: "check"}, nil },
		EventDatabase: func(spec desktop.EventDatabase) (probe.Probe, func()) {
			db, err := eventdb.New(spec, secrets, now)
			if err != nil {
				return unusable(err), func() {}
			}
			db.ReadOnly = true
			return db.Probe, db.Close
		},
		VirtualCenter: func(spec desktop.VirtualCenter) (probe.Probe, func()) {
			c := vcenter.New(spec, secrets, now)
			return c.Probe, c.Close
		},
	}
	targets := factory.Targets(inv)
	report := Report{Findings: make([]Finding, len(targets)), Unprobed: len(inv.Gateways) + len(inv.RDSServers)}
	for i, o := range probe.Once(ctx, targets, 10*time.Second, now) {
		f := Finding{Ref: targets[i].Ref, Took: o.Took, Problem: problemOf(o)}
		if f.Problem == "" {
			f.Warning = warningOf(o, inv, now())
		}
		report.Findings[i] = f
		if targets[i].Ref.Kind == desktop.KindRDSListener { // the inventory has the server's address: it is probed after all
			report.Unprobed--
		}
	}
	report.Findings = append(report.Findings, checkGroups(ctx, client, inv, now)...)
	return report, nil
}

// checkGroups looks up the administrator groups: without one nobody can log in.
func checkGroups(ctx context.Context, client *directory.Client, inv desktop.Inventory, now func() time.Time) []Finding {
	var out []Finding
	for _, g := range inv.Administrators {
		if g.SID != "" {
			continue // given by SID: the server does not look it up either
		}
		start := now()
		f := Finding{Ref: desktop.Ref{Kind: desktop.KindDomain, ID: g.DomainID, Name: "group " + g.Name}}
		if err := client.CheckGroup(ctx, g); err != nil {
			f.Problem = desktop.FailureOf(err).Reason + ", so that its members cannot log in"
		}
		f.Took = now().Sub(start)
		out = append(out, f)
	}
	return out
}

// problemOf returns why a probed component has a problem, or "". Connection
// servers and connectors can be read even when parts of them fail.
func problemOf(o desktop.Observation) string {
	if o.Failure != nil {
		return o.Failure.Reason
	}
	switch r := o.Reading.(type) {
	case desktop.ConnectionServerReading:
		return strings.Join(r.Health.Problems, "; ")
	case desktop.SSOReading:
		return reasonsOf(r, desktop.SSOError)
	}
	return ""
}

// warningOf returns what will need attention in a component that can be read,
// or "".
func warningOf(o desktop.Observation, inv desktop.Inventory, now time.Time) string {
	switch r := o.Reading.(type) {
	case desktop.SSOReading:
		return reasonsOf(r, desktop.SSOWarn)
	case desktop.EventDatabaseReading:
		if r.NoTables {
			return "it has no event tables yet: the server creates them when it starts"
		}
	case desktop.SAMLReading:
		for _, spec := range inv.SAMLAuthenticators {
			if spec.ID == o.ID {
				snapshot := desktop.Snapshot[desktop.SAMLReading]{}.With(o)
				return strings.Join(inv.Policy.SAMLView(spec, snapshot, now).Reasons, "; ")
			}
		}
	}
	if c := o.Certificate; c != nil && c.ValidTo.Time().Before(now.Add(inv.Policy.CertificateWarning)) {
		return "its certificate expires on " + c.ValidTo.Time().Format(time.DateOnly)
	}
	return ""
}

// reasonsOf returns the reasons of those parts of a connector that have the given status.
func reasonsOf(r desktop.SSOReading, status desktop.SSOStatus) string {
	var out []string
	for _, part := range append([]desktop.SSOPart{r.Domain, r.Template, r.Primary, r.Secondary}, r.CertificateServers...) {
		for _, reason := range part.Reasons {
			if part.Status == status {
				out = append(out, part.Name+": "+reason)
			}
		}
	}
	return strings.Join(out, "; ")
}
