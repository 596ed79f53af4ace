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
		if d.exceedsLimit(n, limit) {
			d.reportTooMany(n, limit, "elements")
			d.leave()
			break
		}
		d.items++
		list = reflect.Append(list, zero)
		d.push("", n)
		d.value(list.Index(n))
		d.pop()
	}
	v.Set(list)
}

// DefaultItems limits the elements of a list, or the members of a map, whose
// field has no maxItems tag. It limits the database work of one request, and
// keeps its bind variables below the limits of SQLite (32,766) and PostgreSQL
// (65,535).
const DefaultItems = 1000

// maxBodyItems limits the elements of all lists and maps of one body together,
// because the limits of nested lists would multiply.
const maxBodyItems = 10_000

// takeLimit returns the limit of the list or map that is decoded next. A
// maxItems tag applies to the outermost list of its field.
func (d *decoder) takeLimit() int {
	limit := d.limit
	d.limit = 0
	if limit == 0 {
		return DefaultItems
	}
	return limit
}

// exceedsLimit reports whether one more element after n others would exceed the limit of the
// list or that of the request.
func (d *decoder) exceedsLimit(n, limit int) bool { return n >= limit || d.items >= maxBodyItems }

// reportTooMany adds the error that the list or map at the current path has more than n elements,
// which a limit does not allow.
func (d *decoder) reportTooMany(n, limit int, what string) {
	if n < limit {
		d.addError("is too long: all lists of a request together must have at most %d elements", maxBodyItems)
		return
	}
	if len(d.details) >= maxDetails { // drop details about elements: the length matters more
		d.details = d.details[:maxDetails-1]
	}
	d.addError("must have at most %d %s", limit, what)
}

// leave skips the rest of an array. The cursor is at one of its values.
func (d *decoder) leave() {
	for more := true; more; more = d.next() {
		d.skip()
	}
}

// object decodes an object into a map.
func (d *decoder) object(v reflect.Value) {
	if d.kind() != '{' {
		d.wrong("an object")
		return
	}
	t := v.Type()
	m := reflect.MakeMap(t)
	limit := d.takeLimit()
	tooMany := false
	d.each(func(name string) {
		if tooMany {
			d.skip()
			return
		}
		if d.exceedsLimit(m.Len(), limit) {
			d.pop() // report the map, not the member that exceeded the limit
			d.reportTooMany(m.Len(), limit, "members")
			d.push(name, 0)
			tooMany = true
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

// members decodes an object into a struct. Unknown members are skipped.
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
			d.warnIgnored(name, plan)
			d.skip()
			return
		}
		if seen[i] {
			d.addError("is given twice")
			d.skip()
			return
		}
		seen[i] = true
		d.member(v, plan.members[i])
	})
	plan.reportMissing(seen, d)
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

// choose replaces a string, or each string of a list, by its spelling in enum.
// It reports an error for a string that is not in enum.
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
		d.addError("must be one of %s", strings.Join(enum, ", "))
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
// the member's value, which f must consume. It reports repeated names as
// errors.
func (d *decoder) each(f func(name string)) {
	var names nameSet
	for more := d.enter(); more; more = d.next() {
		name := d.name()
		d.push(name, 0)
		switch {
		case !names.add(name):
			d.addError("is given twice")
			d.skip()
		case strings.IndexByte(name, 0) >= 0:
			d.addError("must not hold a NUL character")
			d.skip()
		default:
			f(name)
		}
		d.pop()
	}
}

// A nameSet detects repeated names. Most objects are small, and a short list is
// faster than a map.
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

// skip skips a value, but reports repeated names in it.
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

// raw skips a value and returns its text, or nil if it contains an error.
func (d *decoder) raw() []byte {
	start, before := d.offset, len(d.details)
	d.skip()
	if len(d.details) > before {
		return nil
	}
	return d.data[start:d.offset:d.offset]
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
			d.addError("is out of range")
		}
		return f
	case 't', 'f':
		return d.scalar() == "true"
	default:
		d.scalar()
		return nil
	}
}
