package azure

import (
	"context"
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

type (
	collector = collect.Collector[*session]
	resource  = collect.Resource
)

// A kind is a type of resource that Resource Manager holds.
type kind struct {
	typ     posture.EntityType
	doc     string
	arm     string // "Microsoft.Storage/storageAccounts"
	version string // of the API
	odd     string // how answers spell the type, where that is not how calls do

	// path leads from the subscription, or from what they are part of, to the
	// list. It follows from arm when empty.
	path string
	// in is the type of what they are part of; "" for the subscription.
	in posture.EntityType
	// none is the name of an entity that stands for there being no resource, so
	// that rules can tell that from not knowing; "" for no such entity.
	none string
	// query is asked for with every call.
	query string
	// of chooses what can have parts at all. All when nil.
	of func(parent gjson.Result) bool
	// inside is where the parent's own description has them; "" when they take a
	// call.
	inside string

	takes   []string // permissions, besides reading the resource itself
	rows    []row
	links   []link
	has     []posture.EntityType // parts that are edges
	details []detail
	events  []collect.Event // that change it, besides its own being written and deleted

	// also adds what a table cannot say: more properties and edges. It fails only
	// when the run is over.
	also      func(ctx context.Context, s *session, j gjson.Result, r *resource) error
	moreRows  []collect.Property
	moreLinks []collect.Edge

	shared bool // other collectors need the list
}

// A detail is a further call that tells more of a resource.
type detail struct {
	path       string                  // after the resource's id
	when       func(gjson.Result) bool // it makes sense to ask; always when nil
	version    string
	permission string
	rows       []row
	links      []link
}

// An item is a resource as Resource Manager describes it.
type item struct {
	gjson.Result
	id       string
	location string
}

// atATime is how many resources are looked at more closely at a time. The limiter
// keeps the pace; this keeps memory and connections in bounds.
const atATime = 8

// collector returns what reads the kind.
func (k *kind) collector() collector {
	return collector{Declaration: k.declaration(), List: k.list, Get: k.get}
}

func (k *kind) permission() string { return k.arm + "/read" }

// declaration says what is known of the kind without asking.
func (k *kind) declaration() collect.Declaration {
	d := collect.Declaration{
		Type: k.typ, Scope: collect.PerAccount, Service: armService, Doc: k.doc,
		Permissions: append([]string{k.permission()}, k.takes...),
		Properties:  slices.Clone(k.moreRows), Edges: append([]collect.Edge{k.holder()}, k.moreLinks...),
		Events: append([]collect.Event{{Source: k.arm, Names: []string{"write", "delete"}}}, k.events...),
	}
	describe := func(rows []row, links []link) {
		for _, r := range rows {
			d.Properties = append(d.Properties, r.Property)
		}
		for _, l := range links {
			d.Edges = append(d.Edges, l.Edge)
		}
	}
	describe(k.rows, k.links)
	for _, more := range k.details {
		describe(more.rows, more.links)
		d.Permissions = append(d.Permissions, more.permission)
	}
	for parent := k; parent.in != ""; {
		parent = kindOf(parent.in)
		d.Permissions = append(d.Permissions, parent.permission())
	}
	if len(k.has) > 0 {
		d.Edges = append(d.Edges, collect.Edge{Label: "HAS", To: k.has, Doc: "What it consists of."})
		for _, t := range k.has {
			d.Permissions = append(d.Permissions, kindOf(t).permission())
		}
	}
	slices.Sort(d.Permissions)
	d.Permissions = slices.Compact(d.Permissions)
	return d
}
