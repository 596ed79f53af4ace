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
	in         posture.EntityType // the kind in which these are nested; "" for none

	prefix string                   // of names, followed by a number; {project} is replaced by the project
	names  func(a address) []string // fixed names, instead of prefix
	// count returns the number of resources in a project or, if the kind is nested, in the
	// enclosing resource. When nil, the kind has as many resources as names.
	count func(a address) int
	// body returns the description of a resource, without name and link.
	body func(a address) world.Object
	// named returns the fields that identify a resource, such as its name or path. When
	// nil, describe adds the usual ones: the name without a path, and for Compute Engine
	// also kind, id, link and creation time.
	named func(a address) world.Object
}

// level is where resources of a kind are.
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

// Locations of resources.
var (
	zones   = []string{"us-central1-a", "europe-west1-b", "us-central1-b", "europe-west1-c"}
	regions = []string{"us-central1", "europe-west1"}
)

// kinds maps types to kinds.
var kinds map[posture.EntityType]*kind

func init() {
	kinds = map[posture.EntityType]*kind{}
	for _, k := range slices.Concat(projectKinds, computeKinds, networkKinds, balancerKinds, dataKinds, runtimeKinds, monitoringKinds, fabricKinds, serviceKinds) {
		kinds[k.typ] = k
	}
}

// address identifies one resource by its place and number.
type address struct {
	*Cloud
	k       *kind
	project Project
	parent  string // name of the enclosing resource
	i       int
}

// place returns the resource's world.Place, with the enclosing resource as its region.
func (a address) place() world.Place { return world.Place{Account: a.project.ID, Region: a.parent} }

// seed returns the seed of a random property of the resource.
func (a address) seed(what string) world.Seed {
	return a.options.Seed.With(a.project.ID).With(a.parent).With(string(a.k.typ)).With(what).Nth(a.i)
}

// violates reports whether the resource must violate a rule.
func (a address) violates(rule string) bool { return a.seed(rule).Share(a.options.Shares.Of(rule)) }

// scaled returns a number of resources that grows with the size of the simulated cloud: permille
// thousandths of it, but at least minimum.
func (a address) scaled(permille, minimum int) int { return max(minimum, a.options.Size*permille/1000) }

// countOf returns the number of resources of a kind in the project.
func (a address) countOf(t posture.EntityType) int { return a.peer(t, 0).count() }

// peer returns the i-th resource of another kind in the project.
func (a address) peer(t posture.EntityType, i int) address {
	return address{Cloud: a.Cloud, k: kinds[t], project: a.project, i: i}
}

// count returns the number of resources of the kind in the resource's place.
func (a address) count() int {
	if a.k.count == nil {
		return len(a.k.names(a))
	}
	return a.k.count(a)
}

// name returns the resource's own name.
func (a address) name() string {
	if a.k.names != nil {
		return a.k.names(a)[a.i]
	}
	return a.prefix() + fmt.Sprintf("%05d", a.i)
}

func (a address) prefix() string { return strings.Replace(a.k.prefix, "{project}", a.project.ID, 1) }

// index is the inverse of name.
func (a address) index(name string) (int, bool) {
	if a.k.names != nil {
		i := slices.Index(a.k.names(a), name)
		return i, i >= 0
	}
	digits, ok := strings.CutPrefix(name, a.prefix())
	i, err := strconv.Atoi(digits)
	return i, ok && err == nil && i >= 0
}

