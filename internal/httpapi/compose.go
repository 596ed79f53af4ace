package httpapi

import (
	"reflect"
	"strconv"
	"strings"
)

// slice decodes an array.
func (d *decoder) slice(v reflect.Value) {
	if d.kind() != '[' {
		d.wrong("an array")
		return
	}
	limit := d.takeLimit()
	list := reflect.MakeSlice(v.Type(), 0, 0)
	zero := reflect.Zero(v.Type().Elem())
	for more := d.enter(); more; more = d.next() {
		n := list.Len()
		if !d.room(n, limit, "elements") {
			d.leave()
			break
		}
		list = reflect.Append(list, zero)
		d.push("", n)
		d.value(list.Index(n))
		d.pop()
	}
	v.Set(list)
}

// DefaultItems is how many elements a list, or members a map, of a request may
// have whose field has no maxItems tag. It keeps what one request costs the
// database small, and the number of its bind variables below what SQLite
// (32,766) and PostgreSQL (65,535) take.
const DefaultItems = 1000

// maxBodyItems is how many elements all lists and maps of one body may have
// together: lists of lists would otherwise multiply their limits.
const maxBodyItems = 10_000

// takeLimit returns the limit of the list or map that is about to be decoded.
// The tag of a member is about the outermost one.
func (d *decoder) takeLimit() int {
	limit := d.limit
	d.limit = 0
	if limit == 0 {
		return DefaultItems
	}
	return limit
}

// room reports whether one more element may follow n others, and counts it. If
// not, it blames the list, which is at the current path.
func (d *decoder) room(n, limit int, what string) bool {
	if n >= limit && len(d.details) >= maxDetails { // the length matters more than what is wrong with the elements
		d.details = d.details[:maxDetails-1]
	}
	switch {
	case n >= limit:
		d.blame("must have at most %d %s", limit, what)
	case d.items >= maxBodyItems:
		d.blame("is too long: all lists of a request together must have at most %d elements", maxBodyItems)
	default:
		d.items++
		return true
	}
	return false
}

// leave steps over the rest of an array, with the cursor at one of its values.
func (d *decoder) leave() {
	for more := true; more; more = d.next() {
		d.skip()
	}
}

// object decodes an object whose names are data.
func (d *decoder) object(v reflect.Value) {
	if d.kind() != '{' {
		d.wrong("an object")
		return
	}
	t := v.Type()
	m := reflect.MakeMap(t)
	limit := d.takeLimit()
	over := false
	d.each(func(name string) {
		if over {
			d.skip()
			return
		}
		if m.Len() >= limit || d.items >= maxBodyItems {
			d.pop() // the whole map is to blame, not the member that was one too many
			d.room(m.Len(), limit, "members")
			d.push(name, 0)
			over = true
			d.skip()
			return
		}
		d.items++
		item := reflect.New(t.Elem()).Elem()
		d.value(item)
		m.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), item)
	})
	v.Set(m)
}

// members decodes an object into a struct. Members it does not know are skipped.
func (d *decoder) members(v reflect.Value) {
	if d.kind() != '{' {
		d.wrong("an object")
		return
	}
	plan := planOf(v.Type())
	seen := make([]bool, len(plan.members))
	d.each(func(name string) {
		i, ok := plan.find(name)
		if !ok {
			d.ignored(name, plan)
			d.skip()
			return
		}
		if seen[i] {
			d.blame("is given twice")
			d.skip()
			return
		}
		seen[i] = true
		d.member(v, plan.members[i])
	})
	plan.missing(seen, d)
}

func (d *decoder) member(v reflect.Value, m member) {
	f := v.FieldByIndex(m.index)
	if m.nullable && d.kind() == 'n' {
		d.scalar()
		return
	}
	before := len(d.details)
	d.limit = m.maxItems
	d.value(f)
	d.limit = 0
	if m.enum != nil && len(d.details) == before {
		d.choose(f, m.enum)
	}
}

// choose replaces a string, or each of a list of strings, by its canonical
// spelling among the values allowed.
func (d *decoder) choose(v reflect.Value, enum []string) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			d.push("", i)
			d.choose(v.Index(i), enum)
			d.pop()
		}
	case reflect.Pointer:
		if !v.IsNil() {
			d.choose(v.Elem(), enum)
		}
	case reflect.String:
		for _, e := range enum {
			if strings.EqualFold(e, v.String()) {
				v.SetString(e)
				return
			}
		}
		d.blame("must be one of %s", strings.Join(enum, ", "))
	default:
		if o, ok := v.Addr().Interface().(interface{ inner() reflect.Value }); ok {
			if in := o.inner(); in.IsValid() {
				d.choose(in, enum)
			}
			return
		}
		panic("httpapi: enum on a " + v.Type().String())
	}
}

// each calls f with the name of every member of an object, with the cursor at
// its value, which f must consume. A name that comes twice is blamed.
func (d *decoder) each(f func(name string)) {
	var names nameSet
	for more := d.enter(); more; more = d.next() {
		name := d.name()
		d.push(name, 0)
		switch {
		case !names.add(name):
			d.blame("is given twice")
			d.skip()
		case strings.IndexByte(name, 0) >= 0:
			d.blame("must not hold a NUL character")
			d.skip()
		default:
			f(name)
		}
		d.pop()
	}
}

// A nameSet tells whether a name was there before. Most objects are small, and
// a short list is faster than a map.
type nameSet struct {
	few  []string
	many map[string]struct{}
}

func (s *nameSet) add(name string) bool {
	if s.many == nil {
		for _, n := range s.few {
			if n == name {
				return false
			}
		}
		s.few = append(s.few, name)
		if len(s.few) == 16 {
			s.many = make(map[string]struct{})
			for _, n := range s.few {
				s.many[n] = struct{}{}
			}
		}
		return true
	}
	if _, ok := s.many[name]; ok {
		return false
	}
	s.many[name] = struct{}{}
	return true
}

// skip steps over a value, which must still be free of repeated names.
func (d *decoder) skip() {
	switch d.kind() {
	case '{':
		d.each(func(string) { d.skip() })
	case '[':
		i := 0
		for more := d.enter(); more; more = d.next() {
			d.push("", i)
			d.skip()
			d.pop()
			i++
		}
	case '"':
		d.string()
	default:
		d.scalar()
	}
}

// raw steps over a value and returns its text, or nil if something in it was
// blamed.
func (d *decoder) raw() []byte {
	start, before := d.at, len(d.details)
	d.skip()
	if len(d.details) > before {
		return nil
	}
	return d.data[start:d.at:d.at]
}

// any decodes into an empty interface, as encoding/json does.
func (d *decoder) any(v reflect.Value) {
	if x := d.tree(); x != nil {
		v.Set(reflect.ValueOf(x))
	} else {
		v.SetZero()
	}
}

func (d *decoder) tree() any {
	switch d.kind() {
	case '{':
		m := make(map[string]any)
		d.each(func(name string) { m[name] = d.tree() })
		return m
	case '[':
		list := []any{}
		for more := d.enter(); more; more = d.next() {
			d.push("", len(list))
			list = append(list, d.tree())
			d.pop()
		}
		return list
	case '"':
		s, _ := d.string()
		return s
	case '0':
		f, err := strconv.ParseFloat(d.scalar(), 64)
		if err != nil {
			d.blame("is out of range")
		}
		return f
	case 't', 'f':
		return d.scalar() == "true"
	default:
		d.scalar()
		return nil
	}
}
