package exec

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// stringFunction returns the string function of a step, or nil if the step is not one.
func stringFunction(s *plan.Call) func(string) graph.Value {
	text := func(fn func(string) string) func(string) graph.Value {
		return func(t string) graph.Value { return graph.String(fn(t)) }
	}
	switch s.Name {
	case "toUpper":
		return text(strings.ToUpper)
	case "toLower":
		return text(strings.ToLower)
	case "trim":
		return text(func(t string) string { return strings.TrimFunc(t, unicode.IsSpace) })
	case "lTrim":
		return text(func(t string) string { return strings.TrimLeftFunc(t, unicode.IsSpace) })
	case "rTrim":
		return text(func(t string) string { return strings.TrimRightFunc(t, unicode.IsSpace) })
	case "length":
		return func(t string) graph.Value { return graph.Int(int32(utf16Len(t))) }
	case "replace":
		return text(replacer(s.Args[0], s.Args[1]))
	case "split":
		return splitter(s.Args[0])
	case "substring":
		return text(substring(s.Args))
	}
	return nil
}

// utf16Len counts UTF-16 code units, as Java does.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

func replacer(old, with graph.Value) func(string) string {
	if old.IsNull() || with.IsNull() || old.Str() == "" {
		return func(t string) string { return t }
	}
	return strings.NewReplacer(old.Str(), with.Str()).Replace
}

// splitter splits at a separator: without one at white space, with an empty one
// into characters. Empty parts are dropped.
func splitter(sep graph.Value) func(string) graph.Value {
	return func(t string) graph.Value {
		var parts []string
		switch {
		case sep.IsNull():
			parts = strings.Fields(t)
		case t == "" && sep.Str() == "":
			parts = []string{""}
		case sep.Str() == "":
			for _, r := range t {
				parts = append(parts, string(r))
			}
		default:
			for p := range strings.SplitSeq(t, sep.Str()) {
				if p != "" {
					parts = append(parts, p)
				}
			}
		}
		out := make([]graph.Value, len(parts))
		for i, p := range parts {
			out[i] = graph.String(p)
		}
		return graph.List(out...)
	}
}

// substring returns a part of a string; negative positions count from the end.
func substring(args []graph.Value) func(string) string {
	return func(t string) string {
		u := utf16.Encode([]rune(t))
		clampedIndex := func(i int64) int {
			n := int64(len(u))
			if i < 0 {
				return int(max(0, n+i))
			}
			return int(min(i, n))
		}
		start, end := clampedIndex(args[0].Int()), len(u)
		if len(args) > 1 {
			end = clampedIndex(args[1].Int())
		}
		if end <= start {
			return ""
		}
		return string(utf16.Decode(u[start:end]))
	}
}

// textCall applies a string function to a string, or to each string of a list. Null stays null.
func (r *run) textCall(s *plan.Call, fn func(string) graph.Value) func(graph.Value) (graph.Value, error) {
	convert := func(v graph.Value) (graph.Value, error) {
		if err := r.meter.spend(v.Len() / 64); err != nil {
			return graph.Null, err
		}
		// The result of a function is at most this long.
		if err := r.checkLength(int64(v.Len()) * growth(s)); err != nil {
			return graph.Null, err
		}
		return fn(v.Str()), nil
	}
	if !s.Local {
		return func(v graph.Value) (graph.Value, error) {
			if v.IsNull() {
				return v, nil
			}
			if v.Kind() != graph.KindString {
				return graph.Null, value.Errorf("The %s() step can only take string as argument, encountered %s", s.Name, value.ClassName(v))
			}
			return convert(v)
		}
	}
	bad := func(v graph.Value, where string) error {
		return value.Errorf("The %s(local) step can only take string or list of strings, encountered %s%s", s.Name, value.ClassName(v), where)
	}
	return func(v graph.Value) (graph.Value, error) {
		if v.IsNull() {
			return v, nil
		}
		if v.Kind() == graph.KindString {
			return convert(v)
		}
		vs, ok := value.Elems(v)
		if !ok {
			return graph.Null, bad(v, "")
		}
		out := make([]graph.Value, len(vs))
		for i, x := range vs {
			if x.IsNull() {
				continue
			}
			if x.Kind() != graph.KindString {
				return graph.Null, bad(x, " in list")
			}
			var err error
			if out[i], err = convert(x); err != nil {
				return graph.Null, err
			}
		}
		return graph.List(out...), nil
	}
}

// growth returns the maximum number of output bytes per input byte of a function.
func growth(s *plan.Call) int64 {
	switch s.Name {
	case "replace":
		if !s.Args[1].IsNull() {
			return int64(s.Args[1].Len()) + 1
		}
	case "split":
		return 40 // every byte can become an item of a list
	}
	return 3 // a letter can have more bytes in the other case
}
