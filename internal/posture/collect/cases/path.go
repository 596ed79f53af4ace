package cases

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// splitPath returns the parts of a gjson path: names, array steps, queries and modifiers.
func splitPath(path string) (parts []string) {
	var part strings.Builder
	depth, quoted := 0, false
	flush := func() {
		if part.Len() > 0 {
			parts = append(parts, part.String())
		}
		part.Reset()
	}
	for i := 0; i < len(path); i++ {
		c := path[i]
		isArgument := strings.HasPrefix(part.String(), "@") && strings.Contains(part.String(), ":")
		switch {
		case c == '\\' && i+1 < len(path):
			i++
			part.WriteByte(path[i])
			continue
		case c == '"':
			quoted = !quoted
		case quoted: // has no special characters
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && (c == '|' || c == '.' && !isArgument): // the dot in @before:.s3 is part of the argument
			flush()
			continue
		}
		part.WriteByte(c)
	}
	flush()
	return parts
}

// absent is the value of a member that is to be removed.
type absent struct{}

// assign returns a JSON value in which the value at a path is replaced. The value may be a
// list with one value for each element that the path leads to.
func assign(v any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return conform(v, value)
	}
	step, rest := path[0], path[1:]
	switch {
	case step == "@flatten" && len(rest) == 0 && v == nil:
		return conform([]any{}, value)
	case step == "@this", step == "@flatten":
		return assign(v, rest, value)
	case step == "#" && len(rest) == 0:
		return resize(v, value)
	case step == "#":
		return assignElements(v, rest, value)
	case strings.HasPrefix(step, "#("):
		return assignMatching(v, step, rest, value)
	case step == "@values":
		return assignValues(v, rest, value)
	case step == "@keys":
		return assignKeys(v, value)
	case strings.HasPrefix(step, "@"):
		inverse, err := invert(step, value)
		if err != nil {
			return nil, err
		}
		return assign(v, rest, inverse)
	}
	if i, err := strconv.Atoi(step); err == nil {
		list, _ := v.([]any)
		list = slices.Clone(list)
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i], err = assign(list[i], rest, value)
		return list, err
	}
	object, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, fmt.Errorf("%s is a member of a %T", step, v)
	}
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	// Modifiers at the end apply to the value of this member.
	value, rest, err := invertTail(rest, value)
	if err != nil {
		return nil, err
	}
	if _, remove := value.(absent); remove && len(rest) == 0 {
		delete(object, step)
		return object, nil
	}
	if _, remove := value.(absent); remove && object[step] == nil {
		return object, nil
	}
	object[step], err = assign(object[step], rest, value)
	return object, err
}

// conform converts a value to the type of the value that it replaces.
func conform(before, value any) (any, error) {
	if _, remove := value.(absent); remove {
		return value, nil
	}
	list, several := value.([]any)
	switch before.(type) {
	case []any:
		if !several {
			return []any{value}, nil
		}
	case string, bool:
		if several && len(list) != 1 {
			return nil, fmt.Errorf("%d values for one place", len(list))
		}
		if several {
			return list[0], nil
		}
	case float64:
		if text, ok := value.(string); ok {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				return n, nil
			}
		}
	}
	return value, nil
}

// resize returns a list with as many elements as value says: those of the list v, and copies of
// its first element if it has too few.
func resize(v, value any) (any, error) {
	if _, remove := value.(absent); remove {
		return []any{}, nil
	}
	n, ok := value.(int)
	if !ok {
		return nil, fmt.Errorf("the length of a list must be a number, not a %T", value)
	}
	list, _ := v.([]any)
	out := make([]any, n)
	for i := range out {
		switch {
		case i < len(list):
			out[i] = list[i]
		case len(list) > 0:
			out[i] = list[0]
		default:
			out[i] = map[string]any{}
		}
	}
	return out, nil
}

