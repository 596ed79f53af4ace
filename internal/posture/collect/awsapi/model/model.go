// Package model describes the read operations of every AWS service: their inputs and
// outputs, their pagination and their endpoints.
//
// The models are those that AWS publishes with botocore. They are embedded compressed;
// a service is decompressed on first use.
package model

import "fmt"

// Type is the type of a shape.
type Type string

// The types of shapes.
const (
	Structure Type = "structure"
	List      Type = "list"
	Map       Type = "map"
	String    Type = "string"
	Boolean   Type = "boolean"
	Integer   Type = "integer"
	Long      Type = "long"
	Float     Type = "float"
	Double    Type = "double"
	Timestamp Type = "timestamp"
	Blob      Type = "blob"
)

// The protocols that services speak.
const (
	JSON     = "json"
	RestJSON = "rest-json"
	Query    = "query"
	EC2      = "ec2"
	RestXML  = "rest-xml"
	CBOR     = "smithy-rpc-v2-cbor"
)

// A Service describes the read operations of one AWS service. It and everything that it
// refers to are immutable.
type Service struct {
	Name            string // as the AWS command line spells it: "elbv2"
	ID              string `json:"id"` // "Elastic Load Balancing v2"
	Version         string `json:"version"`
	Protocol        string `json:"protocol"`
	JSONVersion     string `json:"jsonVersion"`
	Target          string `json:"target"` // prefix of the operation in X-Amz-Target
	Namespace       string `json:"namespace"`
	EndpointPrefix  string `json:"prefix"`
	SigningName     string `json:"signing"`
	QueryCompatible bool   `json:"queryCompatible"` // uses the error codes of the query protocol

	Operations map[string]*Operation `json:"operations"`
	Endpoints  Endpoints             `json:"endpoints"`
	Shapes     []*Shape              `json:"shapes"`
}

// An Operation is one call.
type Operation struct {
	Name      string
	Service   *Service
	Method    string     `json:"m"`
	URI       string     `json:"u"`
	Host      string     `json:"host"`      // prefix of the host name; may name members in braces
	Root      string     `json:"root"`      // root element of an XML input
	Namespace string     `json:"ns"`        // namespace of that element
	Unsigned  bool       `json:"unsigned"`  // needs no signature
	Checksum  bool       `json:"checksum"`  // a body needs a Content-MD5 header
	Page      *Page      `json:"page"`      // nil when it is not paginated
	Own       *Endpoints `json:"endpoints"` // nil when it has the endpoints of the service
	InputID   *int       `json:"i"`
	OutputID  *int       `json:"o"`
	Input     *Shape     `json:"-"` // nil when it has no input
	Output    *Shape     `json:"-"` // nil when it has no output
}

// A Page describes the pagination of an operation. Tokens are JMESPath expressions of botocore:
// names, dots, [-1] and ||.
type Page struct {
	Input  []string `json:"in"`    // input members for the tokens
	Output []string `json:"out"`   // expressions of the next tokens in the output
	More   string   `json:"more"`  // expression that tells whether there are more pages; may be empty
	Limit  string   `json:"limit"` // input member for the page size; may be empty
}

// A Shape is the type of a value.
type Shape struct {
	Name            string   `json:"n"`
	Type            Type     `json:"t"`
	Enum            []string `json:"e"`
	Members         []Member `json:"m"` // structure members
	Item            *Member  `json:"i"` // list items
	Key             *Member  `json:"k"` // map keys
	Value           *Member  `json:"v"`
	Payload         string   `json:"p"` // member that is sent as the whole body
	TimestampFormat string   `json:"ts"`
	Union           bool     `json:"u"` // a structure with exactly one member set
	Document        bool     `json:"d"` // arbitrary JSON
	Flattened       bool     `json:"f"`
	Streaming       bool     `json:"b"`
	Sensitive       bool     `json:"x"`
}

// A Member is a reference from one shape to another.
type Member struct {
	Name            string `json:"n"`
	ShapeID         int    `json:"s"`
	Shape           *Shape `json:"-"`
	Required        bool   `json:"r"`
	LocationName    string `json:"l"`  // its name on the wire, if that differs
	Location        string `json:"at"` // header, headers, querystring, uri or statusCode; empty for the body
	QueryName       string `json:"q"`  // overrides the name in requests of the EC2 protocol
	TimestampFormat string `json:"ts"`
	Flattened       bool   `json:"f"`
	Attribute       bool   `json:"a"`   // an attribute of the XML element
	JSONValue       bool   `json:"j"`   // JSON in base64, in a header
	Token           bool   `json:"tok"` // an idempotency token, which clients generate
}

// Member returns the member of the given name, or nil.
func (s *Shape) Member(name string) *Member {
	for i := range s.Members {
		if s.Members[i].Name == name {
			return &s.Members[i]
		}
	}
	return nil
}

// WireName returns what the member is called on the wire.
func (m *Member) WireName() string {
	if m.LocationName != "" {
		return m.LocationName
	}
	return m.Name
}

// link replaces the shape numbers of a service by the shapes.
func (s *Service) link(name string) error {
	s.Name = name
	shape := func(i int) (*Shape, error) {
		if i < 0 || i >= len(s.Shapes) {
			return nil, fmt.Errorf("the model of %s has no shape %d", name, i)
		}
		return s.Shapes[i], nil
	}
	var err error
	for _, sh := range s.Shapes {
		for i := range sh.Members {
			if sh.Members[i].Shape, err = shape(sh.Members[i].ShapeID); err != nil {
				return err
			}
		}
		for _, m := range []*Member{sh.Item, sh.Key, sh.Value} {
			if m == nil {
				continue
			}
			if m.Shape, err = shape(m.ShapeID); err != nil {
				return err
			}
		}
	}
	for name, op := range s.Operations {
		op.Name, op.Service = name, s
		if op.InputID != nil {
			if op.Input, err = shape(*op.InputID); err != nil {
				return err
			}
		}
		if op.OutputID != nil {
			if op.Output, err = shape(*op.OutputID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Paging returns the pagination of an operation, or nil when it is not paginated. When AWS
// does not publish it, it is inferred from input and output members whose names are those
// of tokens.
func (op *Operation) Paging() *Page {
	if op.Page != nil || op.Input == nil || op.Output == nil {
		return op.Page
	}
	for _, pair := range tokenNames {
		in, out := op.Input.Member(pair[0]), op.Output.Member(pair[1])
		if in != nil && out != nil && in.Shape.Type == String && out.Shape.Type == String {
			return &Page{Input: pair[:1], Output: pair[1:]}
		}
	}
	return nil
}

// tokenNames are the names of members that carry page tokens, in inputs and outputs.
var tokenNames = [][]string{
	{"NextToken", "NextToken"}, {"nextToken", "nextToken"}, {"NextMarker", "NextMarker"}, {"Marker", "NextMarker"}, {"Marker", "Marker"},
	{"marker", "marker"}, {"nextPageToken", "nextPageToken"}, {"pageToken", "nextPageToken"}, {"PageToken", "NextPageToken"},
	{"position", "position"}, {"ContinuationToken", "ContinuationToken"},
}
