package wire

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	smithydocument "github.com/aws/smithy-go/document"
	"github.com/aws/smithy-go/middleware"
	smithyrand "github.com/aws/smithy-go/rand"
	smithytime "github.com/aws/smithy-go/time"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"vigil/internal/posture/collect/awsapi/model"
)

// An InputError says what is wrong with the input of an operation.
type InputError struct {
	Path string // path of the member: "Filters[0].Name"
	Err  error
}

func (e *InputError) Error() string { return fmt.Sprintf("input member %s: %v", e.Path, e.Err) }
func (e *InputError) Unwrap() error { return e.Err }

func bad(path, format string, args ...any) error {
	return &InputError{Path: path, Err: fmt.Errorf(format, args...)}
}

// CheckInput checks an input of an operation: every member must be in the model and have its
// type, and no required member may be missing, except a token, which Encode generates.
func CheckInput(op *model.Operation, input map[string]any) error {
	if op.Input == nil {
		for name := range input {
			return bad(name, "%s takes no input", op.Name)
		}
		return nil
	}
	return checkStructure(op.Input, input, "")
}

func checkStructure(s *model.Shape, values map[string]any, path string) error {
	for name, v := range values {
		m := s.Member(name)
		if m == nil {
			return bad(path+name, "there is no such member in the model")
		}
		if v == nil {
			continue
		}
		if err := check(m.Shape, v, path+name); err != nil {
			return err
		}
		if m.Location == "uri" && v == "" {
			return bad(path+name, "is a part of the URL and must not be empty")
		}
	}
	for i := range s.Members {
		if m := &s.Members[i]; m.Required && !m.Token && values[m.Name] == nil {
			return bad(path+m.Name, "is required")
		}
	}
	return nil
}

func check(s *model.Shape, v any, path string) error {
	ok := true
	switch s.Type {
	case model.Structure:
		if s.Document {
			return nil
		}
		values, isMap := v.(map[string]any)
		if !isMap {
			return bad(path, "must be an object")
		}
		return checkStructure(s, values, path+".")
	case model.List:
		list, isList := v.([]any)
		if !isList {
			return bad(path, "must be an array")
		}
		for i, e := range list {
			if err := check(s.Item.Shape, e, path+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
		return nil
	case model.Map:
		values, isMap := v.(map[string]any)
		if !isMap {
			return bad(path, "must be an object")
		}
		for k, e := range values {
			if err := check(s.Value.Shape, e, path+"."+k); err != nil {
				return err
			}
		}
		return nil
	case model.Boolean:
		_, ok = v.(bool)
	case model.Integer:
		n, isInteger := wholeNumber(v)
		ok = isInteger && n >= math.MinInt32 && n <= math.MaxInt32
	case model.Long:
		_, ok = wholeNumber(v)
	case model.Float, model.Double:
		_, ok = number(v)
	case model.Timestamp:
		_, ok = timeOf(v)
	case model.Blob:
		text, isText := v.(string)
		_, err := base64.StdEncoding.DecodeString(text)
		ok = isText && err == nil
	default:
		_, ok = v.(string)
	}
	if !ok {
		return bad(path, "must be a %s, not %T", s.Type, v)
	}
	return nil
}

func wholeNumber(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	}
	return 0, false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	n, ok := wholeNumber(v)
	return float64(n), ok
}

// timeOf parses a time: RFC 3339 or seconds since 1970.
func timeOf(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		t, err := smithytime.ParseDateTime(v)
		return t, err == nil
	}
	f, ok := number(v)
	return smithytime.ParseEpochSeconds(f), ok
}

// A Request is the unsigned request of an operation, without its host.
type Request struct {
	Method string
	URL    url.URL // path and query
	Header http.Header
	Body   []byte
}

