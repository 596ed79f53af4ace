package estate

import (
	"context"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"vigil/internal/desktop"
	"vigil/internal/desktop/agent"
	"vigil/internal/desktop/heartbeat"
)

// machines runs all machines that send heartbeats.
type machines struct {
	options Options
	all     []*machine
	local   []heartbeat.Agent // the RDS server that represents this machine, if any
	cancel  context.CancelFunc
	work    sync.WaitGroup
}

func newMachines(o Options) *machines { return &machines{options: o} }

func (ms *machines) add(m *machine, report func(heartbeat.Stamp) any) {
	m.reporter = heartbeat.NewMachine()
	m.reporter.CredentialStore = new(memoryStore)
	m.reporter.Now, m.reporter.Log = ms.options.Now, ms.options.Log
	m.reporter.Report = func(_ context.Context, s heartbeat.Stamp) (any, error) {
		if m.isSilent() {
			return nil, nil
		}
		return report(s), nil
	}
	ms.all = append(ms.all, m)
}

// setInventory sets the ids of the machines from the inventory. Both the inventory and ms.all
// have the gateways and then the RDS servers, in the order in which they were built.
func (ms *machines) setInventory(inv desktop.Inventory) {
	ms.local = nil
	i := 0
	for _, g := range inv.Gateways {
		ms.all[i].agent = heartbeat.Agent{Kind: desktop.KindGateway, ID: g.ID}
		i++
	}
	for _, r := range inv.RDSServers {
		a := heartbeat.Agent{Kind: desktop.KindRDSServer, ID: r.ID}
		if r.Name == thisMachine {
			ms.local = append(ms.local, a)
			continue
		}
		ms.all[i].agent = a
		i++
	}
}

// Tokens creates enrolment tokens, like an administrator of the product.
type Tokens func(ctx context.Context, a heartbeat.Agent) (string, error)

// concurrentEnrolments is the maximum number of concurrent enrolments.
const concurrentEnrolments = 8

// Join starts the machines: they enrol with the product at an https URL and
// report to it until Stop. It returns when all are enrolled. Each machine starts to
// report as soon as it is enrolled: if all started at once, the product would refuse
// some reports because of overload.
func (e *Estate) Join(ctx context.Context, server string, trust heartbeat.ServerTrust, tokens Tokens) error {
	ms := e.machines
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ms.cancel = cancel
	var enrolments errgroup.Group
	enrolments.SetLimit(concurrentEnrolments)
	for _, m := range ms.all {
		enrolments.Go(func() error {
			if err := m.enrol(ctx, server, trust, tokens); err != nil {
				return err
			}
			ms.work.Go(func() { ms.report(running, m) })
			return nil
		})
	}
	if err := enrolments.Wait(); err != nil {
		return err
	}
	return ms.joinThisMachine(ctx, running, server, trust, tokens)
}

// enrol requests a machine's certificate.
func (m *machine) enrol(ctx context.Context, server string, trust heartbeat.ServerTrust, tokens Tokens) error {
	token, err := tokens(ctx, m.agent)
	if err != nil {
		return err
	}
	client, err := heartbeat.NewClient(server, trust, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	credential, err := client.Enrol(ctx, token)
	if err != nil {
		return err
	}
	m.reporter.Server, m.reporter.Trust = server, trust
	return m.reporter.CredentialStore.Save(credential)
}

func (ms *machines) report(ctx context.Context, m *machine) {
	if err := m.reporter.Run(ctx); err != nil && ctx.Err() == nil {
		ms.options.Log.ErrorContext(ctx, "simulated machine stopped", "kind", m.agent.Kind, "id", m.agent.ID, "error", err)
	}
}

// joinThisMachine runs the real agent for the server that represents this
// machine.
func (ms *machines) joinThisMachine(ctx, running context.Context, server string, trust heartbeat.ServerTrust, tokens Tokens) error {
	for _, a := range ms.local {
		token, err := tokens(ctx, a)
		if err != nil {
			return err
		}
		ms.work.Go(func() {
			err := agent.Run(running, agent.Options{
				Server: server, Thumbprint: trust.Thumbprint, CAFile: "", Token: token,
				StateDir: filepath.Join(ms.options.Dir, "agent"), Version: "demo", Build: "demo",
				Now: ms.options.Now, Log: ms.options.Log,
			})
			if err != nil && running.Err() == nil {
				ms.options.Log.ErrorContext(running, "agent of this machine stopped", "error", err)
			}
		})
	}
	return nil
}

func (ms *machines) stop() {
	if ms.cancel != nil {
		ms.cancel()
		ms.work.Wait()
	}
}
