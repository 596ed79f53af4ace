package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/internal/posture"
)

// The score of a finding is the sum of three parts: the level of its rule, the exposure
// of the entity to the internet, and the sensitive entities that can be reached from it.
// docs/findings.md explains them.
var levelPoints = map[posture.RuleLevel]int{posture.High: 55, posture.Med: 35, posture.Low: 15}

const (
	exposedPoints = 25 // the entity itself is exposed
	nearPoints    = 15 // an entity that may expose it is exposed
	sensitiveEach = 4  // points for each sensitive entity within reach
	sensitiveMost = 5  // at most this many count
	exposureHops  = 4
	reachHops     = 3
)

// Edges that lead from an entity to those that expose it (exposedOut), and from these to
// the entity (exposedIn).
var (
	exposedOut = []string{"MEMBER_OF", "ALLOWS_INGRESS", "HAS_IP", "HAS_INTERFACE", "HAS", "IN_SUBNET"}
	exposedIn  = []string{"GUARDS"}
)

// Edges that give no access to their target.
var containment = []string{
	"IN", "IN_VPC", "IN_SUBNET", "IN_ACCOUNT", "IN_SUBNET_GROUP", "LOCATED_IN", "PART_OF", "ALLOWS_INGRESS", "ALLOWS_EGRESS", "MEMBER_OF",
	"HAS_REGION", "MADE_FROM", "WATCHES",
}

// Edges that are followed backwards from the entity itself: the data that a key encrypts,
// and the resources that a group guards.
var reachIn = []string{"ENCRYPTED_BY", "MEMBER_OF"}

// risks scores the vertices of one graph.
type risks struct {
	g              *graph.Graph
	exposed        [][]keyFact   // by vertex label: facts that expose an entity
	powerful       [][]graph.Key // by vertex label: flags of unlimited permissions
	outLabels      []graph.Label // of exposedOut
	inLabels       []graph.Label
	reachIn        []graph.Label
	skip           map[graph.Label]bool // of containment
	sensitive      []bool               // by vertex label
	cache          map[graph.Handle]*entityRisk
	seen           marks
	frontier, next []graph.Handle // current and next frontier of a search
}

// marks is the set of vertices that a search has visited. Clearing it takes constant
// time.
type marks struct {
	when []uint32
	now  uint32
}

// begin clears the set.
func (m *marks) begin(vertices int) {
	m.now++
	if m.now == 0 || len(m.when) < vertices { // now has overflowed, or this is the first call
		m.when, m.now = make([]uint32, vertices), 1
	}
}

// add marks a vertex and reports whether it was not marked.
func (m *marks) add(h graph.Handle) bool {
	if m.when[h] == m.now {
		return false
	}
	m.when[h] = m.now
	return true
}

// An entityRisk is the part of the risk that all findings of an entity share.
type entityRisk struct {
	exposure, reach int
	exposedBy       string
	within          []string // ids of sensitive entities, in order
}

// A keyFact is a fact whose property the graph has.
type keyFact struct {
	key graph.Key
	*Fact
}

func newRisks(g *graph.Graph, s *Schema) *risks {
	r := &risks{g: g, skip: map[graph.Label]bool{}, cache: map[graph.Handle]*entityRisk{}}
	r.outLabels, r.inLabels, r.reachIn = labelsOf(g, exposedOut), labelsOf(g, exposedIn), labelsOf(g, reachIn)
	for _, l := range labelsOf(g, containment) {
		r.skip[l] = true
	}
	for _, name := range g.VertexLabels() {
		k := s.risk[posture.EntityType(name)]
		r.sensitive = append(r.sensitive, k.Sensitive)
		var facts []keyFact
		for i := range k.Exposed {
			if key := keyOf(g, k.Exposed[i].Property); key != graph.NoKey {
				facts = append(facts, keyFact{key, &k.Exposed[i]})
			}
		}
		var flags []graph.Key
		for _, name := range k.Powerful {
			if key := keyOf(g, name); key != graph.NoKey {
				flags = append(flags, key)
			}
		}
		r.exposed, r.powerful = append(r.exposed, facts), append(r.powerful, flags)
	}
	return r
}

func keyOf(g *graph.Graph, name string) graph.Key {
	if k, ok := g.KeyByName(name); ok {
		return k
	}
	return graph.NoKey
}

func labelsOf(g *graph.Graph, names []string) []graph.Label {
	var all []graph.Label
	for _, name := range names {
		if l, ok := g.EdgeLabelByName(name); ok {
			all = append(all, l)
		}
	}
	return all
}

