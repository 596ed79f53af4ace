// Package wire encodes the requests of AWS operations and decodes their responses to
// JSON, guided by the models of package model.
//
// The serializers of smithy-go encode requests. XML and JSON responses are decoded in
// one pass, guided by the schema: members get the names of the model, times become RFC
// 3339 in UTC, blobs become base64, and the floats that JSON lacks become the strings
// "NaN", "Infinity" and "-Infinity". Unknown members and null members are omitted. Depth
// and size of a response are limited.
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"vigil/internal/posture/collect/awsapi/model"
)

// Limits of a response.
const (
	MaxSize  = 64 << 20 // bytes
	maxDepth = 200
)

// Errors of responses that exceed a limit or have trailing data.
var (
	ErrDepth    = fmt.Errorf("the response is nested more than %d levels deep", maxDepth)
	ErrSize     = fmt.Errorf("the response is larger than %d MB", MaxSize>>20)
	ErrTrailing = errors.New("there is data after the end of the response")
)

type kind uint8

const (
	kindStructure kind = iota
	kindList
	kindMap
	kindString
	kindBool
	kindInt32
	kindInt64
	kindFloat32
	kindFloat64
	kindTime
	kindBlob
	kindDocument
)

type timeFormat uint8

const (
	dateTime timeFormat = iota
	httpDate
	epochSeconds
)

// A node is a shape in the form that the decoders use.
type node struct {
	kind   kind
	format timeFormat
	union  bool

	fields []*field
	byName map[string]*field // fields of the body by their names on the wire
	attrs  []*field          // attributes of the XML element

	value              *node // list items or map values
	keyName, valueName string
}

// A field is a member of a structure.
type field struct {
	*node
	name      string
	key       []byte // the quoted JSON name with a colon
	wireName  string
	index     int
	flattened bool
	member    *model.Member
}

// find returns the field of an XML element. It ignores case when there is no exact match,
// because services do not always use the case of their models.
func (n *node) find(name []byte) *field {
	if f, ok := n.byName[string(name)]; ok {
		return f
	}
	for _, f := range n.fields {
		if f.member.Location == "" && !f.member.Attribute && bytes.EqualFold([]byte(f.wireName), name) {
			return f
		}
	}
	return nil
}

// A compiler converts the shapes of one service to nodes. Each structure is converted once.
type compiler struct {
	protocol string
	nodes    map[*model.Shape]*node
}

var scalars = map[model.Type]kind{
	model.String: kindString, model.Boolean: kindBool, model.Integer: kindInt32, model.Long: kindInt64, model.Float: kindFloat32,
	model.Double: kindFloat64, model.Timestamp: kindTime, model.Blob: kindBlob, "character": kindString,
}

// node returns the node of the shape that a member refers to.
func (c *compiler) node(m *model.Member) (*node, error) {
	s := m.Shape
	if k, ok := scalars[s.Type]; ok {
		return &node{kind: k, format: c.format(m)}, nil
	}
	return c.shape(s)
}

func (c *compiler) format(m *model.Member) timeFormat {
	format := m.TimestampFormat
	if format == "" {
		format = m.Shape.TimestampFormat
	}
	switch {
	case format == "iso8601":
		return dateTime
	case format == "rfc822":
		return httpDate
	case format == "unixTimestamp":
		return epochSeconds
	case m.Location == "header":
		return httpDate
	case c.protocol == model.JSON || c.protocol == model.RestJSON:
		return epochSeconds
	}
	return dateTime
}

func (c *compiler) shape(s *model.Shape) (*node, error) {
	if n, ok := c.nodes[s]; ok {
		return n, nil
	}
	n := &node{union: s.Union}
	c.nodes[s] = n
	var err error
	switch s.Type {
	case model.Structure:
		if s.Document {
			n.kind = kindDocument
			return n, nil
		}
		return n, c.structure(n, s)
	case model.List:
		n.kind = kindList
		n.value, err = c.node(s.Item)
	case model.Map:
		n.kind = kindMap
		n.keyName, n.valueName = "key", "value"
		if s.Key.LocationName != "" {
			n.keyName = s.Key.LocationName
		}
		if s.Value.LocationName != "" {
			n.valueName = s.Value.LocationName
		}
		n.value, err = c.node(s.Value)
	default:
		err = fmt.Errorf("shape %s is of unknown type %s", s.Name, s.Type)
	}
	return n, err
}

func (c *compiler) structure(n *node, s *model.Shape) error {
	if len(s.Members) > maxMembers {
		return fmt.Errorf("structure %s has %d members, the limit is %d", s.Name, len(s.Members), maxMembers)
	}
	n.kind = kindStructure
	n.byName = make(map[string]*field, len(s.Members))
	for i := range s.Members {
		m := &s.Members[i]
		target, err := c.node(m)
		if err != nil {
			return err
		}
		f := &field{node: target, name: m.Name, key: append(appendString(nil, m.Name), ':'), wireName: m.Name, index: i, member: m}
		f.flattened = (m.Flattened || m.Shape.Flattened) && (target.kind == kindList || target.kind == kindMap)
		// The protocols JSON and CBOR, unlike REST JSON, use the names of the model on the wire.
		if m.LocationName != "" && c.protocol != model.JSON && c.protocol != model.CBOR {
			f.wireName = m.LocationName
		}
		n.fields = append(n.fields, f)
		switch {
		case m.Attribute:
			n.attrs = append(n.attrs, f)
		case m.Location == "":
			// S3 has deprecated shapes in which a list and a scalar have the same name on
			// the wire: the list is used for both.
			if other, ok := n.byName[f.wireName]; !ok || other.kind != kindList {
				n.byName[f.wireName] = f
			}
		}
	}
	// REST JSON responses may have the names of the model in place of those on the wire.
	if c.protocol == model.RestJSON {
		for _, f := range n.fields {
			if _, exists := n.byName[f.name]; !exists && f.member.Location == "" {
				n.byName[f.name] = f
			}
		}
	}
	return nil
}

// A Decoder converts the responses of one operation to JSON. It is safe for concurrent use.
type Decoder struct {
	op      *model.Operation
	output  *node  // nil when there is no output
	payload *field // the member that is the whole body, or nil
	bound   bool   // some members are in headers or the status code
}

var decoders sync.Map // *model.Operation -> func() (*Decoder, error)

// DecoderOf returns the decoder of an operation. It creates it on first use.
func DecoderOf(op *model.Operation) (*Decoder, error) {
	cached, ok := decoders.Load(op)
	if !ok {
		cached, _ = decoders.LoadOrStore(op, sync.OnceValues(func() (*Decoder, error) { return newDecoder(op) }))
	}
	return cached.(func() (*Decoder, error))()
}

func newDecoder(op *model.Operation) (*Decoder, error) {
	d := &Decoder{op: op}
	if op.Output == nil {
		return d, nil
	}
	c := &compiler{protocol: op.Service.Protocol, nodes: map[*model.Shape]*node{}}
	var err error
	if d.output, err = c.shape(op.Output); err != nil {
		return nil, fmt.Errorf("%s %s: %w", op.Service.Name, op.Name, err)
	}
	if c.protocol == model.RestJSON || c.protocol == model.RestXML {
		for _, f := range d.output.fields {
			if f.name == op.Output.Payload {
				d.payload = f
			}
			d.bound = d.bound || f.member.Location != ""
		}
	}
	return d, nil
}
