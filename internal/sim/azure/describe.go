package azure

import (
	"strings"

	"vigil/internal/sim/world"
)

// kindIn returns the world.Kind of a's kind and place.
func (a address) kindIn() *world.Kind {
	return &world.Kind{
		Type:  a.k.typ,
		Count: func(world.Place) int { return a.count() },
		Name: func(_ world.Place, i int) string {
			a.i = i
			return a.name()
		},
		Index: func(_ world.Place, name string) (int, bool) { return a.index(name) },
		Make: func(_ world.Place, i int) world.Object {
			a.i = i
			return a.description()
		},
	}
}

// description returns a resource with its id, name and type.
func (a address) description() world.Object {
	o := world.Obj("id", a.id(), "name", a.name(), "type", a.k.arm)
	for _, f := range a.k.body(a) {
		switch f.Name { // the ids and types of some kinds have another spelling in responses
		case "id":
			o[0] = f
		case "type":
			o[2] = f
		default:
			o = append(o, f)
		}
	}
	return o
}

// list visits at most max resources of the address's kind and place, starting at the given
// number; see [world.World.List]. A negative max means no limit.
func (a address) list(from, max int, visit func(name string, o world.Object) bool) int {
	return a.World.List(a.kindIn(), a.place, from, max, func(name string, o world.Object) bool { return visit(name, a.embedded(name, o)) })
}

// key returns the name under which the overlay has a resource. Names in Azure are not
// case-sensitive, so a generated resource has the generated spelling there, and any other
// resource has its name in lower case.
func (a address) key(name string) string {
	if i, ok := a.index(name); ok && i < a.count() {
		a.member = member{i: i}
		return a.name()
	}
	return strings.ToLower(name)
}

// get returns a resource by name.
func (a address) get(name string) (address, world.Object, bool) {
	name = a.key(name)
	a.member = a.memberOf(name)
	o, ok := a.World.Get(a.kindIn(), a.place, name)
	if !ok {
		return a, nil, false
	}
	return a, a.embedded(name, o), true
}

// embedded adds the nested resources that a resource's description contains.
func (a address) embedded(name string, o world.Object) world.Object {
	for field, arm := range a.k.embeds {
		i, ok := a.index(name)
		if !ok {
			continue
		}
		a.i = i
		var parts []any
		a.nested(arm).list(0, -1, func(_ string, part world.Object) bool {
			parts = append(parts, part.Visible())
			return true
		})
		properties, _ := o.Get("properties").(world.Object)
		o = o.With("properties", properties.With(field, parts))
	}
	return o
}

// detail returns the result of a call for a sub-path: the field whose name is
// an underscore and the sub-path.
func detail(o world.Object, rest string) (world.Object, bool) {
	for _, f := range o {
		if name, hidden := strings.CutPrefix(f.Name, "_"); hidden && strings.EqualFold(name, rest) {
			found, ok := f.Value.(world.Object)
			return found, ok
		}
	}
	return nil, false
}