// location returns the resource's location.
func (a address) location() string {
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

// locationFor returns the location of the resource with a name. The location of a created
// resource is in its description, even if its name is like those of generated ones.
func (a address) locationFor(name string) string {
	if o, ok := a.Changes.Created(world.Ref{Type: a.k.typ, Place: a.place(), Name: name}); ok {
		return locationOf(a, o)
	}
	i, ok := a.index(name)
	if !ok {
		return posture.Global
	}
	a.i = i
	return a.location()
}

// enclosing returns an address with the kind of a's parent, and the location of the parent.
func (a address) enclosing() (parent address, location string) {
	parent = a.peer(a.k.in, 0)
	return parent, parent.locationFor(a.parent)
}

// path returns the resource's full name.
func (a address) path() string { return a.pathTo(a.location(), a.name()) }

func (a address) pathTo(location, name string) string {
	base := "projects/" + a.project.ID + "/"
	switch {
	case a.k.in != "":
		parent, within := a.enclosing()
		return parent.pathTo(within, a.parent) + "/" + a.k.collection + "/" + name
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
func (a address) link() string { return computeBase + a.path() }

// ref returns the self link of the i-th resource of a kind.
func (a address) ref(t posture.EntityType, i int) string { return a.peer(t, i).link() }

// id returns the resource's numeric id.
func (a address) id() string { return strconv.FormatUint(uint64(a.seed("id"))>>2, 10) }

// created returns the creation time in the format of most services.
func (a address) created() string {
	return a.options.Today.AddDate(0, 0, -a.seed("age").Intn(700)-1).Format(time.RFC3339)
}

// ago returns the time a number of days before Today, or after it if the number is negative.
func (a address) ago(days int) string {
	return a.options.Today.AddDate(0, 0, -days).Format(time.RFC3339)
}

// labels returns the resource's labels.
func (a address) labels() world.Object {
	return world.Obj("env", world.PickOne(a.seed("env"), "prod", "stage", "dev"), "team", world.PickOne(a.seed("team"), "red", "blue", "green"))
}

// entityOf returns the product's entity id of a resource.
func (a address) entityOf(name, location string) posture.EntityID {
	if a.k.in != "" {
		_, location = a.enclosing()
		name = a.parent + "/" + name
	}
	return a.k.typ.ID(posture.AccountID(a.project.ID), location, name)
}

// kind returns the world.Kind of a's kind and place.
func (a address) kind() *world.Kind {
	return &world.Kind{
		Type:  a.k.typ,
		Count: func(world.Place) int { return a.count() },
		Name:  func(_ world.Place, i int) string { a.i = i; return a.name() },
		Index: func(_ world.Place, name string) (int, bool) { return a.index(name) },
		Make:  func(_ world.Place, i int) world.Object { a.i = i; return a.describe() },
	}
}

// describe returns the resource's description, including fields that only
// further calls return, such as _policy.
func (a address) describe() world.Object {
	switch {
	case a.k.named != nil:
		return append(a.k.named(a), a.k.body(a)...)
	case a.k.service == "compute":
		return append(world.Obj("kind", "compute#"+a.k.collection, "id", a.id(), "name", a.name(), "selfLink", a.link(), "creationTimestamp", a.computeCreated()), a.k.body(a)...)
	}
	return append(world.Obj("name", a.name()), a.k.body(a)...)
}

// computeCreated returns the creation time in Compute Engine's format, with the time
// zone of California.
func (a address) computeCreated() string {
	t, _ := time.Parse(time.RFC3339, a.created())
	return t.In(time.FixedZone("", -8*3600)).Format("2006-01-02T15:04:05.000-07:00")
}

// pathNamed returns the name field for services with full names.
func pathNamed(a address) world.Object { return world.Obj("name", a.path()) }

// list visits the resources of a kind, starting at a number. A negative limit means no
// limit; see [world.World.List].
func (a address) list(from, limit int, visit func(name string, o world.Object) bool) int {
	return a.World.List(a.kind(), a.place(), from, limit, visit)
}

// get returns the resource with a name.
func (a address) get(name string) (world.Object, bool) { return a.World.Get(a.kind(), a.place(), name) }

// placeOf returns the location in a name or link, or global.
func placeOf(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if (p == "zones" || p == "regions" || p == "locations") && i+1 < len(parts) {
			return parts[i+1]
		}
	}
	return posture.Global
}