// invertTail takes what follows the name of a member in a path. If it begins with a modifier that
// changes the value, invertTail applies the inverse of all modifiers in it, and returns the new
// value and nil. Otherwise it returns the value and the path unchanged.
func invertTail(path []string, value any) (any, []string, error) {
	if len(path) == 0 || !strings.HasPrefix(path[0], "@") || slices.Contains([]string{"@this", "@flatten", "@values", "@keys"}, path[0]) {
		return value, path, nil
	}
	for _, step := range slices.Backward(path) {
		if step == "0" { // the first of the values that a modifier makes
			continue
		}
		if !strings.HasPrefix(step, "@") {
			return nil, nil, fmt.Errorf("%s follows a modifier", step)
		}
		var err error
		if value, err = invert(step, value); err != nil {
			return nil, nil, err
		}
	}
	return value, nil, nil
}

// invert returns a value from which a modifier makes the given one.
func invert(modifier string, value any) (any, error) {
	if _, remove := value.(absent); remove {
		return value, nil
	}
	name, argument, _ := strings.Cut(modifier, ":")
	switch name {
	case "@last", "@trim", "@lower", "@minor", "@withoutUserinfo", "@this":
		return value, nil
	case "@split":
		list, ok := value.([]any)
		if !ok {
			return value, nil
		}
		texts := make([]string, len(list))
		for i, e := range list {
			texts[i] = fmt.Sprint(e)
		}
		return strings.Join(texts, argument), nil
	case "@unixms":
		t, err := time.Parse(time.RFC3339, fmt.Sprint(value))
		return t.UnixMilli(), err
	}
	return nil, fmt.Errorf("the modifier %s has no inverse", modifier)
}

