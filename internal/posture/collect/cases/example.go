package cases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/posture/resource"
)

// Answers returns raw responses from which the reader makes an entity with the given
// properties. The responses are those of the type's first case (see [First]), with the values of
// these properties replaced where the declaration reads them. A property whose value is nil is
// removed. The map edges has, by label, the references to the targets of the entity's edges.
//
// It fails for values that a declaration does not read from one place of a response, such
// as those that functions derive.
func Answers(catalog *resource.Catalog, t *resource.Type, first, properties map[string]any, edges map[string][]any) (map[string]any, error) {
	answers, err := copyOf(first)
	if err != nil {
		return nil, err
	}
	x := &example{catalog: catalog, t: t, answers: answers}
	// Sorted, so that the result is always the same: if properties read the same part of a response, the last one sets it.
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if err := x.set(name, properties[name]); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", name, t.Type, err)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(edges)) {
		if err := x.refer(label, edges[label]); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", label, t.Type, err)
		}
	}
	return x.answers, nil
}

// First returns the responses of a type's first case in which everything is read.
func First(root fs.FS, t *resource.Type) (map[string]any, error) {
	all, err := Read(root, t.File())
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		complete := !slices.ContainsFunc(c.Entities, func(e Entity) bool { return len(e.Unknown) > 0 })
		if c.Get != "" || c.Fails || len(c.Entities) == 0 || !complete {
			continue
		}
		return copyOf(c.Answers)
	}
	return nil, fmt.Errorf("%s has no case in which everything is read", t.Type)
}

// copyOf returns a deep copy of responses with the types that JSON has.
func copyOf(answers map[string]any) (map[string]any, error) {
	text, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = json.Unmarshal(text, &out)
	return out, err
}

// An example is a set of responses that is being changed.
type example struct {
	catalog *resource.Catalog
	t       *resource.Type
	answers map[string]any
}

// A place is where a declaration reads values of an entity: a path into the responses of a
// call.
type place struct {
	call  string
	path  []string
	items bool // if the value at the path is a list, each of its elements is meant
}

// set sets a property, or removes it when the value is nil.
func (x *example) set(name string, value any) error {
	if p := propertyOf(x.t.Properties, name); p != nil {
		return x.setProperty(p, value, x.item)
	}
	for i := range x.t.Calls {
		call := &x.t.Calls[i]
		if p := propertyOf(call.Properties, name); p != nil {
			return x.setProperty(p, value, x.inCall(call))
		}
	}
	return fmt.Errorf("no path of the declaration reads it")
}

// refer sets the targets of the edges of a label.
func (x *example) refer(label string, references []any) error {
	set := func(edges resource.Edges, placeOf func(up int) (place, error)) (bool, error) {
		for _, e := range edges {
			if e.Label != label {
				continue
			}
			if !strings.Contains(e.Ref.String(), "${") && strings.Contains(e.Ref.String(), "$") {
				return true, nil // the target follows from the account
			}
			// References are set like the values of a property with the same path.
			p := &resource.Property{Name: label, Kind: resource.Texts, At: e.Ref, Each: e.Each}
			if len(references) == 1 && e.Each.IsZero() {
				p.Kind = resource.Text
				return true, x.setProperty(p, references[0], placeOf)
			}
			return true, x.setProperty(p, references, placeOf)
		}
		return false, nil
	}
	if found, err := set(x.t.Edges, x.item); found {
		return err
	}
	for i := range x.t.Calls {
		call := &x.t.Calls[i]
		if found, err := set(call.Edges, x.inCall(call)); found {
			return err
		}
	}
	return fmt.Errorf("no path of the declaration reads it")
}

// inCall returns a function that returns the place in which a call reads a path. Its
// parameter up is the number of ^ before the path: 0 leads to the response of the call, 1 to
// the item that the call completes, 2 to the parent of the item.
func (x *example) inCall(call *resource.Call) func(up int) (place, error) {
	return func(up int) (place, error) {
		if up > 0 {
			return x.item(up - 1)
		}
		return callPlace(call)
	}
}

