package exec

import (
	"math/big"
	"strings"
	"time"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
	"vigil/gremlin/syntax"
)

// callOp applies a function to each row.
func (r *run) callOp(s *plan.Call, next op) (op, error) {
	if fn := stringFunction(s); fn != nil {
		return r.valueMapper(s, next, r.textCall(s, fn)), nil
	}
	switch s.Name {
	case "asBool":
		return r.valueMapper(s, next, r.asBool), nil
	case "asDate":
		return r.valueMapper(s, next, r.asDate), nil
	case "asNumber":
		return r.valueMapper(s, next, r.asNumber(s)), nil
	case "asString":
		return r.valueMapper(s, next, r.asString(s.Local)), nil
	case "reverse":
		return r.valueMapper(s, next, r.reverse), nil
	case "dateAdd":
		return r.valueMapper(s, next, dateAdd(s)), nil
	case "dateDiff":
		return r.dateDiff(s, next)
	case "concat":
		return r.concat(s, next)
	case "conjoin":
		return r.valueMapper(s, next, r.conjoin(s.Args[0].Str())), nil
	}
	return r.listCall(s, next)
}

func (r *run) asBool(v graph.Value) (graph.Value, error) {
	switch {
	case v.Kind() == graph.KindBool:
		return v, nil
	case v.IsNumber():
		return graph.Bool(!value.IsNaN(v) && value.Float64(v) != 0), nil
	case v.Kind() == graph.KindString:
		switch s := strings.ToLower(strings.TrimSpace(v.Str())); s {
		case "true", "false":
			return graph.Bool(s == "true"), nil
		}
		return graph.Null, value.Errorf("Can't parse %s as Boolean.", v.Str())
	}
	return graph.Null, value.Errorf("Can't parse %s as Boolean.", value.ClassName(v))
}

func (r *run) asDate(v graph.Value) (graph.Value, error) {
	switch k := v.Kind(); {
	case k == graph.KindDateTime:
		return v, nil
	case v.IsInteger():
		return graph.DateTime(time.UnixMilli(v.Int()).UTC()), nil
	case k == graph.KindBigInt && v.BigInt().IsInt64():
		return graph.DateTime(time.UnixMilli(v.BigInt().Int64()).UTC()), nil
	case k == graph.KindString:
		if t, ok := syntax.ParseTime(v.Str()); ok {
			return graph.DateTime(t), nil
		}
		return graph.Null, value.Errorf("Can't parse %s as OffsetDateTime.", v.Str())
	}
	return graph.Null, value.Errorf("Can't parse %s as OffsetDateTime.", value.ClassName(v))
}

func (r *run) asNumber(s *plan.Call) func(graph.Value) (graph.Value, error) {
	kind, typed := graph.KindNull, false
	if len(s.Args) > 0 {
		t, _ := value.As[value.Token](s.Args[0])
		kind, typed = value.NumberKind(string(t))
	}
	return func(v graph.Value) (graph.Value, error) {
		switch {
		case v.IsNull():
			return v, nil
		case v.Kind() == graph.KindString:
			n, ok := value.ParseNumber(v.Str())
			if !ok {
				return graph.Null, value.Errorf("Can't parse string '%s' as number.", v.Str())
			}
			v = n
		case v.Kind() == graph.KindDateTime:
			var err error
			if v, err = unixMillis(v.Time()); err != nil {
				return graph.Null, err
			}
		case !v.IsNumber():
			return graph.Null, value.Errorf("Can't parse type %s as number.", value.ClassName(v))
		}
		if !typed {
			return v, nil
		}
		return value.Cast(v, kind)
	}
}

func (r *run) asString(local bool) func(graph.Value) (graph.Value, error) {
	convert := func(v graph.Value) (graph.Value, error) {
		if v.IsNull() {
			return v, value.Errorf("Can't parse null as String.")
		}
		s, err := r.text(v)
		return graph.String(s), err
	}
	return func(v graph.Value) (graph.Value, error) {
		vs, ok := value.Elems(v)
		if !local || !ok {
			return convert(v)
		}
		out := make([]graph.Value, len(vs))
		for i, x := range vs {
			var err error
			if out[i], err = convert(x); err != nil {
				return graph.Null, err
			}
		}
		return graph.List(out...), nil
	}
}

// reverse reverses a string or list; it returns other values unchanged.
func (r *run) reverse(v graph.Value) (graph.Value, error) {
	if v.Kind() == graph.KindString {
		if err := r.meter.spend(v.Len() / 64); err != nil {
			return graph.Null, err
		}
		runes := []rune(v.Str())
		for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
			runes[i], runes[j] = runes[j], runes[i]
		}
		return graph.String(string(runes)), nil
	}
	vs, ok := value.Elems(v)
	if !ok {
		return v, nil
	}
	out := make([]graph.Value, len(vs))
	for i, x := range vs {
		out[len(vs)-1-i] = x
	}
	return graph.List(out...), nil
}

// maxYear is the last year of a date; the first is -maxYear. These are the limits of Java's
// OffsetDateTime.
const maxYear = 999_999_999

