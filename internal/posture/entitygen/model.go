package entitygen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"vigil/internal/posture"
)

// A model describes the accounts of one cloud.
type model struct {
	regions []share
	kinds   []kind
	xid     func(k *kind, a Account, region, name string) string
	group   func(location string, r *rand.Rand) string // the location in an id
	sum     float64                                    // of the shares of all kinds
}

// A share is a name and the proportion of objects that have it.
type share struct {
	name  string
	share float64
}

// A kind is an entity type and the way to generate its entities.
type kind struct {
	typ        posture.EntityType
	share      float64 // relative to other kinds
	global     bool    // listed once for all regions
	spread     bool    // global, but its entities are in regions
	prefix     string  // of names
	properties []maker
	edges      []edgeMaker
}

type (
	maker     func(r *rand.Rand, e *posture.Entity)
	edgeMaker func(a Account, r *rand.Rand, region int, e *posture.Entity)
)

// withSum returns the model with the sum of its shares.
func (m model) withSum() *model {
	for _, k := range m.kinds {
		m.sum += k.share
	}
	return &m
}

func (m *model) region(r *rand.Rand) string { return pick(r, m.regions) }

func (m *model) kind(t posture.EntityType) *kind {
	for i := range m.kinds {
		if m.kinds[i].typ == t {
			return &m.kinds[i]
		}
	}
	panic("entitygen: there is no kind " + t)
}

// allRegions is the region number of a kind that is listed once for all regions.
const allRegions = -1

// name generates the name of the i-th entity. It draws from a generator of its own, so
// idOf can compute the name without generating the entity.
func (k *kind) name(a Account, region, i int) string {
	n := a.random(k.prefix, region, i, 0).Uint64() >> 20
	const digits = "0123456789abcdef"
	b := append(make([]byte, 0, 32), k.prefix...)
	for shift := 40; shift >= 0; shift -= 4 {
		b = append(b, digits[n>>shift&15])
	}
	return string(b)
}

// tag adds typical tags to an entity.
func (*model) tag(r *rand.Rand, e *posture.Entity) {
	tags := map[string]string{}
	if r.Float64() < 0.8 {
		tags["env"] = pick(r, envs)
	}
	if r.Float64() < 0.7 {
		tags["team"] = fmt.Sprintf("team-%d", int(r.ExpFloat64()*12)%100)
	}
	if r.Float64() < 0.4 {
		tags["Name"] = e.Name
	}
	if r.Float64() < 0.3 {
		tags["cost-center"] = fmt.Sprintf("cc-%04d", r.IntN(400))
	}
	if r.Float64() < 0.1 {
		tags["created by"] = "someone@example.com"
	}
	if len(tags) > 0 {
		e.Tags = tags
	}
}

var envs = []share{{"prod", 0.5}, {"staging", 0.2}, {"dev", 0.25}, {"sandbox", 0.05}}

// pick returns a random name, with the probabilities of the shares.
func pick(r *rand.Rand, all []share) string {
	draw := r.Float64()
	for _, s := range all {
		draw -= s.share
		if draw < 0 {
			return s.name
		}
	}
	return all[len(all)-1].name
}

// flag adds a bool that is true with a probability. A few are unknown, as if they
// could not be read.
func flag(name string, p float64) maker {
	return func(r *rand.Rand, e *posture.Entity) {
		if r.Float64() < 0.003 {
			e.Properties = append(e.Properties, posture.Unknown(name, "access denied"))
			return
		}
		e.Properties = append(e.Properties, posture.Flag(name, r.Float64() < p))
	}
}

// choice adds one of several texts. The first is the most frequent.
func choice(name string, texts ...string) maker {
	return func(r *rand.Rand, e *posture.Entity) {
		i := min(int(r.ExpFloat64()*float64(len(texts))/3), len(texts)-1)
		e.Properties = append(e.Properties, posture.Text(name, texts[i]))
	}
}

// number adds a number below a bound.
func number(name string, limit int64) maker {
	return func(r *rand.Rand, e *posture.Entity) {
		e.Properties = append(e.Properties, posture.Number(name, r.Int64N(limit)))
	}
}

// text adds, with a probability, a text that is nearly always unique.
func text(name, prefix string, p float64) maker {
	return func(r *rand.Rand, e *posture.Entity) {
		if r.Float64() < p {
			e.Properties = append(e.Properties, posture.Text(name, fmt.Sprintf("%s%010x", prefix, r.Uint64()>>24)))
		}
	}
}

// list adds up to n properties with one name, each with one of a number of different texts.
func list(name, prefix string, n, different int) maker {
	return func(r *rand.Rand, e *posture.Entity) {
		for range r.IntN(n + 1) {
			e.Properties = append(e.Properties, posture.Text(name, fmt.Sprint(prefix, r.IntN(different))))
		}
	}
}

// document adds a text with the length of a policy.
func document(name string, p float64) maker {
	return func(r *rand.Rand, e *posture.Entity) {
		if r.Float64() < p {
			statement := fmt.Sprintf(`{"Effect":"Allow","Action":"s3:Get*","Resource":"arn:aws:s3:::b-%x/*"},`, r.Uint32())
			body := `{"Version":"2012-10-17","Statement":[` + strings.TrimSuffix(strings.Repeat(statement, 1+r.IntN(6)), ",") + `]}`
			e.Properties = append(e.Properties, posture.Text(name, body))
		}
	}
}

// to adds 1 to n edges to entities of a kind: in the same region, or anywhere if the kind
// is global. It adds none if there is no such entity, or if the edges would lead from a
// global kind to one that is listed by region.
func to(label string, t posture.EntityType, n int) edgeMaker {
	return func(a Account, r *rand.Rand, region int, e *posture.Entity) {
		m := models[a.Provider]
		k := m.kind(t)
		count := 0
		switch {
		case k.global:
			region, count = allRegions, a.total(k)
		case region != allRegions:
			count = a.inRegion(k, region)
		}
		if count == 0 {
			return
		}
		for range 1 + r.IntN(n) {
			i := r.IntN(count)
			e.Edges = append(e.Edges, posture.Edge{Label: label, To: a.idOf(k, region, i)})
		}
	}
}

// maybe adds an edge with a probability.
func maybe(p float64, f edgeMaker) edgeMaker {
	return func(a Account, r *rand.Rand, region int, e *posture.Entity) {
		if r.Float64() < p {
			f(a, r, region, e)
		}
	}
}

// idOf returns the id of an entity without generating the entity.
func (a Account) idOf(k *kind, region, i int) posture.EntityID {
	r := a.random(string(k.typ), region, i, 0)
	if k.global && k.spread {
		models[a.Provider].region(r) // only draws the random number that entity draws here
	}
	return k.typ.ID(a.ID, models[a.Provider].group(a.locationOf(k, region), r), k.name(a, region, i))
}
