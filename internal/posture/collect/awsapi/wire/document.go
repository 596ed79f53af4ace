package wire

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	smithydocument "github.com/aws/smithy-go/document"
)

// noErrors is an empty registry, with which smithy-go returns generic errors.
var noErrors = &smithy.TypeRegistry{Entries: map[string]*smithy.TypeRegistryEntry{}}

// A document is a response that a deserializer of smithy-go converts to JSON.
type document struct {
	schema *smithy.Schema
	json   []byte
}

// Deserialize implements [smithy.Deserializable].
func (d *document) Deserialize(from smithy.ShapeDeserializer) (err error) {
	r := &documentReader{from: from}
	d.json, err = r.structure(nil, d.schema)
	return err
}

type documentReader struct {
	from  smithy.ShapeDeserializer
	depth int
}

func (r *documentReader) structure(b []byte, schema *smithy.Schema) ([]byte, error) {
	b = append(b, '{')
	first := true
	read := smithy.ReadStruct
	if schema.Type() == smithy.ShapeTypeUnion {
		read = smithy.ReadUnion
	}
	err := read(r.from, schema, func(m *smithy.Schema) error {
		null, err := r.from.ReadNil(m)
		if err != nil || null {
			return err
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendString(b, m.MemberName()), ':')
		b, err = r.value(b, m)
		return err
	})
	return append(b, '}'), err
}

func (r *documentReader) nullable(b []byte, schema *smithy.Schema) ([]byte, error) {
	if null, err := r.from.ReadNil(schema); err != nil || null {
		return append(b, literalNull...), err
	}
	return r.value(b, schema)
}

func (r *documentReader) value(b []byte, schema *smithy.Schema) ([]byte, error) {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxDepth {
		return b, ErrDepth
	}
	switch schema.Type() {
	case smithy.ShapeTypeStructure, smithy.ShapeTypeUnion:
		return r.structure(b, schema)
	case smithy.ShapeTypeList:
		b = append(b, '[')
		first := true
		err := smithy.ReadList(r.from, schema, func() (err error) {
			if !first {
				b = append(b, ',')
			}
			first = false
			b, err = r.nullable(b, schema.ListMember())
			return err
		})
		return append(b, ']'), err
	case smithy.ShapeTypeMap:
		keys := openKeys(&b)
		err := smithy.ReadMap(r.from, schema, func(key string) (err error) {
			keys.begin(&b, []byte(key))
			b, err = r.nullable(b, schema.MapValue())
			keys.dedupe(&b)
			return err
		})
		keys.close(&b)
		return b, err
	}
	return r.scalar(b, schema)
}

func (r *documentReader) scalar(b []byte, schema *smithy.Schema) ([]byte, error) {
	switch schema.Type() {
	case smithy.ShapeTypeString, smithy.ShapeTypeEnum:
		var v string
		err := r.from.ReadString(schema, &v)
		return appendString(b, v), err
	case smithy.ShapeTypeBoolean:
		var v bool
		err := r.from.ReadBool(schema, &v)
		return strconv.AppendBool(b, v), err
	case smithy.ShapeTypeInteger:
		var v int32
		err := r.from.ReadInt32(schema, &v)
		return strconv.AppendInt(b, int64(v), 10), err
	case smithy.ShapeTypeLong:
		var v int64
		err := r.from.ReadInt64(schema, &v)
		return strconv.AppendInt(b, v, 10), err
	case smithy.ShapeTypeFloat:
		var v float32
		err := r.from.ReadFloat32(schema, &v)
		return formatFloat(b, float64(v), 32), err
	case smithy.ShapeTypeDouble:
		var v float64
		err := r.from.ReadFloat64(schema, &v)
		return formatFloat(b, v, 64), err
	case smithy.ShapeTypeTimestamp:
		var v time.Time
		if err := r.from.ReadTime(schema, &v); err != nil {
			return b, err
		}
		return appendTime(b, v)
	case smithy.ShapeTypeBlob:
		var v []byte
		err := r.from.ReadBlob(schema, &v)
		return appendBlob(b, v), err
	case smithy.ShapeTypeDocument:
		var v smithydocument.Value
		if err := r.from.ReadDocument(schema, &v); err != nil {
			return b, err
		}
		return appendDocument(b, v)
	}
	return b, fmt.Errorf("a value of type %v", schema.Type())
}
