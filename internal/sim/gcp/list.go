package gcp

import (
	"net/url"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// address returns a kind in the project of a call.
func (c *call) address(t posture.EntityType) address {
	a := address{Cloud: c.Cloud, k: kinds[t], project: c.project}
	if a.k.in != "" {
		a.parent = c.args["parent"]
	}
	return a
}

// list returns a handler that answers with a page of a kind in the given field. The
// functions in shape change each resource of the page.
func list(t posture.EntityType, field string, shape ...func(address, world.Object) world.Object) func(*call) (world.Object, *failure) {
	return func(x *call) (world.Object, *failure) {
		from, failed := x.from()
		if failed != nil {
			return nil, failed
		}
		a := x.address(t)
		if a.k.in != "" {
			parent := x.address(a.k.in)
			if _, ok := parent.get(a.parent); !ok {
				return nil, notFound(a.parent)
			}
		}
		items := []any{}
		next := x.page(a, from, x.size(), func(o world.Object) {
			for _, f := range shape {
				o = f(a, o)
			}
			items = append(items, o.Visible())
		})
		return world.Obj(field, items, "nextPageToken", x.next(next)), nil
	}
}

// page visits at most limit resources that match the call's parameters, and
// returns the start of the next page, or -1 after the last.
func (c *call) page(a address, from, limit int, visit func(world.Object)) int {
	location, name := c.args["location"], filterName(c.query.Get("filter"))
	if location == "-" { // all locations
		location = ""
	}
	if location == "" && name == "" {
		return a.list(from, limit, func(_ string, o world.Object) bool {
			visit(o)
			return true
		})
	}
	for from >= 0 && limit > 0 {
		from = a.list(from, 1, func(n string, o world.Object) bool {
			if (location == "" || location == placeOf(linkOf(o))) && (name == "" || name == n) {
				visit(o)
				limit--
			}
			return true
		})
	}
	return from
}

// linkOf returns the field that contains a resource's location.
func linkOf(o world.Object) string {
	if link := o.Text("selfLink"); link != "" {
		return link
	}
	if path := o.Text("_path"); path != "" {
		return path
	}
	return o.Text("name")
}

// filterName returns the name in a filter of the form name="x".
func filterName(filter string) string {
	name, ok := strings.CutPrefix(filter, "name=")
	if !ok {
		return ""
	}
	return strings.Trim(name, `"`)
}

// get returns a handler that answers with one resource.
func get(t posture.EntityType) func(*call) (world.Object, *failure) {
	return func(x *call) (world.Object, *failure) {
		name := x.args["name"]
		if unescaped, err := url.PathUnescape(name); err == nil { // the name of a log metric may contain slashes
			name = unescaped
		}
		o, ok := x.address(t).get(name)
		if !ok || x.args["location"] != "" && x.args["location"] != placeOf(linkOf(o)) {
			return nil, notFound(x.args["name"])
		}
		return o.Visible(), nil
	}
}

// policy returns a handler that answers with a resource's IAM policy.
func policy(t posture.EntityType) func(*call) (world.Object, *failure) {
	return func(x *call) (world.Object, *failure) {
		name := x.args["name"]
		if x.args["bucket"] != "" {
			name = x.args["bucket"]
		}
		o, ok := x.address(t).get(name)
		if !ok {
			return nil, notFound(name)
		}
		p, _ := o.Get("_policy").(world.Object)
		if p == nil {
			return world.Obj("version", 1, "etag", "ACAB"), nil
		}
		return p, nil
	}
}

// grants returns a policy with bindings.
func grants(bindings ...any) world.Object {
	return world.Obj("version", 1, "etag", "BwWWja0YfJA=", "bindings", bindings)
}

// binding returns a binding of a role to members.
func binding(role string, members ...string) world.Object {
	return world.Obj("role", role, "members", world.Items(members...))
}

// aggregatedList returns a handler that answers with a page of a Compute Engine
// kind, grouped by location.
func aggregatedList(t posture.EntityType) func(*call) (world.Object, *failure) {
	return func(x *call) (world.Object, *failure) {
		from, failed := x.from()
		if failed != nil {
			return nil, failed
		}
		a := x.address(t)
		found := map[string][]any{}
		next := x.page(a, from, x.size(), func(o world.Object) {
			scope := scopeOf(placeOf(o.Text("selfLink")))
			found[scope] = append(found[scope], o.Visible())
		})
		var items world.Object
		for _, location := range slices.Concat([]string{posture.Global}, regions, zones) {
			scope := scopeOf(location)
			if list := found[scope]; len(list) > 0 {
				items = append(items, world.Field{Name: scope, Value: world.Obj(a.k.collection, list)})
				continue
			}
			items = append(items, world.Field{Name: scope, Value: world.Obj("warning", world.Obj(
				"code", "NO_RESULTS_ON_PAGE", "message", "There are no results for scope '"+scope+"' on this page.",
				"data", world.Items(world.Obj("key", "scope", "value", scope))))})
		}
		return world.Obj("kind", "compute#aggregatedList", "id", "projects/"+x.project.ID+"/aggregated/"+a.k.collection, "items", items, "nextPageToken", x.next(next)), nil
	}
}

// scopeOf returns the key of a location in an aggregated list.
func scopeOf(location string) string {
	switch strings.Count(location, "-") {
	case 0:
		return location
	case 1:
		return "regions/" + location
	}
	return "zones/" + location
}

// locations answers with the locations of a service.
func locations(x *call) (world.Object, *failure) {
	return world.Obj("locations", world.Each(len(regions), func(i int) world.Object {
		return world.Obj("name", "projects/"+x.project.ID+"/locations/"+regions[i], "locationId", regions[i])
	})), nil
}
