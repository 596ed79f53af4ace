package app

import (
	"context"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
	"vigil/internal/desktop/inventory"
	"vigil/internal/desktop/probe"
	"vigil/internal/desktop/probe/eventdb"
	"vigil/internal/desktop/probe/vcenter"
)

// A Finding is what one look at a component brought, for `vigil desktop check`.
type Finding struct {
	Ref     desktop.Ref
	Took    time.Duration
	Problem string // empty: it can be read
}

// Check reads an inventory and looks once at everything in it that can be looked
// at, all at a time. Nothing is stored. Vault opens the references to secrets in
// the vault; it may be nil.
func Check(ctx context.Context, path string, vault inventory.Vault, now func() time.Time) ([]Finding, error) {
	inv, err := inventory.Load(path, inventory.Options{})
	if err != nil {
		return nil, err
	}
	secrets := inventory.Secrets{Vault: vault}
	client := directory.New(directory.Options{Secrets: secrets, Now: now})
	client.Configure(inv)
	e := probe.Estate{
		Directory: client, Secrets: secrets, Now: now,
		Self: func(context.Context) (desktop.PeerHealth, error) { return desktop.PeerHealth{Version: "check"}, nil },
		EventDatabase: func(spec desktop.EventDatabase) (probe.Look, func()) {
			db, err := eventdb.New(spec, secrets, now)
			if err != nil {
				return unusable(err), func() {}
			}
			return db.Look, db.Close
		},
		VirtualCenter: func(spec desktop.VirtualCenter) (probe.Look, func()) {
			c := vcenter.New(spec, secrets, now)
			return c.Look, c.Close
		},
	}
	targets := e.Targets(inv)
	found := make([]Finding, len(targets))
	for i, o := range probe.Once(ctx, targets, 10*time.Second, now) {
		found[i] = Finding{Ref: targets[i].Ref, Took: o.Took, Problem: problemOf(o)}
	}
	return found, nil
}

// problemOf says what is wrong with a component that was looked at. Connection
// servers and connectors are read even when parts of them are not well.
func problemOf(o desktop.Observation) string {
	if o.Failure != nil {
		return o.Failure.Reason
	}
	switch r := o.Reading.(type) {
	case desktop.ConnectionServerReading:
		for _, p := range r.Health.Problems {
			return p
		}
	case desktop.SSOReading:
		for _, part := range append([]desktop.SSOPart{r.Domain, r.Template, r.Primary}, r.CertificateServers...) {
			for _, reason := range part.Reasons {
				return part.Name + ": " + reason
			}
		}
	}
	return ""
}
