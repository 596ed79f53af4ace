package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/aws/smithy-go"
	smithydocument "github.com/aws/smithy-go/document"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"vigil/internal/posture/collect/awsapi/model"
)

// A reference decodes responses with smithy-go's deserializers. It does what generated SDK code
// does for repeated members: it joins lists, merges maps, and uses the last value of other
// types.
type reference struct {
	operation *smithy.OperationSchema
	protocol  smithyhttp.ClientProtocol
}

func newReference(op *model.Operation) (*reference, error) {
	if op.Output == nil {
		return nil, errors.New("the operation has no output")
	}
	b := &schemaBuilder{service: op.Service, schemas: map[*model.Shape]*smithy.Schema{}}
	output, err := b.shape(op.Output)
	if err != nil {
		return nil, err
	}
	protocol, err := protocolOf(op.Service)
	return &reference{smithy.NewOperationSchema(smithy.NewSchema(shapeID(op.Name), smithy.ShapeTypeOperation, 0), nil, output), protocol}, err
}

// decode returns the value that smithy-go decodes. It converts a panic to an error.
func (r *reference) decode(header http.Header, body []byte) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	out := &referenceOutput{schema: r.operation.Output}
	answer := &smithyhttp.Response{Response: &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}}
	err = r.protocol.DeserializeResponse(context.Background(), r.operation, noErrors, answer, out)
	if out.value == nil {
		out.value = map[string]any{}
	}
	return out.value, err
}

type referenceOutput struct {
	schema *smithy.Schema
	value  any
}

// Deserialize implements [smithy.Deserializable].
func (o *referenceOutput) Deserialize(d smithy.ShapeDeserializer) (err error) {
	o.value, err = readStructure(d, o.schema)
	return err
}

func readStructure(d smithy.ShapeDeserializer, schema *smithy.Schema) (any, error) {
	values := map[string]any{}
	read := smithy.ReadStruct
	if schema.Type() == smithy.ShapeTypeUnion {
		read = smithy.ReadUnion
	}
	err := read(d, schema, func(m *smithy.Schema) error {
		v, err := readValue(d, m)
		if err != nil {
			return err
		}
		name := m.MemberName()
		switch earlier := values[name].(type) {
		case []any:
			if m.Type() == smithy.ShapeTypeList { // a document may have any type
				v = append(earlier, v.([]any)...)
			}
		case map[string]any:
			if m.Type() == smithy.ShapeTypeMap {
				for k, e := range v.(map[string]any) {
					earlier[k] = e
				}
				v = earlier
			}
		}
		values[name] = v
		return nil
	})
	return values, err
}

func readNullable(d smithy.ShapeDeserializer, schema *smithy.Schema) (any, error) {
	if null, err := d.ReadNil(schema); null || err != nil {
		return nil, err
	}
	return readValue(d, schema)
}

func readValue(d smithy.ShapeDeserializer, schema *smithy.Schema) (any, error) {
	switch schema.Type() {
	case smithy.ShapeTypeStructure, smithy.ShapeTypeUnion:
		return readStructure(d, schema)
	case smithy.ShapeTypeList:
		list := []any{}
		err := smithy.ReadList(d, schema, func() error {
			v, err := readNullable(d, schema.ListMember())
			list = append(list, v)
			return err
		})
		return list, err
	case smithy.ShapeTypeMap:
		values := map[string]any{}
		err := smithy.ReadMap(d, schema, func(key string) error {
			v, err := readNullable(d, schema.MapValue())
			values[valid(key)] = v
			return err
		})
		return values, err
	}
	return readScalar(d, schema)
}

// valid replaces invalid UTF-8, as in our output.
func valid(text string) string { return string(validUTF8([]byte(text))) }

