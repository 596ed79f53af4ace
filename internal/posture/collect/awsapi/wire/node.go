// Package wire writes the requests of AWS operations and turns their answers into
// JSON, guided by the models of package model.
//
// Requests are written by the serializers of smithy-go. Answers in XML and JSON
// are decoded by schema in one pass: members get the names of the model, times
// become RFC 3339 in UTC, blobs base64, floats that JSON cannot hold the strings
// "NaN", "Infinity" and "-Infinity". Members that the model does not know and
// those that are null are left out. Depth and size of an answer are limited.
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"vigil/internal/posture/collect/awsapi/model"
)

// Limits of an answer.
const (
	MaxSize  = 64 << 20 // bytes
	maxDepth = 200
)

// Answers that are refused whatever they say.
var (
	ErrDepth    = fmt.Errorf("the answer is nested more than %d levels deep", maxDepth)
	ErrSize     = fmt.Errorf("the answer has more than %d MB", MaxSize>>20)
	ErrTrailing = errors.New("something follows the end of the answer")
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

// A node is a shape as the decoders need it.
type node struct {
	kind   kind
	format timeFormat
	union  bool

	fields []*field
	byName map[string]*field // of the body, by the name on the wire
	attrs  []*field          // attributes of the XML element

	value              *node // of a list or a map
	keyName, valueName string
}

// A field is a member of a structure.
type field struct {
	*node
	name      string
	key       []byte // the name in JSON, with quotes and colon
	wireName  string
	index     int
	flattened bool
	member    *model.Member
}

// find returns the field of an XML element. Services do not always keep to the
// case of their models.
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

// A compiler makes nodes of the shapes of one service. Structures are made once.
type compiler struct {
	protocol string
	nodes    map[*model.Shape]*node
}

var scalars = map[model.Type]kind{
	model.String: kindString, model.Boolean: kindBool, model.Integer: kindInt32, model.Long: kindInt64, model.Float: kindFloat32,
	model.Double: kindFloat64, model.Timestamp: kindTime, model.Blob: kindBlob, "character": kindString,
}

// node returns the node of what a member refers to.
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
		// The members of plain JSON have the names of the model.
		if m.LocationName != "" && c.protocol != model.JSON && c.protocol != model.CBOR {
			f.wireName = m.LocationName
		}
		n.fields = append(n.fields, f)
		switch {
		case m.Attribute:
			n.attrs = append(n.attrs, f)
		case m.Location == "":
			// S3 has deprecated shapes where a list and one of its items have the
			// same name: the list holds both.
			if other, ok := n.byName[f.wireName]; !ok || other.kind != kindList {
				n.byName[f.wireName] = f
			}
		}
	}
	if c.protocol == model.RestJSON {
		for _, f := range n.fields {
			if _, taken := n.byName[f.name]; !taken && f.member.Location == "" {
				n.byName[f.name] = f
			}
		}
	}
	return nil
}

// A Decoder turns the answers of one operation into JSON. It is safe for
// concurrent use.
type Decoder struct {
	op      *model.Operation
	output  *node  // nil when there is none
	payload *field // the member that is the whole body, if there is one
	bound   bool   // some members are in headers
}

var decoders sync.Map // *model.Operation -> func() (*Decoder, error)

// DecoderOf returns the decoder of an operation, made when it is first asked for.
func DecoderOf(op *model.Operation) (*Decoder, error) {
	made, ok := decoders.Load(op)
	if !ok {
		made, _ = decoders.LoadOrStore(op, sync.OnceValues(func() (*Decoder, error) { return newDecoder(op) }))
	}
	return made.(func() (*Decoder, error))()
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