// assignElements replaces a value in the elements of a list. If value is a list, the result has
// one element for each of its values.
func assignElements(v any, rest []string, value any) (any, error) {
	list, _ := v.([]any)
	values, several := value.([]any)
	hasInnerList := slices.ContainsFunc(rest, func(step string) bool { return strings.HasPrefix(step, "#") })
	if !several || hasInnerList { // every element gets the value; if that is a list, it belongs to the inner list
		if _, remove := value.(absent); len(list) == 0 && !remove {
			list = []any{nil}
		}
		out := make([]any, len(list))
		for i := range list {
			var err error
			if out[i], err = assign(list[i], rest, value); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	var pattern any // an element that has such a value, or else the first
	if len(list) > 0 {
		pattern = list[max(0, slices.IndexFunc(list, func(e any) bool { return valueAt(e, rest) != nil }))]
	}
	out := make([]any, len(values))
	for i := range values {
		var err error
		if out[i], err = assign(pattern, rest, values[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// assignMatching replaces a value in the elements that a query such as #(Key=="x") selects,
// and adds an element if there is none. A list of values becomes one element for each.
func assignMatching(v any, step string, rest []string, value any) (any, error) {
	inside, _, _ := strings.Cut(strings.TrimPrefix(step, "#("), ")")
	name, wanted, ok := strings.Cut(inside, "==")
	if !ok || strings.Contains(name, "#") {
		return nil, fmt.Errorf("the query %s has no inverse", step)
	}
	matches, want, err := condition(wanted)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	var pattern any
	others, matching := []any{}, []any{}
	for _, element := range list {
		if matches(valueAt(element, splitPath(name))) {
			pattern = element
			matching = append(matching, element)
		} else {
			others = append(others, element)
		}
	}
	isQuery := len(rest) > 0 && strings.HasPrefix(rest[0], "#(")
	isCount := len(rest) == 1 && rest[0] == "#"
	if isCount && len(matching) == 0 && len(list) > 0 { // resize needs a matching element to copy
		element, err := assign(list[0], splitPath(name), want)
		if err != nil {
			return nil, err
		}
		matching = append(matching, element)
	}
	if strings.HasSuffix(step, ")#") && (isQuery || isCount) { // the rest of the path applies to the list of matching elements
		changed, err := assign(matching, rest, value)
		if err != nil {
			return nil, err
		}
		return append(others, changed.([]any)...), nil
	}
	if pattern == nil {
		if len(list) > 0 {
			pattern = list[0]
		}
		if pattern, err = assign(pattern, splitPath(name), want); err != nil {
			return nil, err
		}
	}
	if _, remove := value.(absent); remove {
		return others, nil
	}
	if len(rest) == 0 { // the path asks only whether there is such an element
		return append(others, pattern), nil
	}
	values, several := value.([]any)
	if !several {
		values = []any{value}
	}
	for _, one := range values {
		changed, err := assign(pattern, rest, one)
		if err != nil {
			return nil, err
		}
		others = append(others, changed)
	}
	return others, nil
}

// condition parses the right side of a condition of a query: "x", true, ~false. It returns a
// function that reports whether a value meets the condition, and an example of such a value.
func condition(wanted string) (matches func(any) bool, example any, err error) {
	switch wanted {
	case "true", "~true":
		return func(v any) bool { return v == true }, true, nil
	case "false":
		return func(v any) bool { return v == false }, false, nil
	case "~false":
		return func(v any) bool { return v == nil || v == false }, false, nil
	case "~null":
		return func(v any) bool { return v == nil }, absent{}, nil
	}
	if strings.HasPrefix(wanted, "~") {
		return nil, nil, fmt.Errorf("the condition %s has no inverse", wanted)
	}
	text := strings.Trim(wanted, `"`)
	return func(v any) bool { return fmt.Sprint(v) == text }, text, nil
}

// assignValues replaces a value in the list of the members of an object.
func assignValues(v any, rest []string, value any) (any, error) {
	object, _ := v.(map[string]any)
	names := slices.Sorted(maps.Keys(object))
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = object[name]
	}
	changed, err := assign(list, rest, value)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for i, member := range changed.([]any) {
		name := strconv.Itoa(i)
		if i < len(names) {
			name = names[i]
		}
		out[name] = member
	}
	return out, nil
}

// assignKeys replaces the names of the members of an object.
func assignKeys(v any, value any) (any, error) {
	if object, isObject := value.(map[string]any); isObject {
		return object, nil
	}
	names, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("names of members must be a list, not a %T", value)
	}
	object, _ := v.(map[string]any)
	var pattern any = map[string]any{}
	for _, member := range object {
		pattern = member
		break
	}
	out := map[string]any{}
	for _, name := range names {
		out[fmt.Sprint(name)] = pattern
	}
	return out, nil
}

// valueAt returns the first value at a path, or nil.
func valueAt(v any, path []string) any {
	for _, step := range path {
		switch at := v.(type) {
		case []any:
			v = elementAt(at, step)
		case map[string]any:
			switch {
			case step == "@values":
				v = slices.Collect(maps.Values(at))
			case strings.HasPrefix(step, "@"): // other modifiers are ignored
			default:
				v = at[step]
			}
		}
	}
	return v
}

// elementAt returns the element of a list that a step of a path leads to; for several
// elements the first, or all of them if the step is a query of many.
func elementAt(list []any, step string) any {
	if inside, ok := strings.CutPrefix(step, "#("); ok {
		inside, rest, _ := strings.Cut(inside, ")")
		name, wanted, _ := strings.Cut(inside, "==")
		matches, _, err := condition(wanted)
		if err != nil {
			return nil
		}
		found := slices.DeleteFunc(slices.Clone(list), func(e any) bool { return !matches(valueAt(e, splitPath(name))) })
		switch {
		case rest == "#":
			return found
		case len(found) > 0:
			return found[0]
		}
		return nil
	}
	i, err := strconv.Atoi(step)
	isIndex := err == nil
	if !isIndex {
		i = 0
	}
	if i >= len(list) {
		return nil
	}
	if !isIndex && step != "#" { // a name: the member of the first element
		return valueAt(list[i], []string{step})
	}
	return list[i]
}
