package gcp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// A kind is one type of resource.
type kind struct {
	typ        posture.EntityType
	service    string // compute
	collection string // instances
	where      level
	in         posture.EntityType // the kind that these are parts of; "" for none

	prefix string              // of names, which a number follows; {project} stands for the project
	names  func(a at) []string // instead: the names there are
	// count says how many there are in a project, or in what they are part of. As
	// many as there are names when nil.
	count func(a at) int
	// body describes one, without name and link.
	body func(a at) world.Object
	// named says which field has the name, and whether with its path. The field
	// name without a path when nil.
	named func(a at) world.Object
}

// level says where resources of a kind are.
type level uint8

const (
	inProject  level = iota // projects/p/collection/n
	inLocation              // projects/p/locations/l/collection/n
	inGlobal                // projects/p/locations/global/collection/n
	computeGlobal
	computeRegion
	computeZone
	computeMixed // some global, some in regions
)

// Where resources are.
var (
	zones   = []string{"us-central1-a", "europe-west1-b", "us-central1-b", "europe-west1-c"}
	regions = []string{"us-central1", "europe-west1"}
)

// kinds by type.
var kinds map[posture.EntityType]*kind

func init() {
	kinds = map[posture.EntityType]*kind{}
	for _, k := range slices.Concat(projectKinds, computeKinds, networkKinds, balancerKinds, dataKinds, runtimeKinds, watchKinds) {
		kinds[k.typ] = k
	}
}

// at is one resource: where it is, and what it is made from.
type at struct {
	*Cloud
	k       *kind
	project Project
	parent  string // the name of what it is part of
	i       int
}

// place is how the world names where the resource is.
func (a at) place() world.Place { return world.Place{Account: a.project.ID, Region: a.parent} }

// seed is where everything random about the resource comes from.
func (a at) seed(what string) world.Seed {
	return a.options.Seed.With(a.project.ID).With(a.parent).With(string(a.k.typ)).With(what).Nth(a.i)
}

// bad reports whether the resource violates a rule.
func (a at) bad(rule string) bool { return a.seed(rule).Share(a.options.Shares.Of(rule)) }

// n is a number of resources: permille of all, and at least some.
func (a at) n(permille, least int) int { return max(least, a.options.Size*permille/1000) }

// of returns how many of a kind there are in the project.
func (a at) of(t posture.EntityType) int { return a.peer(t, 0).count() }

// peer is the i-th resource of another kind in the project.
func (a at) peer(t posture.EntityType, i int) at {
	return at{Cloud: a.Cloud, k: kinds[t], project: a.project, i: i}
}

// count returns how many there are where the resource is.
func (a at) count() int {
	if a.k.count == nil {
		return len(a.k.names(a))
	}
	return a.k.count(a)
}

// name returns the resource's own name.
func (a at) name() string {
	if a.k.names != nil {
		return a.k.names(a)[a.i]
	}
	return a.prefix() + fmt.Sprintf("%05d", a.i)
}

func (a at) prefix() string { return strings.Replace(a.k.prefix, "{project}", a.project.ID, 1) }

// index is the inverse of name.
func (a at) index(name string) (int, bool) {
	if a.k.names != nil {
		i := slices.Index(a.k.names(a), name)
		return i, i >= 0
	}
	digits, ok := strings.CutPrefix(name, a.prefix())
	i, err := strconv.Atoi(digits)
	return i, ok && err == nil && i >= 0
}

// location returns where the resource is.
func (a at) location() string {
	switch a.k.where {
	case computeZone:
		return zones[a.i%len(zones)]
	case computeRegion, inLocation:
		return regions[a.i%len(regions)]
	case computeMixed:
		if a.i%3 > 0 {
			return regions[a.i%len(regions)]
		}
	}
	return posture.Global
}

// path returns the resource's name as Google has it.
func (a at) path() string { return a.pathTo(a.location(), a.name()) }

