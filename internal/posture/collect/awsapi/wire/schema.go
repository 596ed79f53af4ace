package wire

import (
	"fmt"
	"strings"
	"sync"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
	"github.com/aws/smithy-go/transport/http/protocol/awsquery"
	"github.com/aws/smithy-go/transport/http/protocol/ec2query"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"
	"github.com/aws/smithy-go/transport/http/protocol/restxml"
	"github.com/aws/smithy-go/transport/http/protocol/rpcv2"

	"vigil/internal/posture/collect/awsapi/model"
)

// A schema is an operation in the form that smithy-go needs to encode requests and to decode
// CBOR responses.
type schema struct {
	operation *smithy.OperationSchema
	protocol  smithyhttp.ClientProtocol
}

var schemas sync.Map // *model.Operation -> func() (*schema, error)

func schemaOf(op *model.Operation) (*schema, error) {
	build, ok := schemas.Load(op)
	if !ok {
		build, _ = schemas.LoadOrStore(op, sync.OnceValues(func() (*schema, error) { return newSchema(op) }))
	}
	return build.(func() (*schema, error))()
}

func newSchema(op *model.Operation) (*schema, error) {
	s := op.Service
	b := &schemaBuilder{service: s, schemas: map[*model.Shape]*smithy.Schema{}}
	var input, output *smithy.Schema
	var err error
	if op.Input != nil {
		if input, err = b.root(op); err != nil {
			return nil, err
		}
	}
	// Only CBOR responses need the output schema.
	if op.Output != nil && s.Protocol == model.CBOR {
		if output, err = b.shape(op.Output); err != nil {
			return nil, err
		}
	}
	protocol, err := protocolOf(s)
	return &schema{
		operation: smithy.NewOperationSchema(smithy.NewSchema(shapeID(op.Name), smithy.ShapeTypeOperation, 0,
			&traits.HTTP{Method: op.Method, URI: uriWithMemberNames(op), Code: 200}), input, output),
		protocol: protocol,
	}, err
}

// uriWithMemberNames returns the URI of an operation. In the models the braces contain
// names on the wire; smithy-go needs member names. A value in {name+} may contain slashes.
func uriWithMemberNames(op *model.Operation) string {
	uri := op.URI
	if op.Input == nil {
		return uri
	}
	for i := range op.Input.Members {
		if m := &op.Input.Members[i]; m.Location == "uri" && m.LocationName != "" && m.LocationName != m.Name {
			uri = strings.NewReplacer("{"+m.LocationName+"}", "{"+m.Name+"}", "{"+m.LocationName+"+}", "{"+m.Name+"+}").Replace(uri)
		}
	}
	return uri
}

func shapeID(name string) smithy.ShapeID { return smithy.ShapeID{Namespace: "aws", Name: name} }

func protocolOf(s *model.Service) (smithyhttp.ClientProtocol, error) {
	name := s.Target
	if name == "" {
		name = s.ID
	}
	var ts []smithy.Trait
	if s.Namespace != "" {
		ts = append(ts, &traits.XMLNamespace{URI: s.Namespace})
	}
	if s.QueryCompatible {
		ts = append(ts, &traits.AWSQueryCompatible{})
	}
	service := smithy.NewServiceSchema(smithy.NewSchema(shapeID(name), smithy.ShapeTypeService, 0, ts...), s.Version)
	switch {
	case s.Protocol == model.EC2:
		return ec2query.New(service), nil
	case s.Protocol == model.Query:
		return awsquery.New(service), nil
	case s.Protocol == model.JSON && s.JSONVersion == "1.0":
		return awsjson.New10(service), nil
	case s.Protocol == model.JSON:
		return awsjson.New11(service), nil
	case s.Protocol == model.RestJSON:
		return restjson1.New(service), nil
	case s.Protocol == model.RestXML:
		return restxml.New(service), nil
	case s.Protocol == model.CBOR:
		return rpcv2.NewCBOR(service), nil
	}
	return nil, fmt.Errorf("%s has the unknown protocol %s", s.Name, s.Protocol)
}

// A schemaBuilder converts shapes to schemas, each once.
type schemaBuilder struct {
	service *model.Service
	schemas map[*model.Shape]*smithy.Schema
}