// Encode encodes the request of an operation.
func Encode(ctx context.Context, op *model.Operation, input map[string]any) (*Request, error) {
	if err := CheckInput(op, input); err != nil {
		return nil, err
	}
	s, err := schemaOf(op)
	if err != nil {
		return nil, err
	}
	r := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	ctx = middleware.WithOperationName(ctx, op.Name)
	if err := s.protocol.SerializeRequest(ctx, s.operation, serializable{s.operation.Input, op.Input, input}, r); err != nil {
		return nil, fmt.Errorf("encode the request of %s %s: %w", op.Service.Name, op.Name, err)
	}
	request := &Request{Method: r.Method, URL: *r.URL, Header: r.Header}
	if stream := r.GetStream(); stream != nil {
		if request.Body, err = io.ReadAll(stream); err != nil {
			return nil, err
		}
	}
	return request, nil
}

// serializable is an input for smithy's serializers.
type serializable struct {
	schema *smithy.Schema
	shape  *model.Shape
	values map[string]any
}

// Serialize implements [smithy.Serializable].
func (in serializable) Serialize(s smithy.ShapeSerializer) {
	s.WriteStruct(in.schema)
	writeMembers(s, in.schema, in.shape, in.values)
	s.CloseStruct()
}

// SerializeMembers writes the members without the enclosing structure.
func (in serializable) SerializeMembers(s smithy.ShapeSerializer) {
	writeMembers(s, in.schema, in.shape, in.values)
}

// writeMembers writes members in the order of the model, so that equal inputs yield equal
// requests, except for the tokens that it generates where the input has none.
func writeMembers(s smithy.ShapeSerializer, schema *smithy.Schema, shape *model.Shape, values map[string]any) {
	for i := range shape.Members {
		m := &shape.Members[i]
		v := values[m.Name]
		if v == nil && m.Token {
			if token, err := smithyrand.NewUUID(smithyrand.Reader).GetUUID(); err == nil {
				v = token
			}
		}
		if v != nil {
			write(s, schema.Member(m.Name), m.Shape, v)
		}
	}
}

func write(s smithy.ShapeSerializer, schema *smithy.Schema, shape *model.Shape, v any) {
	switch shape.Type {
	case model.Structure:
		if shape.Document {
			s.WriteDocument(schema, smithydocument.Opaque{Value: v})
			return
		}
		values := v.(map[string]any)
		if shape.Union {
			writeUnion(s, schema, shape, values)
			return
		}
		s.WriteStruct(schema)
		writeMembers(s, schema, shape, values)
		s.CloseStruct()
	case model.List:
		s.WriteList(schema)
		for _, e := range v.([]any) {
			write(s, schema.ListMember(), shape.Item.Shape, e)
		}
		s.CloseList()
	case model.Map:
		values := v.(map[string]any)
		s.WriteMap(schema)
		for _, k := range sortedKeys(values) {
			s.WriteKey(schema.MapKey(), k)
			write(s, schema.MapValue(), shape.Value.Shape, values[k])
		}
		s.CloseMap()
	default:
		writeScalar(s, schema, shape, v)
	}
}

func writeUnion(s smithy.ShapeSerializer, schema *smithy.Schema, shape *model.Shape, values map[string]any) {
	for i := range shape.Members {
		m := &shape.Members[i]
		if v := values[m.Name]; v != nil {
			s.WriteUnion(schema, schema.Member(m.Name))
			write(s, schema.Member(m.Name), m.Shape, v)
			s.CloseUnion()
			return
		}
	}
}

func writeScalar(s smithy.ShapeSerializer, schema *smithy.Schema, shape *model.Shape, v any) {
	switch shape.Type {
	case model.Boolean:
		s.WriteBool(schema, v.(bool))
	case model.Integer:
		n, _ := wholeNumber(v)
		s.WriteInt32(schema, int32(n))
	case model.Long:
		n, _ := wholeNumber(v)
		s.WriteInt64(schema, n)
	case model.Float:
		f, _ := number(v)
		s.WriteFloat32(schema, float32(f))
	case model.Double:
		f, _ := number(v)
		s.WriteFloat64(schema, f)
	case model.Timestamp:
		t, _ := timeOf(v)
		s.WriteTime(schema, t)
	case model.Blob:
		raw, _ := base64.StdEncoding.DecodeString(v.(string))
		s.WriteBlob(schema, raw)
	default:
		s.WriteString(schema, v.(string))
	}
}

func sortedKeys(values map[string]any) []string {
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
