// Package model tells what can be read from AWS: every service's read operations,
// what they take and return, how they are paged and where they are answered.
//
// The facts are those that AWS publishes with botocore. They are embedded
// compressed; a service is opened when it is first asked for.
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

// A Service is what can be read of one AWS service. It and everything it leads
// to must not be changed.
type Service struct {
	Name            string // as the command line of AWS calls it: "elbv2"
	ID              string `json:"id"` // "Elastic Load Balancing v2"
	Version         string `json:"version"`
	Protocol        string `json:"protocol"`
	JSONVersion     string `json:"jsonVersion"`
	Target          string `json:"target"` // before the operation in X-Amz-Target
	Namespace       string `json:"namespace"`
	EndpointPrefix  string `json:"prefix"`
	SigningName     string `json:"signing"`
	QueryCompatible bool   `json:"queryCompatible"` // error codes are those of the query protocol

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
	Host      string     `json:"host"`     // goes before the host name; may name members in braces
	Root      string     `json:"root"`     // element of an XML input
	Namespace string     `json:"ns"`       // of that element
	Unsigned  bool       `json:"unsigned"` // takes no signature
	Checksum  bool       `json:"checksum"` // a body takes a Content-MD5
	Page      *Page      `json:"page"`     // nil when it has one page
	Own       *Endpoints `json:"endpoints"`
	InputID   *int       `json:"i"`
	OutputID  *int       `json:"o"`
	Input     *Shape     `json:"-"` // nil when it takes nothing
	Output    *Shape     `json:"-"` // nil when it returns nothing
}

// A Page says how the answers of an operation are paged. Tokens and keys are
// JMESPath expressions of botocore: names, dots, [-1] and ||.
type Page struct {
	Input   []string `json:"in"`   // members that take the tokens
	Output  []string `json:"out"`  // where the next tokens are
	More    string   `json:"more"` // where it says whether there is more; may be empty
	Results []string `json:"keys"`
	Limit   string   `json:"limit"` // member that takes the size of a page; may be empty
}

// A Shape is the type of a value.
type Shape struct {
	Name            string   `json:"n"`
	Type            Type     `json:"t"`
	Enum            []string `json:"e"`
	Members         []Member `json:"m"` // of a structure
	Item            *Member  `json:"i"` // of a list
	Key             *Member  `json:"k"` // of a map
	Value           *Member  `json:"v"`
	Payload         string   `json:"p"` // member that is the whole body
	TimestampFormat string   `json:"ts"`
	Union           bool     `json:"u"` // a structure of which one member is present
	Document        bool     `json:"d"` // any JSON
	Flattened       bool     `json:"f"`
	Streaming       bool     `json:"b"`
	Sensitive       bool     `json:"x"`
}

// A Member is a part of a shape.
type Member struct {
	Name            string `json:"n"`
	ShapeID         int    `json:"s"`
	Shape           *Shape `json:"-"`
	Required        bool   `json:"r"`
	LocationName    string `json:"l"`  // its name on the wire, where that is another
	Location        string `json:"at"` // header, headers, querystring, uri or statusCode; empty for the body
	QueryName       string `json:"q"`
	TimestampFormat string `json:"ts"`
	Flattened       bool   `json:"f"`
	Attribute       bool   `json:"a"` // an attribute of the XML element
	JSONValue       bool   `json:"j"` // JSON in base64, in a header
	Token           bool   `json:"tok"`
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

// link replaces numbers by what they stand for.
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

// Paging returns how the answers of an operation are paged, or nil when they are
// not. Where AWS publishes nothing about it, a member of the input and one of the
// output that both look like a token tell.
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

// tokenNames are the members that carry page tokens, in inputs and outputs.
var tokenNames = [][]string{
	{"NextToken", "NextToken"}, {"nextToken", "nextToken"}, {"NextMarker", "NextMarker"}, {"Marker", "NextMarker"}, {"Marker", "Marker"},
	{"marker", "marker"}, {"nextPageToken", "nextPageToken"}, {"pageToken", "nextPageToken"}, {"PageToken", "NextPageToken"},
	{"position", "position"}, {"ContinuationToken", "ContinuationToken"},
}