// riskOf scores a finding of a rule on a vertex.
func (r *risks) riskOf(level posture.RuleLevel, h graph.Handle) posture.Risk {
	e := r.cache[h]
	if e == nil {
		e = r.entityRiskOf(h)
		r.cache[h] = e
	}
	risk := posture.Risk{Parts: []posture.RiskPart{{Name: "level", Points: levelPoints[level], Why: "the rule is of level " + string(level)}}}
	if e.exposure > 0 {
		risk.Parts = append(risk.Parts, posture.RiskPart{Name: "exposure", Points: e.exposure, Why: e.exposedBy})
	}
	if e.reach > 0 {
		risk.Parts = append(risk.Parts, posture.RiskPart{Name: "reach", Points: e.reach, Why: "leads to " + strings.Join(e.within, ", ")})
	}
	for _, p := range risk.Parts {
		risk.Score += p.Points
	}
	return risk
}

func (r *risks) entityRiskOf(h graph.Handle) *entityRisk {
	e := &entityRisk{}
	e.exposure, e.exposedBy = r.exposure(h)
	e.within = r.within(h)
	if n := len(e.within); n > 0 {
		e.reach = min(n, sensitiveMost) * sensitiveEach
		if n > sensitiveMost {
			e.within = append(e.within[:sensitiveMost:sensitiveMost], fmt.Sprintf("and %d more", n-sensitiveMost))
		}
	}
	return e
}

// exposure returns how an entity is exposed to the internet.
func (r *risks) exposure(h graph.Handle) (int, string) {
	if reason := r.exposureReason(h); reason != "" {
		return exposedPoints, "it " + reason
	}
	r.seen.begin(r.g.VertexCap())
	r.seen.add(h)
	r.frontier = append(r.frontier[:0], h)
	for hop := 0; len(r.frontier) > 0 && hop < exposureHops; hop++ {
		r.next = r.next[:0]
		for _, v := range r.frontier {
			r.visitExposing(v)
		}
		found := ""
		for _, n := range r.next {
			if reason := r.exposureReason(n); reason != "" {
				if text := r.g.VertexID(n).Str() + " " + reason; found == "" || text < found {
					found = text // the first by id, whatever the order of edges
				}
			}
		}
		if found != "" {
			return nearPoints, found
		}
		r.frontier, r.next = r.next, r.frontier
	}
	return 0, ""
}

// visitExposing adds to the next frontier the vertices that may expose a vertex.
func (r *risks) visitExposing(v graph.Handle) {
	for _, l := range r.outLabels {
		r.visit(r.g.NeighboursBy(v, graph.Out, l))
	}
	for _, l := range r.inLabels {
		r.visit(r.g.NeighboursBy(v, graph.In, l))
	}
}

// visit adds unvisited vertices to the next frontier.
func (r *risks) visit(hs []graph.Handle) {
	for _, h := range hs {
		if r.seen.add(h) {
			r.next = append(r.next, h)
		}
	}
}

// exposureReason returns the reason of the fact by which a vertex is exposed, or "".
func (r *risks) exposureReason(v graph.Handle) string {
	for _, x := range r.exposed[r.g.VertexLabel(v)] {
		if got, ok := r.g.VertexValue(v, x.key); ok && x.matches(got) {
			return x.Why
		}
	}
	return ""
}

// matches reports whether a value makes the fact true, see [Fact].
func (f *Fact) matches(got graph.Value) bool {
	switch got.Kind() {
	case graph.KindBool:
		return got.Bool() && len(f.Values) == 0
	case graph.KindString:
		return len(f.Values) == 0 || slices.Contains(f.Values, got.Str())
	}
	return len(f.Values) == 0
}

// within returns the sensitive entities within reach of a vertex, by id.
func (r *risks) within(h graph.Handle) []string {
	r.seen.begin(r.g.VertexCap())
	r.seen.add(h)
	r.frontier = append(r.frontier[:0], h)
	var found []string
	for hop := range reachHops {
		r.next = r.next[:0]
		for _, v := range r.frontier {
			r.visitTargets(v)
		}
		if hop == 0 {
			for _, l := range r.reachIn {
				r.visit(r.g.NeighboursBy(h, graph.In, l))
			}
		}
		for _, n := range r.next {
			if r.isSensitive(n) {
				found = append(found, r.g.VertexID(n).Str())
			}
		}
		r.frontier, r.next = r.next, r.frontier
	}
	slices.Sort(found)
	return found
}

// visitTargets adds the targets of a vertex to the next frontier.
func (r *risks) visitTargets(v graph.Handle) {
	edges, to := r.g.Incident(v, graph.Out)
	for i, e := range edges {
		if !r.skip[r.g.EdgeLabel(e)] {
			r.visit(to[i : i+1])
		}
	}
}

func (r *risks) isSensitive(v graph.Handle) bool {
	if r.sensitive[r.g.VertexLabel(v)] {
		return true
	}
	for _, k := range r.powerful[r.g.VertexLabel(v)] {
		if got, ok := r.g.VertexValue(v, k); ok && got.Kind() == graph.KindBool && got.Bool() {
			return true
		}
	}
	return false
}