func readScalar(d smithy.ShapeDeserializer, schema *smithy.Schema) (any, error) {
	number := func(b []byte) any {
		if b[0] == '"' { // formatFloat quotes NaN and infinities
			return string(b[1 : len(b)-1])
		}
		return json.Number(b)
	}
	switch schema.Type() {
	case smithy.ShapeTypeString:
		var v string
		err := d.ReadString(schema, &v)
		return valid(v), err
	case smithy.ShapeTypeBoolean:
		var v bool
		err := d.ReadBool(schema, &v)
		return v, err
	case smithy.ShapeTypeInteger:
		var v int32
		err := d.ReadInt32(schema, &v)
		return json.Number(fmt.Sprint(v)), err
	case smithy.ShapeTypeLong:
		var v int64
		err := d.ReadInt64(schema, &v)
		return json.Number(fmt.Sprint(v)), err
	case smithy.ShapeTypeFloat:
		var v float32
		err := d.ReadFloat32(schema, &v)
		return number(formatFloat(nil, float64(v), 32)), err
	case smithy.ShapeTypeDouble:
		var v float64
		err := d.ReadFloat64(schema, &v)
		return number(formatFloat(nil, v, 64)), err
	case smithy.ShapeTypeTimestamp:
		var v time.Time
		err := d.ReadTime(schema, &v)
		return v.UTC().Format(time.RFC3339Nano), err
	case smithy.ShapeTypeBlob:
		var v []byte
		err := d.ReadBlob(schema, &v)
		return base64.StdEncoding.EncodeToString(v), err
	case smithy.ShapeTypeDocument:
		var v smithydocument.Value
		if err := d.ReadDocument(schema, &v); err != nil {
			return nil, err
		}
		text, err := appendDocument(nil, v)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		var value any
		err = decoder.Decode(&value)
		return value, err
	}
	return nil, fmt.Errorf("a value of type %v", schema.Type())
}

// refusals are errors that we return on purpose for input that smithy-go accepts.
var refusals = []error{errDirective, errName, errEntry, errYear, ErrDepth, ErrSize, ErrTrailing}

// overflown matches numbers that smithy-go 1.28.7 decodes as the smallest 64-bit integer: it ignores
// the digits that follow.
var overflown = regexp.MustCompile(`-9223372036854775808[0-9]`)

// compare describes the difference between our result and smithy-go's, "" if there is none. We
// may reject malformed input that smithy-go accepts: it ignores data after the result and
// continues after some errors in lists.
func compare(d *Decoder, r *reference, body []byte) string {
	got, err := d.Decode(http.StatusOK, http.Header{}, body)
	want, wantErr := r.decode(http.Header{}, body)
	if err != nil {
		if wantErr != nil || isMalformed(d.op.Service.Protocol, body) {
			return ""
		}
		for _, refusal := range refusals {
			if errors.Is(err, refusal) {
				return ""
			}
		}
		if overflown.Match(body) {
			return ""
		}
		return fmt.Sprintf("we reject it: %v", err)
	}
	if wantErr != nil {
		return fmt.Sprintf("smithy-go rejects it: %v; we read %s", wantErr, got)
	}
	decoder := json.NewDecoder(bytes.NewReader(got))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return fmt.Sprintf("our output is not JSON: %v: %s", err, got)
	}
	if !json.Valid(got) {
		return fmt.Sprintf("our output is not JSON: %s", got)
	}
	if !equalExceptFarTimes(want, v) {
		text, _ := json.Marshal(want)
		return fmt.Sprintf("smithy-go reads %s, we read %s", text, got)
	}
	return ""
}

// equalExceptFarTimes compares values, except for our times before 1678 or after 2261, which
// smithy-go cannot decode: it counts nanoseconds in 64 bits.
func equalExceptFarTimes(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, ok := b[k]
			if !ok || !equalExceptFarTimes(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equalExceptFarTimes(a[i], b[i]) {
				return false
			}
		}
		return true
	case string:
		if b, ok := b.(string); ok && a != b {
			t, err := time.Parse(time.RFC3339Nano, b)
			return err == nil && (t.Year() > 2261 || t.Year() < 1678)
		}
	}
	return equal(a, b)
}

// isMalformed reports whether the parser of the standard library rejects a body.
func isMalformed(protocol string, body []byte) bool {
	if protocol == model.JSON || protocol == model.RestJSON {
		return !json.Valid(body)
	}
	d := xml.NewDecoder(bytes.NewReader(body))
	for {
		if _, err := d.Token(); err != nil {
			return !errors.Is(err, io.EOF)
		}
	}
}
