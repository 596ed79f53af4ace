package desktop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Overview summarises the whole environment: the components of each kind by
// health, the session counts, and the problems.
type Overview struct {
	Kinds        []KindOverview    `json:"kinds"`
	Sessions     SessionOverview   `json:"sessions"`
	ProblemCount int               `json:"problem_count"` // number of unhealthy components
	Problems     []Problem         `json:"problems"`      // by cause, worst first
	Inventory    InventoryOverview `json:"inventory"`
}

// KindOverview counts the components of one kind.
type KindOverview struct {
	Kind     Kind           `json:"kind"`
	Total    int            `json:"total"`
	Health   map[Health]int `json:"health"`   // every grade, including zero counts
	Statuses map[string]int `json:"statuses"` // by the kind's own status
}

// SessionOverview counts sessions and connections.
type SessionOverview struct {
	RDSSessions        int64                     `json:"rds_sessions"`        // on RDS servers
	Connections        int64                     `json:"connections"`         // through connection servers
	Tunnels            int64                     `json:"tunnels"`             // of those, tunnelled
	GatewayConnections int64                     `json:"gateway_connections"` // through gateways
	ByProtocol         map[SessionProtocol]int64 `json:"by_protocol"`
}

// A Problem is one cause with the unhealthy components that it affects.
type Problem struct {
	Cause      Ref                `json:"cause"`
	Health     Health             `json:"health"` // the worst of its components
	Since      Millis             `json:"since,omitempty"`
	Reasons    []string           `json:"reasons"` // of the cause itself, or else of the first component
	Count      int                `json:"count"`
	Components []ProblemComponent `json:"components"` // the first few
}

// A ProblemComponent is an unhealthy component.
type ProblemComponent struct {
	Ref
	Status  string   `json:"status"`
	Health  Health   `json:"health"`
	Since   Millis   `json:"since,omitempty"`
	Reasons []string `json:"reasons"`
}

// InventoryOverview describes the inventory in use.
type InventoryOverview struct {
	LoadedAt Millis            `json:"loaded_at"`
	Refused  *RefusedInventory `json:"refused,omitempty"`
}

// Size limits of an overview.
const (
	maxProblems   = 100
	maxComponents = 20
	maxReasons    = 5
)

// Overview returns the encoded overview. The encoding is cached until a record
// changes.
func (b *Board) Overview() Document {
	if d := b.overview.Load(); d != nil {
		return *d
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	encoded, err := json.Marshal(b.makeOverview())
	if err != nil {
		panic(fmt.Sprintf("desktop: an overview does not encode: %v", err))
	}
	d := newDocument(encoded, b.revision)
	b.overview.Store(d)
	return *d
}

func (b *Board) makeOverview() Overview {
	o := Overview{
		Kinds: []KindOverview{}, Problems: []Problem{},
		Sessions:  SessionOverview{ByProtocol: make(map[SessionProtocol]int64)},
		Inventory: InventoryOverview{b.loadedAt, b.refused},
	}
	causes := make(map[Ref]*Problem)
	for _, k := range Kinds() {
		l := b.lists[k]
		counts := KindOverview{Kind: k, Total: len(l.ids), Health: make(map[Health]int), Statuses: make(map[string]int)}
		for _, h := range Healths() {
			counts.Health[h] = 0
		}
		for _, id := range l.ids {
			r := l.entries[id].record
			o.Sessions.add(r)
			status, health := r.Statuses()[0], r.Fresh().Health // the first status is the component's own
			counts.Health[health]++
			counts.Statuses[status.Status]++
			if health != HealthOK && health != HealthDisabled && status.Status != string(EventDatabaseNotConfigured) {
				o.ProblemCount++
				b.addProblem(causes, r, status)
			}
		}
		o.Kinds = append(o.Kinds, counts)
	}
	for _, p := range causes {
		o.Problems = append(o.Problems, *p)
	}
	// The worst problems come first, and of equally bad ones the newest.
	slices.SortFunc(o.Problems, func(x, y Problem) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Healths(), x.Health), slices.Index(Healths(), y.Health)),
			-cmp.Compare(x.Since, y.Since), cmp.Compare(x.Cause.Name, y.Cause.Name), cmp.Compare(x.Cause.ID, y.Cause.ID),
		)
	})
	o.Problems = o.Problems[:min(len(o.Problems), maxProblems)]
	return o
}

// addProblem adds an unhealthy component to the problem of its cause.
func (b *Board) addProblem(causes map[Ref]*Problem, r Record, status PartStatus) {
	cause, f := status.Cause(r.Ref()), r.Fresh()
	p := causes[cause]
	if p == nil {
		p = &Problem{Cause: b.public(cause), Health: f.Health, Since: f.Since, Reasons: firstFew(f.Reasons)}
		causes[cause] = p
	}
	if r.Ref() == cause {
		p.Reasons = firstFew(f.Reasons)
	}
	p.Health, p.Count = worse(p.Health, f.Health), p.Count+1
	if f.Since != 0 && (p.Since == 0 || f.Since < p.Since) {
		p.Since = f.Since
	}
	if len(p.Components) < maxComponents {
		p.Components = append(p.Components, ProblemComponent{b.public(r.Ref()), status.Status, f.Health, f.Since, firstFew(f.Reasons)})
	}
}

func firstFew(reasons []string) []string { return reasons[:min(len(reasons), maxReasons)] }

// add adds the session counts of a record.
func (s *SessionOverview) add(r Record) {
	count := func(to *int64, n *int32) {
		if n != nil {
			*to += int64(*n)
		}
	}
	switch r := r.(type) {
	case RDSServerMonitor:
		count(&s.RDSSessions, r.SessionCount)
	case GatewayMonitor:
		count(&s.GatewayConnections, r.ActiveConnections)
	case ConnectionServerMonitor:
		count(&s.Connections, r.ConnectionCount)
		count(&s.Tunnels, r.TunnelCount)
		for _, p := range r.Sessions {
			s.ByProtocol[p.Protocol] += int64(p.Count)
		}
	}
}

// Pulse contains the times of the latest changes, so that clients know whether
// to reload.
type Pulse struct {
	Records   Millis `json:"records"`   // any monitor record
	Statuses  Millis `json:"statuses"`  // any status of a component or part
	Inventory Millis `json:"inventory"` // the inventory was replaced or refused
}

// Pulse returns the times of the latest changes.
func (b *Board) Pulse() Pulse {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pulse
}

// RefuseInventory records that a new inventory was refused. The next accepted
// one clears it.
func (b *Board) RefuseInventory(r RefusedInventory) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused, b.pulse.Inventory = &r, r.At
	b.overview.Store(nil)
	b.revision++
}

// Refused returns why the newest inventory is not in use, or nil when it is.
func (b *Board) Refused() *RefusedInventory {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}
