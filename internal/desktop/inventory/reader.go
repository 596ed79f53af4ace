package inventory

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A reader fills structs from YAML nodes by their `key` tags. It collects all
// errors, and records the line of each value.
type reader struct {
	problems Problems
	lines    map[string]int
	nulls    map[string]bool // paths whose value is null; they have a line, but count as missing
}

func (r *reader) report(line int, path, format string, args ...any) {
	r.problems = append(r.problems, Problem{line, path, fmt.Sprintf(format, args...)})
}

// addError reports an error of the value at a path, with its line. It does nothing
// if the value or an enclosing one already has an error, because the new error
// probably follows from that one.
func (r *reader) addError(path, format string, args ...any) {
	line := 0
	// p is the path, and then that of each enclosing value. The last is "", the whole file.
	for p := path; ; p = p[:max(strings.LastIndexAny(p, ".["), 0)] {
		if slices.ContainsFunc(r.problems, func(known Problem) bool { return known.Path == p && p != "" }) {
			return
		}
		if line == 0 {
			line = r.lines[p]
		}
		if p == "" {
			break
		}
	}
	r.report(line, path, format, args...)
}

// isSet reports whether the file has a value at the path.
func (r *reader) isSet(path string) bool {
	_, ok := r.lines[path]
	return ok && !r.nulls[path]
}

var durationType = reflect.TypeFor[time.Duration]()

func (r *reader) read(n *yaml.Node, v reflect.Value, path string) {
	r.lines[path] = n.Line
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		r.report(n.Line, path, "must be written out: anchors and aliases are not supported")
		return
	}
	switch {
	case v.Type() == durationType:
		r.readDuration(n, v, path)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.read(n, v.Elem(), path)
	case v.Kind() == reflect.Struct:
		r.readStruct(n, v, path)
	case v.Kind() == reflect.Slice:
		r.readSlice(n, v, path)
	default:
		r.readScalar(n, v, path)
	}
}

func (r *reader) readStruct(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		r.report(n.Line, path, "must be a mapping of keys to values")
		return
	}
	fields := make(map[string]reflect.Value)
	for i := range v.NumField() {
		fields[v.Type().Field(i).Tag.Get("key")] = v.Field(i)
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		keyPath := strings.TrimPrefix(path+"."+key.Value, ".")
		field, ok := fields[key.Value]
		switch {
		case !ok:
			r.report(key.Line, keyPath, "is not a known key")
		case seen[key.Value]:
			r.report(key.Line, keyPath, "is given twice")
		case value.Tag == "!!null":
			r.lines[keyPath], r.nulls[keyPath] = value.Line, true
		default:
			r.read(value, field, keyPath)
		}
		seen[key.Value] = true
	}
}

func (r *reader) readSlice(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		r.report(n.Line, path, "must be a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		r.read(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func (r *reader) readScalar(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		r.report(n.Line, path, "must be a single value")
		return
	}
	switch v.Kind() {
	case reflect.String:
		// Numbers and dates are accepted as strings: names may look like them.
		v.SetString(strings.TrimSpace(n.Value))
	case reflect.Int:
		number, err := strconv.Atoi(n.Value)
		if err != nil || n.Tag != "!!int" {
			r.report(n.Line, path, "must be a whole number")
			return
		}
		v.SetInt(int64(number))
	case reflect.Bool:
		if n.Tag != "!!bool" {
			r.report(n.Line, path, "must be true or false")
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	default:
		panic("inventory: cannot read a " + v.Type().String())
	}
}

// readDuration parses durations in Go's format, such as 30s, 5m, 12h, and whole
// days such as 30d.
func (r *reader) readDuration(n *yaml.Node, v reflect.Value, path string) {
	text := n.Value
	// ParseDuration below refuses the days that are not converted here, such as 36500d or more.
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if count, err := strconv.Atoi(days); err == nil && count >= 0 && count < 36500 {
			text = fmt.Sprintf("%dh", count*24)
		}
	}
	d, err := time.ParseDuration(text)
	if n.Kind != yaml.ScalarNode || err != nil || d <= 0 {
		r.report(n.Line, path, "must be a time span above zero, such as 30s, 5m or 30d")
		return
	}
	v.SetInt(int64(d))
}
