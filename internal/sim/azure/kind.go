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
	arm string // the type in Azure Resource Manager, such as "Microsoft.Storage/storageAccounts"

	prefix string                   // what generated names begin with, before the number; a final "x" is not part of the name, but says that names are globally unique
	names  func(a address) []string // if not nil, the names of the resources, instead of generated ones
	where  level
	in     string // arm of the kind whose resources contain those of this kind; "" for none

	// count returns the number of resources in a subscription or, if the kind is nested,
	// in the enclosing resource. When count is nil, there is one resource for each of names.
	count func(a address) int
	// body returns the JSON of a resource, without id, name and type.
	body func(a address) world.Object
	// embeds maps the name of each property that contains nested resources to arm of their kind.
	embeds map[string]string
}

// A level says which scope contains the resources of a kind.
type level uint8

const (
	inGroup level = iota
	inSubscription
	inWatcherGroup // the group that Azure creates for network watchers
)

// kinds maps types of Azure Resource Manager, in lower case, to kinds.
var kinds map[string]*kind

func init() {
	kinds = map[string]*kind{}
	for _, k := range slices.Concat(basicKinds, networkKinds, gatewayKinds, computeKinds, dataKinds, databaseKinds, appKinds, accessKinds, monitoringKinds, platformKinds, serviceKinds) {
		kinds[strings.ToLower(k.arm)] = k
	}
}

// An address identifies one resource by its kind, place and member.
type address struct {
	*Cloud
	k     *kind
	sub   Subscription
	place world.Place // its Region is the path of names of the enclosing resources
	member
	parent []member // the enclosing resources, outermost first
}

// A member identifies a resource among those of its kind in a place.
type member struct {
	i       int
	created string // the name, if a change created the resource under a name that is not a generated one
}

// memberOf returns the member that has a name among those of the address's kind and place.
func (a address) memberOf(name string) member {
	if i, ok := a.index(name); ok {
		return member{i: i}
	}
	return member{created: name}
}

// seed returns the seed of a random property of the resource.
func (a address) seed(what string) world.Seed {
	return a.options.Seed.With(a.place.Account).With(a.place.Region).With(a.k.arm).With(what).Nth(a.i)
}

// violates reports whether the resource must violate a rule.
func (a address) violates(rule string) bool { return a.seed(rule).Share(a.options.Shares.Of(rule)) }

// permille returns n thousandths of the size of the simulated cloud, as a number of resources.
func (a address) permille(n int) int { return a.options.Size * n / 1000 }

// countOf returns the number of resources of a kind in the subscription.
func (a address) countOf(arm string) int {
	k := kinds[strings.ToLower(arm)]
	return address{Cloud: a.Cloud, k: k, sub: a.sub, place: world.Place{Account: a.sub.ID}}.count()
}

// count returns the number of resources of the address's kind in its place.
func (a address) count() int {
	if slices.ContainsFunc(a.parent, func(m member) bool { return m.created != "" }) {
		return 0 // only generated resources contain generated ones
	}
	if a.k.count == nil {
		return len(a.k.names(a))
	}
	return a.k.count(a)
}

// peer returns the i-th resource of another kind in the subscription.
func (a address) peer(arm string, i int) address {
	k := kinds[strings.ToLower(arm)]
	return address{Cloud: a.Cloud, k: k, sub: a.sub, place: world.Place{Account: a.sub.ID}, member: member{i: i}}
}

// ref returns the id of the i-th resource of a kind.
func (a address) ref(arm string, i int) string { return a.peer(arm, i).id() }

// name returns the resource's own name.
func (a address) name() string {
	if a.created != "" {
		return a.created
	}
	if a.k.names != nil {
		return a.k.names(a)[a.i]
	}
	name := a.k.prefix + fmt.Sprintf("%05d", a.i)
	if strings.HasSuffix(a.k.prefix, "x") { // must be unique in all of Azure
		name = strings.TrimSuffix(a.k.prefix, "x") + fmt.Sprintf("%05d", a.i) + a.sub.ID[:6]
	}
	return name
}

