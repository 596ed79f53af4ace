package suite

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/value"
	"vigil/gremlin/syntax"
)

// cellParser parses cells: values in the notation of scenario files, in which
// elements are identified by their properties.
type cellParser struct{ g *graph.Graph }

// keyValue is prop[key,value]: a property of any element.
type keyValue struct {
	key   string
	value graph.Value
}

// cell parses one cell or parameter.
func (parser cellParser) cell(text string) (graph.Value, error) {
	switch text {
	case "null":
		return graph.Null, nil
	case "true", "false":
		return graph.Bool(text == "true"), nil
	}
	name, inside, suffix, ok := splitCell(text)
	if !ok {
		return graph.String(text), nil
	}
	switch name + suffix {
	case "str":
		return graph.String(inside), nil
	case "m":
		return parser.jsonCell(inside)
	case "l":
		items, err := parser.items(inside)
		return graph.List(items...), err
	case "s":
		items, err := parser.items(inside)
		return graph.Set(distinct(items)...), err
	case "p":
		items, err := parser.items(inside)
		return graph.Opaque(&value.Path{Objects: items}), err
	case "t", "D", "M":
		return graph.Opaque(value.Token(inside)), nil
	case "dt":
		if t, ok := syntax.ParseTime(inside); ok {
			return graph.DateTime(t), nil
		}
		return graph.Null, fmt.Errorf("cell %s is not a date", text)
	case "uuid":
		if u, ok := syntax.ParseUUID(inside); ok {
			return graph.UUID(u), nil
		}
		return graph.Null, fmt.Errorf("cell %s is not a UUID", text)
	}
	if name == "d" {
		return number(inside, suffix)
	}
	return parser.element(name, inside, suffix)
}

// cellNames are the names that may precede a bracket.
var cellNames = map[string]bool{
	"m": true, "l": true, "s": true, "str": true, "vp": true, "prop": true, "p": true, "d": true, "dt": true, "uuid": true, "v": true, "e": true,
	"t": true, "D": true, "M": true,
}

// splitCell splits name[inside]suffix. It returns false for a plain string.
func splitCell(text string) (name, inside, suffix string, ok bool) {
	open, end := strings.IndexByte(text, '['), strings.LastIndexByte(text, ']')
	if open < 0 || end < open {
		return "", "", "", false
	}
	name, inside, suffix = text[:open], text[open+1:end], text[end+1:]
	hasSuffixes := name == "d" || name == "v" || name == "e"
	return name, inside, suffix, cellNames[name] && (suffix == "" || hasSuffixes && suffix[0] == '.')
}

// items parses a list of cells, separated by commas outside brackets.
func (parser cellParser) items(text string) ([]graph.Value, error) {
	var items []graph.Value
	for _, part := range splitOutside(text) {
		v, err := parser.cell(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return items, nil
}

// splitOutside splits a text at the commas that are not within brackets.
func splitOutside(text string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range text {
		switch {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	if start < len(text) {
		parts = append(parts, text[start:])
	}
	return parts
}

// number parses d[text] with its suffix.
func number(text, suffix string) (graph.Value, error) {
	bits := map[string]int{".b": 8, ".s": 16, ".i": 32, ".l": 64}
	switch suffix {
	case ".b", ".s", ".i", ".l":
		n, err := strconv.ParseInt(text, 10, bits[suffix])
		return integer(n, suffix), err
	case ".f":
		f, err := strconv.ParseFloat(text, 32)
		return graph.Float(float32(f)), err
	case ".d", "":
		f, err := strconv.ParseFloat(text, 64)
		return graph.Double(f), err
	case ".n":
		n, ok := new(big.Int).SetString(text, 10)
		if ok {
			return graph.BigInt(n), nil
		}
	case ".m":
		if l, err := decimal(text); err == nil {
			return graph.BigDecimal(l.Coef, l.Scale), nil
		}
	}
	return graph.Null, fmt.Errorf("d[%s]%s is not a number", text, suffix)
}

func integer(n int64, suffix string) graph.Value {
	switch suffix {
	case ".b":
		return graph.Byte(int8(n))
	case ".s":
		return graph.Short(int16(n))
	case ".i":
		return graph.Int(int32(n))
	}
	return graph.Long(n)
}

// decimal parses an exact decimal number with the syntax of the language.
func decimal(text string) (syntax.Decimal, error) {
	q, err := syntax.Parse("g.inject("+text+"m)", syntax.Options{})
	if err != nil {
		return syntax.Decimal{}, err
	}
	l, _ := q.Steps[0].Args[0].(*syntax.Literal)
	d, _ := l.Value.(syntax.Decimal)
	return d, nil
}

// jsonCell parses the inside of m[...]: JSON whose strings are cells.
func (parser cellParser) jsonCell(text string) (graph.Value, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return parser.jsonValue(d)
}

func (parser cellParser) jsonValue(d *json.Decoder) (graph.Value, error) {
	t, err := d.Token()
	if err != nil {
		return graph.Null, fmt.Errorf("read map: %w", err)
	}
	switch t := t.(type) {
	case string:
		return parser.cell(t)
	case bool:
		return graph.Bool(t), nil
	case json.Number:
		if n, err := t.Int64(); err == nil {
			if n >= math.MinInt32 && n <= math.MaxInt32 {
				return graph.Int(int32(n)), nil
			}
			return graph.Long(n), nil
		}
		f, err := t.Float64()
		return graph.Double(f), err
	case json.Delim:
		if t == '[' {
			return parser.jsonList(d)
		}
		return parser.jsonMap(d)
	}
	return graph.Null, nil // the token of JSON's null is nil
}

func (parser cellParser) jsonList(d *json.Decoder) (graph.Value, error) {
	var items []graph.Value
	for d.More() {
		v, err := parser.jsonValue(d)
		if err != nil {
			return graph.Null, err
		}
		items = append(items, v)
	}
	_, err := d.Token()
	return graph.List(items...), err
}

func (parser cellParser) jsonMap(d *json.Decoder) (graph.Value, error) {
	var entries []graph.Entry
	for d.More() {
		k, err := parser.jsonValue(d)
		if err != nil {
			return graph.Null, err
		}
		v, err := parser.jsonValue(d)
		if err != nil {
			return graph.Null, err
		}
		entries = append(entries, graph.Entry{Key: k, Value: v})
	}
	_, err := d.Token()
	return graph.Map(entries...), err
}