func (a at) pathTo(location, name string) string {
	base := "projects/" + a.project.ID + "/"
	switch {
	case a.k.in != "":
		whole := at{Cloud: a.Cloud, k: kinds[a.k.in], project: a.project}
		whole.i, _ = whole.index(a.parent)
		return whole.path() + "/" + a.k.collection + "/" + name
	case a.k.where == inLocation, a.k.where == inGlobal:
		base += "locations/" + location + "/"
	case a.k.where == inProject:
	case location == posture.Global:
		base += "global/"
	case strings.Count(location, "-") == 2:
		base += "zones/" + location + "/"
	default:
		base += "regions/" + location + "/"
	}
	return base + a.k.collection + "/" + name
}

const computeBase = "https://www.googleapis.com/compute/v1/"

// link returns the resource's self link.
func (a at) link() string { return computeBase + a.path() }

// ref returns the self link of the i-th resource of a kind.
func (a at) ref(t posture.EntityType, i int) string { return a.peer(t, i).link() }

// id is a number that the service gives out.
func (a at) id() string { return strconv.FormatUint(uint64(a.seed("id"))>>2, 10) }

// made is when the resource was made, in the form of most services.
func (a at) made() string {
	return a.options.Today.AddDate(0, 0, -a.seed("age").Intn(700)-1).Format(time.RFC3339)
}

// ago is a time some days before the world's day.
func (a at) ago(days int) string { return a.options.Today.AddDate(0, 0, -days).Format(time.RFC3339) }

// labels that the resource has.
func (a at) labels() world.Object {
	return world.Obj("env", world.Of(a.seed("env"), "prod", "stage", "dev"), "team", world.Of(a.seed("team"), "red", "blue", "green"))
}

// entityOf returns the id of the entity that the product makes of a resource.
func (a at) entityOf(name, location string) posture.EntityID {
	if a.k.in != "" {
		whole := at{Cloud: a.Cloud, k: kinds[a.k.in], project: a.project}
		whole.i, _ = whole.index(a.parent)
		name, location = a.parent+"/"+name, whole.location()
	}
	return a.k.typ.ID(posture.AccountID(a.project.ID), location, name)
}

// kind returns what the world knows of the kind where the resource is.
func (a at) kind() *world.Kind {
	return &world.Kind{
		Type:  a.k.typ,
		Count: func(world.Place) int { return a.count() },
		Name:  func(_ world.Place, i int) string { a.i = i; return a.name() },
		Index: func(_ world.Place, name string) (int, bool) { return a.index(name) },
		Make:  func(_ world.Place, i int) world.Object { a.i = i; return a.describe() },
	}
}

// describe returns the resource as its service does, and what further calls tell
// of it.
func (a at) describe() world.Object {
	switch {
	case a.k.named != nil:
		return append(a.k.named(a), a.k.body(a)...)
	case a.k.service == "compute":
		return append(world.Obj("kind", "compute#"+a.k.collection, "id", a.id(), "name", a.name(), "selfLink", a.link(), "creationTimestamp", a.madeHere()), a.k.body(a)...)
	}
	return append(world.Obj("name", a.name()), a.k.body(a)...)
}

// madeHere is when the resource was made in the form of Compute Engine, whose
// clock is in California.
func (a at) madeHere() string {
	t, _ := time.Parse(time.RFC3339, a.made())
	return t.In(time.FixedZone("", -8*3600)).Format("2006-01-02T15:04:05.000-07:00")
}

// pathNamed is for services that put the whole path into the name.
func pathNamed(a at) world.Object { return world.Obj("name", a.path()) }

// list visits the resources of a kind from a number on; see [world.World.List].
func (a at) list(from, most int, visit func(name string, o world.Object) bool) int {
	return a.World.List(a.kind(), a.place(), from, most, visit)
}

// get returns the resource of a name.
func (a at) get(name string) (world.Object, bool) { return a.World.Get(a.kind(), a.place(), name) }

// placeOf returns the location in a name or link: global when it has none.
func placeOf(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if (p == "zones" || p == "regions" || p == "locations") && i+1 < len(parts) {
			return parts[i+1]
		}
	}
	return posture.Global
}
