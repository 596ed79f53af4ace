package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// A generator generates values that a schema allows. It ignores patterns and
// conditions: only a schema's examples, which it uses often, satisfy those.
type generator struct {
	*rand.Rand
}

// chance returns true with a probability of 1/n.
func (g generator) chance(n int) bool { return g.IntN(n) == 0 }

// pickOne returns a random one of several values.
func pickOne[T any](g generator, values ...T) T { return values[g.IntN(len(values))] }

// value generates a value for a schema; depth limits recursive schemas.
func (g generator) value(ref *openapi3.SchemaRef, depth int) any {
	if ref == nil || ref.Value == nil || depth > 8 {
		return g.word()
	}
	s := ref.Value
	if v, ok := g.declaredValue(s); ok {
		return v
	}
	if len(s.AllOf) > 0 {
		own := &openapi3.SchemaRef{Value: &openapi3.Schema{Properties: s.Properties, Required: s.Required}}
		all := map[string]any{}
		for _, part := range append(slices.Clone(s.AllOf), own) {
			if m, ok := g.value(part, depth+1).(map[string]any); ok {
				maps.Copy(all, m)
			}
		}
		return all
	}
	if choices := append(slices.Clone(s.OneOf), s.AnyOf...); len(choices) > 0 {
		return g.value(pickOne(g, choices...), depth+1)
	}
	return g.valueOfType(s, depth)
}

// declaredValue returns an example, default or enumerated value of the schema.
func (g generator) declaredValue(s *openapi3.Schema) (any, bool) {
	switch {
	case s.Const != nil:
		return s.Const, true
	case len(s.Enum) > 0:
		return pickOne(g, s.Enum...), true
	case s.Example != nil && g.chance(2):
		return s.Example, true
	case len(s.Examples) > 0 && g.chance(2):
		return pickOne(g, s.Examples...), true
	case s.Default != nil && g.chance(4):
		return s.Default, true
	}
	return nil, false
}

func (g generator) valueOfType(s *openapi3.Schema, depth int) any {
	kind := "object"
	if types := s.Type.Slice(); len(types) > 0 {
		kind = pickOne(g, types...)
	} else if s.Properties == nil {
		kind = "string"
	}
	switch kind {
	case "null":
		return nil
	case "boolean":
		return g.chance(2)
	case "integer", "number":
		return g.number(s)
	case "array":
		list := []any{}
		for range int(s.MinItems) + g.IntN(3) {
			list = append(list, g.value(s.Items, depth+1))
		}
		return list
	case "object":
		return g.object(s, depth)
	}
	return g.text(s)
}

func (g generator) object(s *openapi3.Schema, depth int) any {
	m := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || g.chance(2) {
			m[name] = g.value(s.Properties[name], depth+1)
		}
	}
	if more := s.AdditionalProperties.Schema; more != nil {
		for range g.IntN(3) {
			m[g.word()] = g.value(more, depth+1)
		}
	}
	return m
}

func (g generator) number(s *openapi3.Schema) any {
	low, high := 0.0, 1000.0
	if s.Min != nil {
		low = *s.Min
		high = low + 1000
	}
	if s.Max != nil {
		high = *s.Max
	}
	n := low + g.Float64()*(high-low)
	switch g.IntN(4) { // the limits are more likely to reveal errors than other numbers
	case 0:
		n = low
	case 1:
		n = high
	}
	return json.Number(fmt.Sprint(int64(n)))
}

func (g generator) text(s *openapi3.Schema) string {
	switch s.Format {
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", g.Uint32(), g.IntN(1<<16), g.IntN(1<<12), g.IntN(1<<12), g.Uint64N(1<<48))
	case "date-time":
		return fmt.Sprintf("20%02d-%02d-%02dT%02d:00:00.000Z", g.IntN(100), 1+g.IntN(12), 1+g.IntN(28), g.IntN(24))
	case "date":
		return fmt.Sprintf("20%02d-%02d-%02d", g.IntN(100), 1+g.IntN(12), 1+g.IntN(28))
	case "email":
		return g.word() + "@example.com"
	case "uri":
		return "https://example.com/" + g.word()
	}
	text := g.word()
	if s.Pattern == "" && g.chance(8) {
		text = pickOne(g, oddTexts...) // unusual, but the schema allows any text
	}
	for uint64(len(text)) < s.MinLength {
		text += g.word()
	}
	if s.MaxLength != nil && uint64(len(text)) > *s.MaxLength {
		text = strings.ToValidUTF8(text[:*s.MaxLength], "")
	}
	return text
}

// word generates a short name.
func (g generator) word() string {
	var b strings.Builder
	for range 1 + g.IntN(12) {
		b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789-"[g.IntN(37)])
	}
	return b.String()
}
