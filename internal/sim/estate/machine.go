package estate

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/fault"
)

// thisMachine is the name of the RDS server that represents this machine.
const thisMachine = "this-machine"

// Gateway is a simulated gateway. It reports over the real protocol.
type Gateway struct {
	Name string
	machine

	mu       sync.Mutex
	problems []string
	blast    int
	pcoip    int
}

// SetProblems sets the problems that the gateway reports; none clears them.
func (g *Gateway) SetProblems(problems ...string) {
	g.mu.Lock()
	g.problems = problems
	g.mu.Unlock()
	g.ReportNow()
}

func (g *Gateway) report(s heartbeat.Stamp) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	return heartbeat.GatewayReport{Stamp: s, GatewayBeat: desktop.GatewayBeat{
		Version: "23.12.1", BlastConnections: g.blast, PCoIPConnections: g.pcoip, Problems: slices.Clone(g.problems),
	}}
}

// RDSServer is a simulated RDS server. Its agent reports over the real protocol.
type RDSServer struct {
	Name string
	Farm string
	machine

	now     func() time.Time
	enabled bool
	number  int

	mu       sync.Mutex
	state    desktop.RDSState
	system   desktop.OperatingSystem
	load     *int // instead of the simulated curve, if not nil
	sessions *int // instead of the simulated curve, if not nil
	noLoad   bool // report no load
	problems []string
}

// SetState sets the state that the agent reports; empty means AVAILABLE.
func (r *RDSServer) SetState(s desktop.RDSState, problems ...string) {
	r.mu.Lock()
	r.state, r.problems = s, problems
	r.mu.Unlock()
	r.ReportNow()
}

// SetSystem sets the operating system that the agent reports.
func (r *RDSServer) SetSystem(s desktop.OperatingSystem) {
	r.mu.Lock()
	r.system = s
	r.mu.Unlock()
	r.ReportNow()
}

// SetLoad sets the load index that the agent reports; nil restores the
// simulated curve.
func (r *RDSServer) SetLoad(index *int) {
	r.mu.Lock()
	r.load, r.noLoad = index, false
	r.mu.Unlock()
	r.ReportNow()
}

// SetSessions sets the number of sessions that the agent reports.
func (r *RDSServer) SetSessions(n int) {
	r.mu.Lock()
	r.sessions = &n
	r.mu.Unlock()
	r.ReportNow()
}

// HideLoad makes the agent report no load.
func (r *RDSServer) HideLoad() {
	r.mu.Lock()
	r.noLoad = true
	r.mu.Unlock()
	r.ReportNow()
}

// report returns the agent's report: load and sessions follow a wave of 45 min,
// whose phase depends on the server.
func (r *RDSServer) report(s heartbeat.Stamp) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	minutes := float64(r.now().UnixMilli()) / 60000
	wave := 0.5 + 0.35*math.Sin(2*math.Pi*(minutes/45+float64(r.number)/17)) + 0.1*math.Sin(minutes+float64(r.number))
	load := max(1, min(74, int(wave*70)))
	sessions := 0
	if r.enabled {
		sessions = max(0, min(40, int(wave*30)))
	}
	if r.sessions != nil {
		sessions = *r.sessions
	}
	index := &load
	if r.load != nil {
		index = r.load
	}
	if r.noLoad {
		index = nil
	}
	return heartbeat.AgentReport{Stamp: s, AgentBeat: desktop.AgentBeat{
		AgentVersion: "8.12.0", AgentBuild: "23142606", OperatingSystem: r.system,
		State: r.state, LoadIndex: index, SessionCount: sessions, Problems: slices.Clone(r.problems),
	}}
}

// machine is the common part of gateways and agents: it reports or is silent.
type machine struct {
	agent    heartbeat.Agent
	reporter *heartbeat.Machine

	silentMu sync.Mutex
	silent   bool
}

// Silence stops or resumes the reports.
func (m *machine) Silence(silent bool) {
	m.silentMu.Lock()
	m.silent = silent
	m.silentMu.Unlock()
	m.ReportNow()
}

func (m *machine) isSilent() bool {
	m.silentMu.Lock()
	defer m.silentMu.Unlock()
	return m.silent
}

// ReportNow makes the machine report now.
func (m *machine) ReportNow() { m.reporter.ReportNow() }

// ID returns the component's id in the inventory, which is empty before WriteInventory.
func (m *machine) ID() desktop.ID { return m.agent.ID }

// memoryStore is an in-memory credential store.
type memoryStore struct {
	mu    sync.Mutex
	saved *heartbeat.Credential
}

// Load implements [heartbeat.CredentialStore].
func (s *memoryStore) Load() (heartbeat.Credential, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil {
		return heartbeat.Credential{}, fault.New(fault.NotFound, "not enrolled")
	}
	return *s.saved, nil
}

// Save implements [heartbeat.CredentialStore].
func (s *memoryStore) Save(c heartbeat.Credential) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = &c
	return nil
}

// systems are the operating systems of the RDS servers, used in turn.
var systems = []desktop.OperatingSystem{desktop.OSWindows2016, desktop.OSWindows2012R2, desktop.OSLinuxOther}

// buildMachines creates gateways and RDS servers.
func (e *Estate) buildMachines() {
	for i := range e.options.Size.Gateways {
		g := &Gateway{Name: fmt.Sprintf("gw%d.corp.example", i+1), blast: 20 + i*13, pcoip: 5 + i*3}
		e.machines.add(&g.machine, g.report)
		e.Gateways = append(e.Gateways, g)
	}
	size := e.options.Size
	for i := range size.RDSServers {
		r := &RDSServer{
			Name: fmt.Sprintf("rds%03d.corp.example", i+1), Farm: farmName(i * size.Farms / size.RDSServers),
			now: e.options.Now, number: i, enabled: i%50 != 49, system: systems[i%len(systems)],
		}
		e.machines.add(&r.machine, r.report)
		e.RDSServers = append(e.RDSServers, r)
	}
}

func farmName(i int) string { return fmt.Sprintf("farm-%02d", i+1) }

// describeMachines adds gateways, farms and RDS servers to the inventory.
func (e *Estate) describeMachines(d *inventoryData) {
	for i, g := range e.Gateways {
		d.Gateways = append(d.Gateways, gatewayData{
			Name: g.Name, Address: fmt.Sprintf("192.0.2.%d", i+1), Type: []string{"UAG", "F5"}[i%2], Internal: i%3 == 2,
		})
	}
	kinds := []farmData{
		{Type: "AUTOMATED", Source: "INSTANT_CLONE"}, {Type: "MANUAL"}, {Type: "AUTOMATED", Source: "LINKED_CLONE"},
	}
	for i := range e.options.Size.Farms {
		f := kinds[i%len(kinds)]
		f.Name, f.Applications = farmName(i), 3+i%9
		f.Enabled = i%25 != 24
		for _, r := range e.RDSServers {
			if r.Farm == f.Name {
				f.Servers = append(f.Servers, serverData{Name: r.Name, Enabled: r.enabled})
			}
		}
		d.Farms = append(d.Farms, f)
	}
	if e.options.ThisMachine {
		d.Farms = append(d.Farms, farmData{
			Name: "farm-local", Type: "MANUAL", Enabled: true, Applications: 1,
			Servers: []serverData{{Name: thisMachine, Enabled: true}},
		})
	}
}
