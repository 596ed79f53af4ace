package azure

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// A kind is one type of resource.
type kind struct {
	typ posture.EntityType
	arm string // "Microsoft.Storage/storageAccounts"

	prefix string              // of names, which a number follows
	names  func(a at) []string // instead: the names there are
	where  level
	in     string // the kind that these are parts of; "" for none

	// count says how many there are in a subscription, or in what they are part
	// of. As many as there are names when nil.
	count func(a at) int
	// body describes one, without id, name and type.
	body func(a at) world.Object
	// embeds are parts that the description has, by their place in it.
	embeds map[string]string
}

// level says where resources of a kind are.
type level uint8

const (
	inGroup level = iota
	inSubscription
	inWatcherGroup // the group that Azure makes for network watchers
)

// kinds by type in lower case.
var kinds map[string]*kind

func init() {
	kinds = map[string]*kind{}
	for _, k := range slices.Concat(basicKinds, networkKinds, gatewayKinds, computeKinds, dataKinds, databaseKinds, appKinds, accessKinds, watchKinds, platformKinds) {
		kinds[strings.ToLower(k.arm)] = k
	}
}

// at is one resource: where it is, and what it is made from.
type at struct {
	*Cloud
	k      *kind
	sub    Subscription
	place  world.Place
	i      int
	parent []int // numbers of what it is part of, the outermost first
}

// seed is where everything random about the resource comes from.
func (a at) seed(what string) world.Seed {
	return a.options.Seed.With(a.place.Account).With(a.place.Region).With(a.k.arm).With(what).Nth(a.i)
}

// bad reports whether the resource violates a rule.
func (a at) bad(rule string) bool { return a.seed(rule).Share(a.options.Shares.Of(rule)) }

// n is a number of resources: permille of all, and at least some.
func (a at) n(permille, least int) int { return max(least, a.options.Size*permille/1000) }

// of returns how many of a kind there are in the subscription.
func (a at) of(arm string) int {
	k := kinds[strings.ToLower(arm)]
	return at{Cloud: a.Cloud, k: k, sub: a.sub, place: world.Place{Account: a.sub.ID}}.count()
}

// count returns how many there are where the resource is.
func (a at) count() int {
	if a.k.count == nil {
		return len(a.k.names(a))
	}
	return a.k.count(a)
}

// peer is the i-th resource of another kind in the subscription.
func (a at) peer(arm string, i int) at {
	k := kinds[strings.ToLower(arm)]
	return at{Cloud: a.Cloud, k: k, sub: a.sub, place: world.Place{Account: a.sub.ID}, i: i}
}

// ref returns the id of the i-th resource of a kind.
func (a at) ref(arm string, i int) string { return a.peer(arm, i).id() }

// name returns the resource's own name.
func (a at) name() string {
	if a.k.names != nil {
		return a.k.names(a)[a.i]
	}
	name := a.k.prefix + fmt.Sprintf("%05d", a.i)
	if strings.HasSuffix(a.k.prefix, "x") { // must be unique in all of Azure
		name = strings.TrimSuffix(a.k.prefix, "x") + fmt.Sprintf("%05d", a.i) + a.sub.ID[:6]
	}
	return name
}

// index is the inverse of name.
func (a at) index(name string) (int, bool) {
	if a.k.names != nil {
		i := slices.IndexFunc(a.k.names(a), func(n string) bool { return strings.EqualFold(n, name) })
		return i, i >= 0
	}
	digits, ok := strings.CutPrefix(strings.ToLower(name), strings.TrimSuffix(a.k.prefix, "x"))
	if strings.HasSuffix(a.k.prefix, "x") && len(digits) > 6 {
		digits = digits[:len(digits)-6]
	}
	i, err := strconv.Atoi(digits)
	return i, ok && err == nil && i >= 0
}

// group returns the resource group that the resource is in.
func (a at) group() string { return groupName(a.i % a.groups()) }

func (a at) groups() int { return a.n(20, 3) }

func groupName(i int) string {
	return "rg-" + []string{"prod", "stage", "shared"}[i%3] + "-" + number(i)
}

func number(i int) string { return fmt.Sprintf("%03d", i) }

// Locations that subscriptions use, and others that they could use.
var (
	commercialLocations = []string{"eastus", "westeurope", "northeurope", "westus2", "francecentral", "japaneast"}
	governmentLocations = []string{"usgovvirginia", "usgovarizona", "usgovtexas"}
	displayNames        = map[string]string{
		"eastus": "East US", "westeurope": "West Europe", "northeurope": "North Europe", "westus2": "West US 2", "francecentral": "France Central", "japaneast": "Japan East",
		"usgovvirginia": "USGov Virginia", "usgovarizona": "USGov Arizona", "usgovtexas": "USGov Texas",
	}
)

// usedLocations is how many locations have resources.
const usedLocations = 2

func (a at) locations() []string {
	if a.sub.Government {
		return governmentLocations
	}
	return commercialLocations
}

// location returns where the resource is: where its group is.
func (a at) location() string { return a.locations()[a.i%a.groups()%usedLocations] }

// id returns the resource's id.
func (a at) id() string {
	base := "/subscriptions/" + a.sub.ID
	if a.k.in != "" {
		return a.whole().id() + "/" + path.Base(a.k.arm) + "/" + a.name()
	}
	if own, ok := strings.CutPrefix(a.k.arm, subscriptions); ok {
		if own == "" {
			return base
		}
		return base + own + "/" + a.name()
	}
	switch a.k.where {
	case inGroup:
		base += "/resourceGroups/" + a.group()
	case inWatcherGroup:
		base += "/resourceGroups/NetworkWatcherRG"
	}
	return base + "/providers/" + a.k.arm + "/" + a.name()
}

// whole returns what the resource is part of.
func (a at) whole() at {
	k := kinds[strings.ToLower(a.k.in)]
	names, last := strings.Split(a.place.Region, "/"), len(a.parent)-1
	return at{
		Cloud: a.Cloud, k: k, sub: a.sub, i: a.parent[last], parent: a.parent[:last],
		place: world.Place{Account: a.place.Account, Region: strings.Join(names[:len(names)-1], "/")},
	}
}

// parts returns where the parts of the resource are.
func (a at) parts(arm string) at {
	return at{
		Cloud: a.Cloud, k: kinds[strings.ToLower(arm)], sub: a.sub, parent: append(slices.Clone(a.parent), a.i),
		place: world.Place{Account: a.place.Account, Region: strings.TrimPrefix(a.place.Region+"/"+strings.ToLower(a.name()), "/")},
	}
}