func propertyOf(all resource.Properties, name string) *resource.Property {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// callPlace returns the place of the values of a call.
func callPlace(call *resource.Call) (place, error) {
	if call.Call == "" {
		return place{}, fmt.Errorf("a function derives it")
	}
	at := place{call: call.Call, items: len(call.Find) > 0}
	if !call.At.IsZero() {
		at.path = splitPath(call.At.String())
	}
	return at, nil
}

// item returns the place of the items of the list, or that of their parents if up is 1, and so on.
func (x *example) item(up int) (place, error) {
	stages := x.catalog.Stages(x.t)
	last := len(stages) - 1 - up
	if last < 0 {
		return place{}, fmt.Errorf("it belongs to no item")
	}
	var path []string
	for i := last; i >= 0; i-- {
		s := &stages[i]
		if i == 0 && (s.Function != "" || s.Single) {
			return place{}, fmt.Errorf("a function lists it")
		}
		if len(s.Items) > 0 {
			path = append(splitPath(s.Items[0].String()), path...)
		}
		if s.Call != "" {
			return place{call: s.Call, path: path, items: true}, nil
		}
	}
	return place{}, fmt.Errorf("no call lists it")
}

// setProperty sets a property at the first of its paths that can be changed. If the reader
// also uses values at the other paths, it removes those.
func (x *example) setProperty(p *resource.Property, value any, placeOf func(up int) (place, error)) error {
	if _, list := value.([]any); !list && value == p.Absent && !p.NotEmpty {
		value = nil // the property has this value if the responses have none
	}
	done := value == nil // then the value need not be set anywhere, only removed
	var failed error
	paths, together := alternatives(p.At)
	for _, at := range paths {
		if done && value != nil && p.Kind != resource.Texts && !together {
			break // the reader uses the first path that has a value
		}
		change := func(before any) (any, error) { return rawValue(p, before, value) }
		if done {
			change = func(any) (any, error) { return absent{}, nil }
		}
		to, path, err := x.locate(at, placeOf)
		if err == nil {
			err = x.change(to, path, change)
		}
		if err != nil {
			failed = err
			continue
		}
		done = true
	}
	if !done {
		return failed
	}
	return nil
}

// alternatives returns the paths of expressions, and whether the reader uses their values
// together: [a,b].
func alternatives(all resource.Exprs) (paths []string, together bool) {
	for _, e := range all {
		path := e.String()
		if strings.HasPrefix(path, "[") && strings.HasSuffix(path, "]") && !strings.ContainsAny(path, "(") {
			paths, together = append(paths, strings.Split(path[1:len(path)-1], ",")...), true
		} else {
			paths = append(paths, path)
		}
	}
	return paths, together
}

// locate returns the place of an expression, and the path in it.
func (x *example) locate(expression string, placeOf func(up int) (place, error)) (place, []string, error) {
	path := strings.TrimLeft(expression, "^")
	if strings.Contains(path, "$") {
		return place{}, nil, fmt.Errorf("%s is a template", path)
	}
	// NAME>path; in a query such as #(Port>22), the > is a comparison.
	if name, rest, ok := strings.Cut(path, ">"); ok && !strings.ContainsAny(name, ".#@ ") {
		to, err := x.answerOf(name)
		return to, splitPath(rest), err
	}
	to, err := placeOf(len(expression) - len(path))
	return to, splitPath(path), err
}

// answerOf returns the place of the response of a named call.
func (x *example) answerOf(name string) (place, error) {
	for i := range x.t.Calls {
		if x.t.Calls[i].As == name {
			return callPlace(&x.t.Calls[i])
		}
	}
	return place{}, fmt.Errorf("no call is named %s", name)
}

// change changes the values at a path of all items at a place.
func (x *example) change(to place, path []string, change func(before any) (any, error)) error {
	changeAnswer := func(answer any) (any, error) {
		return to.each(answer, to.path, func(item any) (any, error) {
			value, err := change(valueAt(item, path))
			if err != nil {
				return nil, err
			}
			return assign(item, path, value)
		})
	}
	answer := x.answers[to.call]
	options, several := answer.([]any)
	if !several {
		if _, refused := answer.(string); refused {
			return fmt.Errorf("%s is refused in the case", to.call)
		}
		changed, err := changeAnswer(answer)
		if err == nil {
			x.answers[to.call] = changed
		}
		return err
	}
	for i := range options {
		option, _ := options[i].(map[string]any)
		if _, ok := option["answer"].(map[string]any); !ok {
			continue
		}
		changed, err := changeAnswer(option["answer"])
		if err != nil {
			return err
		}
		option["answer"] = changed
	}
	return nil
}

// each replaces the values at a path of a response. A list on the way stands for all its
// elements, as for the reader.
func (at place) each(v any, path []string, replace func(any) (any, error)) (any, error) {
	if len(path) == 0 {
		list, ok := v.([]any)
		if !ok || !at.items {
			return replace(v)
		}
		return at.elements(list, nil, replace)
	}
	step, rest := path[0], path[1:]
	switch v := v.(type) {
	case []any:
		if index, err := strconv.Atoi(step); err == nil && index < len(v) {
			out := slices.Clone(v)
			out[index], err = at.each(v[index], rest, replace)
			return out, err
		}
		if step == "#" {
			path = rest
		}
		return at.elements(v, path, replace)
	case map[string]any:
		if step == "@values" {
			if len(rest) > 0 && rest[0] == "#" {
				rest = rest[1:]
			}
			out := map[string]any{}
			for name, member := range v {
				var err error
				if out[name], err = at.each(member, rest, replace); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
		out := maps.Clone(v)
		var err error
		out[step], err = at.each(v[step], rest, replace)
		return out, err
	case nil:
		if strings.ContainsAny(step, "@#") {
			return nil, fmt.Errorf("the case has no %s", step)
		}
		member, err := at.each(nil, rest, replace)
		return map[string]any{step: member}, err
	}
	return nil, fmt.Errorf("the response has a %T that cannot have a part %s", v, step)
}

func (at place) elements(list []any, path []string, replace func(any) (any, error)) (any, error) {
	out := make([]any, len(list))
	for i := range list {
		var err error
		if out[i], err = at.each(list[i], path, replace); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rawValue returns a value of a response from which a property gets the given value. The
// value before shows the type that the cloud uses.
func rawValue(p *resource.Property, before, value any) (any, error) {
	switch {
	case p.NotEmpty:
		switch {
		case value != true:
			return absent{}, nil
		case before != nil:
			return before, nil
		}
		return []any{map[string]any{}}, nil
	case len(p.Is) > 0:
		text := "another value"
		switch {
		case value == true:
			text = cmp.Or(strings.Trim(p.Is[0], "*"), "a value")
		case p.Is[0] == "*":
			return absent{}, nil
		}
		switch before.(type) {
		case []any:
			return []any{text}, nil
		case bool:
			return strings.EqualFold(p.Is[0], "true") == (value == true), nil
		}
		return text, nil
	}
	for _, from := range slices.Sorted(maps.Keys(p.Map)) {
		if p.Map[from] == value {
			value = from
			break
		}
	}
	list, several := value.([]any)
	if p.Kind == resource.Texts && !several {
		list = []any{value}
	}
	if p.Kind == resource.Texts {
		return rawList(p, before, list)
	}
	if !p.Each.IsZero() {
		return parseTemplate(p.Each.String(), fmt.Sprint(value))
	}
	text, isText := before.(string)
	switch {
	case isText && p.Kind == resource.Flag:
		if text == strings.ToUpper(text) {
			return strings.ToUpper(fmt.Sprint(value)), nil
		}
		return fmt.Sprint(value), nil
	case isText && p.Kind == resource.Long:
		unit := strings.TrimLeft(text, "-0123456789")
		return fmt.Sprint(value) + unit, nil
	case p.Kind == resource.Date:
		return fmt.Sprint(value) + "T00:00:00Z", nil
	}
	if _, isNumber := before.(float64); isNumber && p.Kind == resource.Text {
		if n, err := strconv.ParseFloat(fmt.Sprint(value), 64); err == nil {
			return n, nil
		}
	}
	return value, nil
}

func rawList(p *resource.Property, before any, list []any) (any, error) {
	if !p.Each.IsZero() {
		out := make([]any, len(list))
		for i := range list {
			var err error
			if out[i], err = parseTemplate(p.Each.String(), fmt.Sprint(list[i])); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if object, ok := before.(map[string]any); ok {
		return assignKeys(object, list)
	}
	return list, nil
}

// variable matches ${path} in a template that regexp.QuoteMeta has quoted.
var variable = regexp.MustCompile(`\\\$\\\{([^}]*)\\\}`)

// parseTemplate returns an object for which a template yields a text: {"a":"1","b":"2"} for
// ${a}/${b} and 1/2.
func parseTemplate(template, text string) (any, error) {
	quoted := regexp.QuoteMeta(template)
	pattern, err := regexp.Compile("^" + variable.ReplaceAllString(quoted, "(.*)") + "$")
	if err != nil {
		return nil, err
	}
	values := pattern.FindStringSubmatch(text)
	if values == nil || strings.Contains(variable.ReplaceAllString(quoted, ""), `\$`) {
		return nil, fmt.Errorf("%q does not follow from the template %s", text, template)
	}
	var object any
	for i, path := range variable.FindAllStringSubmatch(quoted, -1) {
		name := strings.ReplaceAll(path[1], `\`, "")
		if name == "@this" {
			return values[i+1], nil
		}
		if object, err = assign(object, splitPath(name), values[i+1]); err != nil {
			return nil, err
		}
	}
	return object, nil
}