// index returns the number of the resource with a name. It is the inverse of name.
func (a address) index(name string) (int, bool) {
	if a.k.names != nil {
		i := slices.IndexFunc(a.k.names(a), func(n string) bool { return strings.EqualFold(n, name) })
		return i, i >= 0
	}
	digits, ok := strings.CutPrefix(strings.ToLower(name), strings.TrimSuffix(a.k.prefix, "x"))
	if strings.HasSuffix(a.k.prefix, "x") && len(digits) > 6 {
		digits = digits[:len(digits)-6] // without the part of the subscription's id that name adds
	}
	i, err := strconv.Atoi(digits)
	if !ok || err != nil || i < 0 {
		return 0, false
	}
	a.member = member{i: i}
	return i, strings.EqualFold(a.name(), name) // false for a number written in another way, such as without leading zeros
}

// group returns the resource's resource group.
func (a address) group() string { return groupName(a.i % a.groups()) }

// groups returns the number of resource groups of the subscription.
func (a address) groups() int { return max(3, a.permille(20)) }

func groupName(i int) string {
	return "rg-" + []string{"prod", "stage", "shared"}[i%3] + "-" + number(i)
}

func number(i int) string { return fmt.Sprintf("%03d", i) }

// The locations of commercial and government subscriptions, and their display names.
var (
	commercialLocations = []string{"eastus", "westeurope", "northeurope", "westus2", "francecentral", "japaneast"}
	governmentLocations = []string{"usgovvirginia", "usgovarizona", "usgovtexas"}
	displayNames        = map[string]string{
		"eastus": "East US", "westeurope": "West Europe", "northeurope": "North Europe", "westus2": "West US 2", "francecentral": "France Central", "japaneast": "Japan East",
		"usgovvirginia": "USGov Virginia", "usgovarizona": "USGov Arizona", "usgovtexas": "USGov Texas",
	}
)

// usedLocations is the number of locations of a subscription that contain resources: the first ones.
const usedLocations = 2

func (a address) locations() []string {
	if a.sub.Government {
		return governmentLocations
	}
	return commercialLocations
}

// location returns the resource's location, which is that of its group.
func (a address) location() string { return a.locations()[a.i%a.groups()%usedLocations] }

// id returns the resource's id.
func (a address) id() string {
	base := "/subscriptions/" + a.sub.ID
	if a.k.in != "" {
		return a.enclosing().id() + "/" + path.Base(a.k.arm) + "/" + a.name()
	}
	if path, ok := strings.CutPrefix(a.k.arm, subscriptions); ok {
		if path == "" {
			return base
		}
		return base + path + "/" + a.name()
	}
	switch a.k.where {
	case inGroup:
		base += "/resourceGroups/" + a.group()
	case inWatcherGroup:
		base += "/resourceGroups/NetworkWatcherRG"
	}
	return base + "/providers/" + a.k.arm + "/" + a.name()
}

// enclosing returns the enclosing resource.
func (a address) enclosing() address {
	k := kinds[strings.ToLower(a.k.in)]
	names, last := strings.Split(a.place.Region, "/"), len(a.parent)-1
	return address{
		Cloud: a.Cloud, k: k, sub: a.sub, member: a.parent[last], parent: a.parent[:last],
		place: world.Place{Account: a.place.Account, Region: strings.Join(names[:len(names)-1], "/")},
	}
}

// nested returns an address for the resources of a kind inside this resource. It has their place,
// and no member yet.
func (a address) nested(arm string) address {
	return address{
		Cloud: a.Cloud, k: kinds[strings.ToLower(arm)], sub: a.sub, parent: append(slices.Clone(a.parent), a.member),
		place: world.Place{Account: a.place.Account, Region: strings.TrimPrefix(a.place.Region+"/"+strings.ToLower(a.name()), "/")},
	}
}