// dateAdd adds seconds instead of a time.Duration, which is at most 292 years.
func dateAdd(s *plan.Call) func(graph.Value) (graph.Value, error) {
	unit, _ := value.As[value.Token](s.Args[0])
	seconds := map[value.Token]int64{"second": 1, "minute": 60, "hour": 3600, "day": 24 * 3600}[unit]
	n := s.Args[1].Int()
	first := time.Date(-maxYear, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(maxYear+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix() - 1
	most := (last - first) / seconds // a larger amount leads out of the range from every date, and may overflow
	return func(v graph.Value) (graph.Value, error) {
		if v.Kind() != graph.KindDateTime {
			return graph.Null, value.Errorf("dateAdd accept only OffsetDateTime or Date (deprecated).")
		}
		t := v.Time()
		sum := t.Unix() + n*seconds
		if n < -most || n > most || sum < first || sum > last {
			return graph.Null, value.Errorf("dateAdd() leads to a date outside of the years -%d to %d.", maxYear, maxYear)
		}
		return graph.DateTime(time.Unix(sum, int64(t.Nanosecond())).In(t.Location())), nil
	}
}

func (r *run) dateDiff(s *plan.Call, next op) (op, error) {
	arg, err := r.argument(s)
	if err != nil {
		return nil, err
	}
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		v := in.value(i)
		if v.Kind() != graph.KindDateTime {
			return graph.Null, false, value.Errorf("DateDiff can only take OffsetDateTime or Date (deprecated) as argument, encountered %s", value.ClassName(v))
		}
		other, err := arg(in, i)
		if err != nil {
			return graph.Null, false, err
		}
		var diff graph.Value
		switch {
		case other.IsNull():
			diff, err = unixMillis(v.Time())
		case other.Kind() == graph.KindDateTime:
			diff, err = millis(nanosBetween(other.Time(), v.Time()), (*big.Int).Quo)
		default:
			err = value.Errorf("DateDiff can only take OffsetDateTime or Date (deprecated) as argument, encountered %s", value.ClassName(other))
		}
		return diff, err == nil, err
	}), nil
}

// unixMillis returns the milliseconds since 1970, rounded down like those of Java's Instant.
func unixMillis(t time.Time) (graph.Value, error) {
	return millis(nanosBetween(time.Unix(0, 0), t), (*big.Int).Div)
}

// millis converts nanoseconds with one of the divisions of big.Int: Quo rounds towards zero, Div
// down. It returns an error for more than 292 million years.
func millis(nanos *big.Int, divide func(z, x, y *big.Int) *big.Int) (graph.Value, error) {
	d := divide(nanos, nanos, big.NewInt(int64(time.Millisecond)))
	if !d.IsInt64() {
		return graph.Null, value.Errorf("long overflow")
	}
	return graph.Long(d.Int64()), nil
}

// nanosBetween returns the nanoseconds from a to b. They can exceed a time.Duration, which is at
// most 292 years.
func nanosBetween(a, b time.Time) *big.Int {
	d := new(big.Int).Sub(big.NewInt(b.Unix()), big.NewInt(a.Unix()))
	d.Mul(d, big.NewInt(int64(time.Second)))
	return d.Add(d, big.NewInt(int64(b.Nanosecond()-a.Nanosecond())))
}

// argument returns the argument of a function whose other operand is the incoming value: a
// literal, or the result of a traversal. A traversal without a result is an error.
func (r *run) argument(s *plan.Call) (func(in *batch, i int) (graph.Value, error), error) {
	if len(s.Traversals) == 0 {
		return func(*batch, int) (graph.Value, error) { return s.Args[0], nil }, nil
	}
	c, err := r.newChild(s.Traversals[0])
	return func(in *batch, i int) (graph.Value, error) { return r.mustFirst(c, in, i) }, err
}

func (r *run) mustFirst(c *child, in *batch, i int) (graph.Value, error) {
	v, ok, err := c.first(in, i)
	if err == nil && !ok {
		err = value.Errorf("The provided traverser does not map to a value: %s", value.Text(r, in.value(i)))
	}
	return v, err
}

// concat concatenates strings. Null is ignored unless all are null.
func (r *run) concat(s *plan.Call, next op) (op, error) {
	var children []*child
	for _, t := range s.Traversals {
		c, err := r.newChild(t)
		if err != nil {
			return nil, err
		}
		children = append(children, c)
	}
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		v := in.value(i)
		if !v.IsNull() && v.Kind() != graph.KindString {
			return graph.Null, false, value.Errorf("String concat() can only take string as argument, encountered %s", value.ClassName(v))
		}
		parts := []graph.Value{v}
		for _, c := range children {
			w, err := r.mustFirst(c, in, i)
			if err != nil {
				return graph.Null, false, err
			}
			if !w.IsNull() && w.Kind() != graph.KindString {
				return graph.Null, false, value.Errorf("%s cannot be cast to String", value.ClassName(w))
			}
			parts = append(parts, w)
		}
		return r.joinParts(append(parts, s.Args...))
	}), nil
}

func (r *run) joinParts(parts []graph.Value) (graph.Value, bool, error) {
	size, any := int64(0), false
	for _, p := range parts {
		if p.IsNull() {
			continue
		}
		any = true
		size += int64(p.Len())
	}
	if !any {
		return graph.Null, true, nil
	}
	if err := r.checkLength(size); err != nil {
		return graph.Null, false, err
	}
	var b strings.Builder
	b.Grow(int(size))
	for _, p := range parts {
		if !p.IsNull() {
			b.WriteString(p.Str())
		}
	}
	return graph.String(b.String()), true, r.meter.spend(int(size / 64))
}
