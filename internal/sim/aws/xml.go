package aws

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"time"

	"vigil/internal/sim/world"
)

// writeXML encodes the fields of an object as elements. Lists without their own
// element name use item.
func writeXML(b *bytes.Buffer, o world.Object, item string) {
	for _, f := range o {
		writeElement(b, f.Name, f.Value, item)
	}
}

func writeElement(b *bytes.Buffer, name string, v any, item string) {
	switch v := v.(type) {
	case nil:
		return
	case []any:
		writeList(b, name, world.List{Item: item, Of: v}, item)
		return
	case world.List:
		v.Item = cmp.Or(v.Item, item)
		writeList(b, name, v, item)
		return
	case element:
		b.WriteString("<" + name + v.attributes + ">")
		writeXML(b, v.Object, item)
	case world.Object:
		b.WriteString("<" + name + ">")
		writeXML(b, v, item)
	default:
		b.WriteString("<" + name + ">")
		_ = xml.EscapeText(b, []byte(scalar(v)))
	}
	b.WriteString("</" + name + ">")
}

func writeList(b *bytes.Buffer, name string, l world.List, item string) {
	if l.Flat {
		for _, v := range l.Of {
			writeElement(b, name, v, item)
		}
		return
	}
	b.WriteString("<" + name + ">")
	for _, v := range l.Of {
		writeElement(b, l.Item, v, item)
	}
	b.WriteString("</" + name + ">")
}

// An element is an object with attributes.
type element struct {
	world.Object
	attributes string
}

// scalar encodes a value for the XML protocols.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05Z")
	}
	return fmt.Sprint(v)
}

// listOf returns a list with its own element name.
func listOf(item string, items []any) world.List { return world.List{Item: item, Of: items} }

// flatList returns a list whose elements have no parent element.
func flatList(items []any) world.List { return world.List{Flat: true, Of: items} }
