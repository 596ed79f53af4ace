// Package entitygen generates cloud accounts for tests and benchmarks. Their types,
// properties, tags and edges occur in the proportions of real accounts.
//
// [New] returns the account with a number and size; [Account.Units] yields its
// entities by type and region. The same number always generates the same account.
// An entity can therefore refer to another that is generated later, and no entity is
// kept in memory. A later revision of an account has some changed entities.
package entitygen

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"vigil/internal/posture"
)

// An Account describes a generated account.
type Account struct {
	ID       posture.AccountID
	Provider posture.Provider
	Entities int // about how many
	Seed     uint64

	// Revision is a later state of the account: in each revision the share Changed
	// of the entities is different. Revision 0 is the first state.
	Revision int
	Changed  float64
}

// New returns the i-th account. Three of five accounts are AWS accounts.
func New(i, entities int) Account {
	a := Account{Entities: entities, Seed: uint64(i)}
	switch i % 5 {
	case 3:
		a.Provider = posture.Azure
		a.ID = posture.AccountID(fmt.Sprintf("%08x-0000-4000-8000-%012x", i, uint64(i)*0x9e3779b1))
	case 4:
		a.Provider = posture.GCP
		a.ID = posture.AccountID(fmt.Sprintf("project-%06d", i))
	default:
		a.Provider = posture.AWS
		a.ID = posture.AccountID(fmt.Sprintf("%012d", 100_000_000_000+uint64(i)*7_919))
	}
	return a
}

// A Unit is the entities of one type in one region, or in all regions if the cloud
// lists the type for all regions at once.
type Unit struct {
	Type   posture.EntityType
	Region string
	Count  int
	Each   iter.Seq[posture.Entity]
}

// Units returns the units that a collection of the account reads.
func (a Account) Units() []Unit {
	var all []Unit
	for i := range models[a.Provider].kinds {
		k := &models[a.Provider].kinds[i]
		if k.global {
			n := a.total(k)
			all = append(all, Unit{k.typ, posture.Global, n, a.each(k, allRegions, n)})
			continue
		}
		for r, region := range models[a.Provider].regions {
			if n := a.inRegion(k, r); n > 0 {
				all = append(all, Unit{k.typ, region.name, n, a.each(k, r, n)})
			}
		}
	}
	return all
}

// All yields every entity of the account.
func (a Account) All() iter.Seq[posture.Entity] {
	return func(yield func(posture.Entity) bool) {
		for _, u := range a.Units() {
			for e := range u.Each {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// total returns how many entities of a kind the account has.
func (a Account) total(k *kind) int {
	return max(1, int(float64(a.Entities)*k.share/models[a.Provider].sum))
}

// inRegion returns how many entities of a kind are in the r-th region.
func (a Account) inRegion(k *kind, r int) int {
	exact := float64(a.Entities) * k.share / models[a.Provider].sum * models[a.Provider].regions[r].share
	n := int(exact)
	// A kind with less than one entity per account occurs in some accounts only.
	const noEntity = -1 // a generator that no entity uses
	if a.random(string(k.typ), r, noEntity, 0).Float64() < exact-float64(n) {
		n++
	}
	return n
}

// random returns a random number generator for one object of the account.
func (a Account) random(what string, region, i, revision int) *rand.Rand {
	return rand.New(rand.NewPCG(a.hash(what, region, i), a.Seed<<16|uint64(revision)))
}

// hash returns the FNV-1a hash of one object of the account. Every entity needs it
// several times, so it does not use package hash/fnv, whose interface makes it slower.
func (a Account) hash(what string, region, i int) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for _, s := range [...]string{string(a.ID), what} {
		for k := range len(s) {
			h = (h ^ uint64(s[k])) * prime
		}
		h *= prime
	}
	return ((h^uint64(region))*prime ^ uint64(i)) * prime
}

func (a Account) each(k *kind, region, n int) iter.Seq[posture.Entity] {
	return func(yield func(posture.Entity) bool) {
		for i := range n {
			if !yield(a.entity(k, region, i)) {
				return
			}
		}
	}
}

// entity generates the i-th entity of a kind in a region; for a global kind, the region
// is allRegions. idOf repeats the random numbers up to the id, so both must
// draw them in the same order.
func (a Account) entity(k *kind, region, i int) posture.Entity {
	m := models[a.Provider]
	r := a.random(string(k.typ), region, i, 0)
	e := posture.Entity{Type: k.typ, Account: a.ID, Provider: a.Provider, Service: k.typ.Service()}
	location := a.locationOf(k, region)
	e.Region = location
	if k.global && k.spread {
		e.Region = m.region(r)
	}
	name := k.name(a, region, i)
	e.ID, e.Name, e.XID = k.typ.ID(a.ID, m.group(location, r), name), name, m.xid(k, a, e.Region, name)
	for _, p := range k.properties {
		p(r, &e)
	}
	m.tag(r, &e)
	for _, edge := range k.edges {
		edge(a, r, region, &e)
	}
	for rev := 1; rev <= a.Revision; rev++ {
		if c := a.random(string(k.typ), region, i, rev); c.Float64() < a.Changed {
			change(c, rev, &e)
		}
	}
	e.Normalize()
	return e
}

// locationOf returns the region in the id of an entity.
func (a Account) locationOf(k *kind, region int) string {
	if k.global {
		return posture.Global
	}
	return models[a.Provider].regions[region].name
}

// change changes a tag or a property.
func change(r *rand.Rand, rev int, e *posture.Entity) {
	switch r.IntN(3) {
	case 0:
		if e.Tags == nil {
			e.Tags = map[string]string{}
		}
		e.Tags["reviewed"] = fmt.Sprintf("round-%d", rev)
	case 1:
		e.Properties = append(e.Properties, posture.Number("revision", int64(rev)))
	default:
		if len(e.Properties) > 0 {
			e.Properties[0] = posture.Text(e.Properties[0].Name, fmt.Sprintf("changed-%d", rev))
		}
	}
}
