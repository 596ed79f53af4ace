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
// The name identifies a resource within its type and location, and is an id where the
// cloud has one. The entity id can therefore be computed from a reference to the
// resource. Names may contain dots and slashes, so an id must not be split at dots.
type EntityID string

// Global is the region of resources that belong to no region.
const Global = "global"

// typePrefixes are the first parts of the entity types by provider.
var typePrefixes = map[Provider]string{AWS: "AWS", Azure: "Azure", GCP: "GCP"}

// An EntityType is one kind of resource: AWS.S3.Bucket.
type EntityType string

func (t EntityType) parts() (cloud, service, kind string) {
	cloud, rest, _ := strings.Cut(string(t), ".")
	service, kind, _ = strings.Cut(rest, ".")
	return cloud, service, kind
}

// Service returns the middle part of the type. It returns SQL for Azure's Sql, as for GCP's
// SQL, so that records have one spelling.
func (t EntityType) Service() string {
	_, service, _ := t.parts()
	if service == "Sql" {
		return "SQL"
	}
	return service
}

// Provider returns the provider of the type, or "".
func (t EntityType) Provider() Provider {
	prefix, _, _ := t.parts()
	for p, name := range typePrefixes {
		if name == prefix {
			return p
		}
	}
	return ""
}

// TypePrefix returns the prefix of the provider's entity types, or "" if the provider
// is unknown.
func (p Provider) TypePrefix() string {
	if name, ok := typePrefixes[p]; ok {
		return name + "."
	}
	return ""
}

// ID returns the id of the entity of this type with the given name. The location is a
// region of AWS, a resource group of Azure or a location of Google Cloud; empty means
// Global.
func (t EntityType) ID(account AccountID, location, name string) EntityID {
	if location == "" {
		location = Global
	}
	cloud, service, kind := t.parts()
	return EntityID(cloud + "." + service + "." + string(account) + "." + location + "." + kind + "." + name)
}

// NameIn returns the name in the id of an entity of this type and account. It returns
// the whole id if [EntityType.ID] did not make it.
func (t EntityType) NameIn(id EntityID, account AccountID) string {
	cloud, service, kind := t.parts()
	rest, ok := strings.CutPrefix(string(id), cloud+"."+service+"."+string(account)+".")
	if !ok {
		return string(id)
	}
	// A location may contain dots: names of resource groups do.
	if _, name, ok := strings.Cut(rest, "."+kind+"."); ok && name != "" {
		return name
	}
	return string(id)
}

// guessType derives the type from an id, assuming that the location contains no dots. It
// serves findings that were stored before they had a type.
func (id EntityID) guessType() EntityType {
	parts := strings.SplitN(string(id), ".", 6)
	if len(parts) < 6 {
		return ""
	}
	return EntityType(parts[0] + "." + parts[1] + "." + parts[4])
}

// TagsUnread is the name of the unknown property that marks an entity whose tags could
// not be read. No edge label and no property of a cloud has this name.
const TagsUnread = "TAGS"

// An Edge is a directed reference from the entity that holds it to another entity,
// which may not have been collected.
type Edge struct {
	Label      string // an upper-case verb: ENCRYPTED_BY
	To         EntityID
	Properties []Property
}

// An Entity is one resource of a cloud account as it was last read.
//
// Properties are sorted by name; a name that occurs more than once is a list. A
// property that could not be read has the type unknown. Edges that could not be read
// are represented by an unknown property with their label, unreadable tags by one with
// the name TagsUnread.
type Entity struct {
	ID         EntityID
	Type       EntityType
	Name       string // display name
	XID        string // the cloud's identifier: an ARN, an ARM id, a self link
	Account    AccountID
	Provider   Provider
	Region     string
	Service    string
	Properties []Property
	Tags       map[string]string
	Edges      []Edge
	Created    time.Time // when it was first collected
	Updated    time.Time // when a change was last collected
}

// Normalize sorts properties and edges, so that reading a resource twice gives equal
// values. It checks first whether they are sorted, as most are.
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
