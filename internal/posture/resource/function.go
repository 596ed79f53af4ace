package resource

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// A Function derives properties and edges that paths cannot express, such as the
// assessment of a policy or the rules of a firewall. Declarations refer to it by
// the name under which it is registered.
type Function struct {
	Properties []Property // properties that it adds: Name, Kind and Doc
	Edges      []Edge     // edges that it adds: Label, To and Doc
	// Reads are the types whose lists it reads. Permissions are those that its
	// other calls need.
	Reads       []posture.EntityType
	Permissions []string
	Apply       func(in FunctionInput, b *Builder) error
	// Absent adds the properties when the cloud reports that what the function reads,
	// such as a policy, does not exist. When it is nil, the properties are left out.
	Absent func(b *Builder)
}

// A FunctionInput is the input of a function.
type FunctionInput struct {
	Context                 // the variables of the unit, and the cloud
	Ctx     context.Context // for the calls that it makes
	Value   gjson.Result    // value at the declared path; the item or response when no path is declared
	Item    *Item           // the item of the list
	// Items returns the raw items of another type of the same account and region.
	Items func(posture.EntityType) ([]Item, error)
	// Caller makes calls.
	Caller Caller
}

// A ListFunction converts the items of a stage into other items: it aggregates
// them, or makes calls in an order that stages cannot express. Items that it returns
// with an error are kept, and the list is incomplete.
type ListFunction struct {
	Calls []string             // calls that it makes
	Reads []posture.EntityType // types whose items it reads
	Apply func(ctx context.Context, c Caller, items []Item) ([]Item, error)
}

// An AnswerFunction makes calls in an order that declarations cannot express, such
// as requesting a report and then reading it. Its result is the same for all items
// of a unit.
type AnswerFunction struct {
	Calls []string // calls that it makes
	Apply func(ctx context.Context, c Caller) (gjson.Result, error)
}

// A Caller makes calls for functions.
type Caller interface {
	// Call makes a call and returns all pages of its response.
	Call(ctx context.Context, r Request, item *Item) ([]gjson.Result, error)
	// Answer returns the result of an AnswerFunction.
	Answer(ctx context.Context, function string) (gjson.Result, error)
	// Items returns the raw items of another type of the same account and region.
	Items(ctx context.Context, t posture.EntityType) ([]Item, error)
	// Each visits the raw items of another type one after another without keeping
	// all of them in memory.
	Each(ctx context.Context, t posture.EntityType, visit func(*Item) error) error
	// One returns the raw item of the resource of another type that has the name. If the
	// name is that of a child of such a resource, it returns the item of the parent.
	One(ctx context.Context, t posture.EntityType, name string) (*Item, error)
	// Once returns the result of read, which is called once for all items of a
	// list. The key identifies the result.
	Once(key string, read func() (any, error)) (any, error)
	// Vars returns the variables of the unit.
	Vars() Vars
}

// names returns the names of the properties and the labels of the edges.
func (f *Function) names() (names []string) {
	for _, p := range f.Properties {
		names = append(names, p.Name)
	}
	for _, e := range f.Edges {
		names = append(names, e.Label)
	}
	return names
}

// Functions are the registered functions by name, such as "aws.resourcePolicy".
type Functions struct {
	Derive map[string]Function
	List   map[string]ListFunction
	Answer map[string]AnswerFunction
}

// Derived applies a function to a value: "aws.resourcePolicy(Policy)".
type Derived struct {
	Name     string
	At       Expr // the item or answer itself when zero
	function Function
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (d *Derived) UnmarshalYAML(node *yaml.Node) error {
	name, rest, found := strings.Cut(node.Value, "(")
	d.Name = name
	if !found {
		return nil
	}
	path, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return withLine(node, fmt.Errorf("%q has no closing parenthesis", node.Value))
	}
	var err error
	d.At, err = PathExpr(path)
	return withLine(node, err)
}
