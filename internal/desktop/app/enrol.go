package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/inventory"
	"vigil/internal/desktop/store"
	"vigil/internal/fault"
)

// NewEnrolmentToken creates a token with which a gateway or an RDS server of an
// inventory, given by id or name, may enrol at the server that uses the store.
// A lifetime of zero means the default.
func NewEnrolmentToken(ctx context.Context, path string, st *store.Store, machine string, lifetime time.Duration, now func() time.Time) (heartbeat.Token, string, error) {
	if path == "" {
		return heartbeat.Token{}, "", fault.New(fault.Invalid, "no inventory is configured: set desktop.inventory")
	}
	inv, err := inventory.Load(path, inventory.Options{})
	if err != nil {
		return heartbeat.Token{}, "", err
	}
	all := machines(inv)
	matches := func(r desktop.Ref) bool { return string(r.ID) == machine || strings.EqualFold(r.Name, machine) }
	i := slices.IndexFunc(all, matches)
	if i < 0 {
		return heartbeat.Token{}, "", fault.New(fault.NotFound, "the inventory has no gateway or RDS server %q", machine)
	}
	agent := heartbeat.Agent{Kind: all[i].Kind, ID: all[i].ID}
	if slices.ContainsFunc(all[i+1:], matches) {
		return heartbeat.Token{}, "", fault.New(fault.Invalid, "the inventory has several machines %q: give its id, such as %s", machine, agent.ID)
	}
	service := heartbeat.New(heartbeat.Options{Store: st, Now: now, Component: func(heartbeat.Agent) (desktop.Ref, bool) { return all[i], true }})
	return service.NewToken(ctx, "command line", agent, lifetime)
}

// machines returns the components that report by heartbeat.
func machines(inv desktop.Inventory) []desktop.Ref {
	var all []desktop.Ref
	for _, g := range inv.Gateways {
		all = append(all, desktop.Ref{Kind: desktop.KindGateway, ID: g.ID, Name: g.Name})
	}
	for _, s := range inv.RDSServers {
		all = append(all, desktop.Ref{Kind: desktop.KindRDSServer, ID: s.ID, Name: s.Name})
	}
	return all
}
