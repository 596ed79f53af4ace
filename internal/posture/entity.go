package posture

import (
	"slices"
	"strings"
	"time"
)

// EntityID names an entity:
//
//	AWS.<Service>.<account>.<region>.<Type>.<name>
//	Azure.<Service>.<subscription>.<resource group>.<Type>.<name>
//	GCP.<Service>.<project>.<location>.<Type>.<name>
//
// The name is what tells resources of one type and place apart in the cloud
// (an id where there is one), so that a reference to a resource is enough to
// know its id. Names may contain dots and slashes: an id is looked up whole,
// never split.
type EntityID string

// Global is the region of what belongs to none.
const Global = "global"

// typePrefixes begin the entity types of each provider.
var typePrefixes = map[Provider]string{AWS: "AWS", Azure: "Azure", GCP: "GCP"}

// An EntityType is one kind of resource: AWS.S3.Bucket.
type EntityType string

func (t EntityType) parts() (cloud, service, kind string) {
	cloud, rest, _ := strings.Cut(string(t), ".")
	service, kind, _ = strings.Cut(rest, ".")
	return cloud, service, kind
}

// Service returns the middle part of the type. Azure and GCP write one of them
// differently; filters compare without case, so records have one spelling.
func (t EntityType) Service() string {
	_, service, _ := t.parts()
	if service == "Sql" {
		return "SQL"
	}
	return service
}

// Provider returns the cloud that has such resources.
func (t EntityType) Provider() Provider {
	prefix, _, _ := t.parts()
	for p, name := range typePrefixes {
		if name == prefix {
			return p
		}
	}
	return ""
}

// TypePrefix returns what the types of the provider's resources begin with, or
// nothing if there is no such provider.
func (p Provider) TypePrefix() string {
	if name, ok := typePrefixes[p]; ok {
		return name + "."
	}
	return ""
}

// ID returns the id of the entity of this type with the given name. The place is
// a region, a resource group or a location; empty means Global.
func (t EntityType) ID(account AccountID, place, name string) EntityID {
	if place == "" {
		place = Global
	}
	cloud, service, kind := t.parts()
	return EntityID(cloud + "." + service + "." + string(account) + "." + place + "." + kind + "." + name)
}

// NameIn returns the name in the id of an entity of this type and account. It
// is the whole id where the id is not one that [EntityType.ID] makes.
func (t EntityType) NameIn(id EntityID, account AccountID) string {
	cloud, service, kind := t.parts()
	rest, ok := strings.CutPrefix(string(id), cloud+"."+service+"."+string(account)+".")
	if !ok {
		return string(id)
	}
	// A place may hold dots, as the names of resource groups do.
	if _, name, ok := strings.Cut(rest, "."+kind+"."); ok && name != "" {
		return name
	}
	return string(id)
}

// guessType reads the type from an id whose place holds no dots. Findings that
// were raised before their type was stored need it.
func (id EntityID) guessType() EntityType {
	parts := strings.SplitN(string(id), ".", 6)
	if len(parts) < 6 {
		return ""
	}
	return EntityType(parts[0] + "." + parts[1] + "." + parts[4])
}

// TagsUnread is the name of the unknown property of an entity whose tags could not
// be read. No edge and no property of a cloud has it.
const TagsUnread = "TAGS"

// An Edge leads from the entity that has it to another, which may not have been
// collected.
type Edge struct {
	Label      string // an upper-case verb: ENCRYPTED_BY
	To         EntityID
	Properties []Property
}

// An Entity is one resource of a cloud account as it was last read.
//
// Properties are in the order of their names; a name that occurs more than once
// is a list. A property that could not be read is of type unknown. So is one under
// the label of edges that could not be, and one called TagsUnread when tags could
// not.
type Entity struct {
	ID         EntityID
	Type       EntityType
	Name       string // as people call it
	XID        string // the cloud's own name: an ARN, an ARM id, a self link
	Account    AccountID
	Provider   Provider
	Region     string
	Service    string
	Properties []Property
	Tags       map[string]string
	Edges      []Edge
	Created    time.Time // when we first saw it
	Updated    time.Time // when we last saw it change
}

// Normalize puts properties and edges into their order, so that the same
// resource read twice is the same value. Most are in order as they come.
func (e *Entity) Normalize() {
	sortProperties(e.Properties)
	sorted := true
	for i := range e.Edges {
		sortProperties(e.Edges[i].Properties)
		sorted = sorted && (i == 0 || compareEdges(&e.Edges[i-1], &e.Edges[i]) <= 0)
	}
	if !sorted {
		slices.SortStableFunc(e.Edges, func(a, b Edge) int { return compareEdges(&a, &b) })
	}
}

func sortProperties(ps []Property) {
	for i := 1; i < len(ps); i++ {
		if ps[i].Name < ps[i-1].Name {
			slices.SortStableFunc(ps, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
			return
		}
	}
}

func compareEdges(a, b *Edge) int {
	if c := strings.Compare(a.Label, b.Label); c != 0 {
		return c
	}
	return strings.Compare(string(a.To), string(b.To))
}