var shapeTypes = map[model.Type]smithy.ShapeType{
	model.Structure: smithy.ShapeTypeStructure, model.List: smithy.ShapeTypeList, model.Map: smithy.ShapeTypeMap,
	model.String: smithy.ShapeTypeString, "character": smithy.ShapeTypeString, model.Boolean: smithy.ShapeTypeBoolean,
	model.Integer: smithy.ShapeTypeInteger, model.Long: smithy.ShapeTypeLong, model.Float: smithy.ShapeTypeFloat,
	model.Double: smithy.ShapeTypeDouble, model.Timestamp: smithy.ShapeTypeTimestamp, model.Blob: smithy.ShapeTypeBlob,
}

// root returns the schema of an input. In XML its element may have another name than
// the shape.
func (b *schemaBuilder) root(op *model.Operation) (*smithy.Schema, error) {
	s := op.Input
	schema, err := b.shape(s)
	if err != nil || op.Root == "" && op.Namespace == "" {
		return schema, err
	}
	name := s.Name
	if op.Root != "" {
		name = op.Root
	}
	var ts []smithy.Trait
	if op.Namespace != "" {
		ts = append(ts, &traits.XMLNamespace{URI: op.Namespace})
	}
	renamed := smithy.NewSchema(shapeID(name), schema.Type(), len(s.Members), ts...)
	return renamed, b.members(renamed, s)
}

func (b *schemaBuilder) shape(s *model.Shape) (*smithy.Schema, error) {
	if schema, ok := b.schemas[s]; ok {
		return schema, nil
	}
	typ, ok := shapeTypes[s.Type]
	if !ok {
		return nil, fmt.Errorf("shape %s is of unknown type %s", s.Name, s.Type)
	}
	switch {
	case s.Document:
		typ = smithy.ShapeTypeDocument
	case s.Union:
		typ = smithy.ShapeTypeUnion
	}
	var ts []smithy.Trait
	if f := s.TimestampFormat; f != "" {
		ts = append(ts, &traits.TimestampFormat{Format: timestampFormats[f]})
	}
	schema := smithy.NewSchema(shapeID(s.Name), typ, len(s.Members), ts...)
	b.schemas[s] = schema
	if s.Document {
		return schema, nil
	}
	return schema, b.members(schema, s)
}

var timestampFormats = map[string]string{"iso8601": "date-time", "rfc822": "http-date", "unixTimestamp": "epoch-seconds"}

func (b *schemaBuilder) members(to *smithy.Schema, s *model.Shape) error {
	for i := range s.Members {
		m := &s.Members[i]
		target, err := b.shape(m.Shape)
		if err != nil {
			return err
		}
		to.AddMember(m.Name, target, b.traits(s, m)...)
	}
	for name, m := range map[string]*model.Member{"member": s.Item, "key": s.Key, "value": s.Value} {
		if m == nil {
			continue
		}
		target, err := b.shape(m.Shape)
		if err != nil {
			return err
		}
		var ts []smithy.Trait
		if m.LocationName != "" {
			ts = append(ts, &traits.XMLName{Name: m.LocationName})
		}
		to.AddMember(name, target, ts...)
	}
	return nil
}

func (b *schemaBuilder) traits(in *model.Shape, m *model.Member) (ts []smithy.Trait) {
	if f := m.TimestampFormat; f != "" {
		ts = append(ts, &traits.TimestampFormat{Format: timestampFormats[f]})
	}
	if m.JSONValue {
		ts = append(ts, &traits.MediaType{Type: "application/json"})
	}
	switch m.Location {
	case "header":
		return append(ts, &traits.HTTPHeader{Name: m.LocationName})
	case "headers":
		return append(ts, &traits.HTTPPrefixHeaders{Prefix: m.LocationName})
	case "querystring":
		if m.Shape.Type == model.Map {
			return append(ts, &traits.HTTPQueryParams{})
		}
		return append(ts, &traits.HTTPQuery{Name: m.WireName()})
	case "uri":
		return append(ts, &traits.HTTPLabel{})
	case "statusCode":
		return append(ts, &traits.HTTPResponseCode{})
	}
	if in.Payload == m.Name {
		ts = append(ts, &traits.HTTPPayload{})
	}
	if m.QueryName != "" {
		ts = append(ts, &traits.EC2QueryName{Name: m.QueryName})
	}
	if m.LocationName != "" {
		ts = append(ts, &traits.XMLName{Name: m.LocationName})
		if b.service.Protocol == model.RestJSON {
			ts = append(ts, &traits.JSONName{Name: m.LocationName})
		}
	}
	if m.Flattened || m.Shape.Flattened {
		ts = append(ts, &traits.XMLFlattened{})
	}
	if m.Attribute {
		ts = append(ts, &traits.XMLAttribute{})
	}
	return ts
}
