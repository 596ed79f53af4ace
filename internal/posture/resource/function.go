package resource

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// A Function derives properties and edges that paths cannot: the verdict on a
// policy, the rules of a firewall. It is registered by name and named by
// declarations.
type Function struct {
	Properties []Property // that it adds, with Name, Kind and Doc
	Edges      []Edge     // that it adds, with Label, To and Doc
	// Reads are the types whose lists it asks for, and Permissions what its other
	// calls take.
	Reads       []posture.EntityType
	Permissions []string
	Apply       func(in FunctionInput, b *Builder) error
	// Absent adds what it means when the cloud answers that there is nothing. The
	// properties are left out when nil.
	Absent func(b *Builder)
}

// A FunctionInput is what a function works on.
type FunctionInput struct {
	Context
	Ctx   context.Context
	Value gjson.Result // at the path that the declaration names; the item or answer when it names none
	Item  *Item        // the item of the list
	// Items returns the raw items of another type of the same account and region.
	Items func(posture.EntityType) ([]Item, error)
	// Caller makes calls.
	Caller Caller
}

// A ListFunction turns the items of a stage into others: it gathers what several
// name, or makes calls in an order that stages cannot express.
type ListFunction struct {
	Calls []string             // that it makes
	Reads []posture.EntityType // whose items it reads
	Apply func(ctx context.Context, c Caller, items []Item) ([]Item, error)
}

// An AnswerFunction makes calls in an order that declarations cannot express, such
// as one to have a report made and another to read it. Its answer is the same for
// all items of a unit.
type AnswerFunction struct {
	Calls []string // that it makes
	Apply func(ctx context.Context, c Caller) (gjson.Result, error)
}

// A Caller makes calls for functions.
type Caller interface {
	// Call makes a call and returns its answer, all pages of it.
	Call(ctx context.Context, r Request, item *Item) ([]gjson.Result, error)
	// Answer returns the answer of an AnswerFunction.
	Answer(ctx context.Context, function string) (gjson.Result, error)
	// Items returns the raw items of another type of the same account and region.
	Items(ctx context.Context, t posture.EntityType) ([]Item, error)
	// Each visits the raw items of another type one after another, without keeping
	// them all.
	Each(ctx context.Context, t posture.EntityType, visit func(*Item) error) error
	// One returns the raw item of another type that has a name, or of which
	// something of that name is a part.
	One(ctx context.Context, t posture.EntityType, name string) (*Item, error)
	// Once returns what read returns. It is called once for all items of a list;
	// the key says what it reads.
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

// Functions are the functions that declarations may name: "aws.resourcePolicy".
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
		return at(node, fmt.Errorf("%q has no closing parenthesis", node.Value))
	}
	var err error
	d.At, err = PathExpr(path)
	return at(node, err)
}
