package plan

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"

	"vigil/graph"
	"vigil/gremlin/internal/value"
	"vigil/gremlin/syntax"
)

// value returns the value of an argument.
func (b *builder) value(a syntax.Arg) (graph.Value, error) {
	switch a := a.(type) {
	case *syntax.Literal:
		return literal(a.Value)
	case *syntax.List:
		vs, err := b.values(a.Items)
		return graph.List(vs...), err
	case *syntax.Set:
		vs, err := b.values(a.Items)
		return SetOf(vs), err
	case *syntax.Map:
		return b.mapValue(a)
	case *syntax.Range:
		var vs []graph.Value
		for _, x := range a.Items() {
			v, err := literal(x)
			if err != nil {
				return graph.Null, err
			}
			vs = append(vs, v)
		}
		return graph.List(vs...), nil
	case *syntax.Variable:
		v, ok := b.bind.Vars[a.Name]
		if !ok {
			return graph.Null, fmt.Errorf("variable %s has no value", a.Name)
		}
		return v, nil
	case *syntax.RuntimeValue:
		if a.Name == "UUID" {
			return graph.UUID(b.bind.UUID()), nil
		}
		return graph.DateTime(b.bind.Now), nil
	case *syntax.Token:
		return graph.Opaque(value.Token(a.Name)), nil
	case *syntax.CardinalityValue:
		return b.value(a.Value)
	case *syntax.Query:
		return graph.Null, fmt.Errorf("a query within a query is not supported")
	}
	return graph.Null, fmt.Errorf("a value was expected")
}

// SetOf returns a set of values after removing duplicates.
func SetOf(vs []graph.Value) graph.Value {
	var k value.Keys
	for _, v := range vs {
		k.Put(v)
	}
	return graph.Set(k.All()...)
}

func (b *builder) mapValue(m *syntax.Map) (graph.Value, error) {
	var keys value.Keys
	var es []graph.Entry
	for _, e := range m.Entries {
		k, err := b.value(e.Key)
		if err != nil {
			return graph.Null, err
		}
		v, err := b.value(e.Value)
		if err != nil {
			return graph.Null, err
		}
		if i, fresh := keys.Put(k); fresh {
			es = append(es, graph.Entry{Key: k, Value: v})
		} else {
			es[i].Value = v
		}
	}
	return graph.Map(es...), nil
}

func literal(x any) (graph.Value, error) {
	switch x := x.(type) {
	case nil:
		return graph.Null, nil
	case bool:
		return graph.Bool(x), nil
	case int8:
		return graph.Byte(x), nil
	case int16:
		return graph.Short(x), nil
	case int32:
		return graph.Int(x), nil
	case int64:
		return graph.Long(x), nil
	case *big.Int:
		return graph.BigInt(x), nil
	case float32:
		return graph.Float(x), nil
	case float64:
		return graph.Double(x), nil
	case syntax.Decimal:
		return graph.BigDecimal(x.Coef, x.Scale), nil
	case string:
		return graph.String(x), nil
	case time.Time:
		return graph.DateTime(x), nil
	case syntax.UUID:
		return graph.UUID(x), nil
	}
	return graph.Null, fmt.Errorf("a literal of type %T is not supported", x)
}

// values returns the values of several arguments.
func (b *builder) values(args []syntax.Arg) ([]graph.Value, error) {
	out := make([]graph.Value, len(args))
	for i, a := range args {
		v, err := b.value(a)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// flat returns the values of several arguments and expands lists and sets.
func (b *builder) flat(args []syntax.Arg) ([]graph.Value, error) {
	vs, err := b.values(args)
	if err != nil {
		return nil, err
	}
	var out []graph.Value
	for _, v := range vs {
		if es, ok := value.Elems(v); ok {
			out = append(out, es...)
		} else {
			out = append(out, v)
		}
	}
	return out, nil
}

// operands returns the values of several arguments; a single list or set is expanded.
func (b *builder) operands(args []syntax.Arg) ([]graph.Value, error) {
	if len(args) == 1 {
		return b.flat(args)
	}
	return b.values(args)
}

// names returns the string values of several arguments without nulls, which match no name.
func (b *builder) names(args []syntax.Arg) ([]string, error) {
	vs, err := b.flat(args)
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, v := range vs {
		if err := requireText(v); err != nil {
			return nil, err
		}
		if !v.IsNull() {
			out = append(out, v.Str())
		}
	}
	return out, nil
}

// name returns the string value of an argument; ok is false for null.
func (b *builder) name(a syntax.Arg) (s string, ok bool, err error) {
	v, err := b.value(a)
	if err == nil {
		err = requireText(v)
	}
	if err != nil || v.IsNull() {
		return "", false, err
	}
	return v.Str(), true, nil
}

// requireText returns an error for a value that is neither a string nor null.
func requireText(v graph.Value) error {
	if v.Kind() != graph.KindString && !v.IsNull() {
		return fmt.Errorf("a string was expected, not %s", v)
	}
	return nil
}

// int returns the integer value of an argument.
func (b *builder) int(a syntax.Arg) (int64, error) {
	v, err := b.value(a)
	if err == nil {
		err = requireInt(v)
	}
	if err != nil {
		return 0, err
	}
	return v.Int(), nil
}

// requireInt returns an error for a value that is not an integer of at most 64 bits.
func requireInt(v graph.Value) error {
	if !v.IsInteger() {
		return fmt.Errorf("a whole number was expected, not %s", v)
	}
	return nil
}

// scopeArg removes a leading scope from the arguments.
func scopeArg(args []syntax.Arg) (local bool, rest []syntax.Arg) {
	if len(args) > 0 {
		if t, ok := args[0].(*syntax.Token); ok && t.Enum == syntax.Scope {
			return t.Name == "local", args[1:]
		}
	}
	return false, args
}

// token returns the name of an argument that is a constant of an enumeration.
func token(a syntax.Arg, e syntax.Enum) (string, bool) {
	t, ok := a.(*syntax.Token)
	if !ok || t.Enum != e {
		return "", false
	}
	return t.Name, true
}

// predOps are the operations of predicates. textPred negates those whose name begins with not.
var predOps = map[string]PredOp{
	"eq": Eq, "neq": Neq, "lt": Lt, "lte": Lte, "gt": Gt, "gte": Gte, "within": Within, "without": Without,
	"startingWith": StartingWith, "endingWith": EndingWith, "containing": Containing, "regex": Regex,
	"notStartingWith": StartingWith, "notEndingWith": EndingWith, "notContaining": Containing, "notRegex": Regex,
}

// pred builds a predicate.
func (b *builder) pred(p *syntax.Predicate) (*Pred, error) {
	switch p.Name {
	case "and", "or", "not":
		return b.connective(p)
	case "within", "without":
		vs, err := b.operands(p.Args)
		return member(predOps[p.Name], vs), err
	case "typeOf":
		return b.typeOf(p)
	}
	vs, err := b.values(p.Args)
	if err != nil {
		return nil, err
	}
	switch p.Name {
	case "between":
		return rangePred(AllOf, Gte, vs[0], Lt, vs[1]), nil
	case "inside":
		return rangePred(AllOf, Gt, vs[0], Lt, vs[1]), nil
	case "outside":
		return rangePred(AnyOf, Lt, vs[0], Gt, vs[1]), nil
	}
	op, ok := predOps[p.Name]
	if !ok {
		return nil, fmt.Errorf("predicate %s is not supported", p.Name)
	}
	if op < Within { // a comparison
		return &Pred{Op: op, Value: vs[0]}, nil
	}
	return textPred(p.Name, op, vs[0])
}

func rangePred(op, op1 PredOp, v1 graph.Value, op2 PredOp, v2 graph.Value) *Pred {
	return &Pred{Op: op, Args: []*Pred{{Op: op1, Value: v1}, {Op: op2, Value: v2}}}
}

func textPred(name string, op PredOp, v graph.Value) (*Pred, error) {
	if v.Kind() != graph.KindString {
		return nil, fmt.Errorf("%s takes a string, not %s", name, v)
	}
	p := &Pred{Op: op, Text: v.Str()}
	if op == Regex {
		re, err := regexp.Compile(p.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.Re = re
	}
	if strings.HasPrefix(name, "not") {
		return &Pred{Op: NotOf, Args: []*Pred{p}}, nil
	}
	return p, nil
}

func (b *builder) connective(p *syntax.Predicate) (*Pred, error) {
	out := &Pred{Op: map[string]PredOp{"and": AllOf, "or": AnyOf, "not": NotOf}[p.Name]}
	for _, a := range p.Args {
		q, err := b.predArg(a)
		if err != nil {
			return nil, err
		}
		out.Args = append(out.Args, q)
	}
	return out, nil
}

func (b *builder) typeOf(p *syntax.Predicate) (*Pred, error) {
	if t, ok := token(p.Args[0], syntax.GType); ok {
		return &Pred{Op: TypeOf, Text: t}, nil
	}
	name, _, err := b.name(p.Args[0])
	if err != nil {
		return nil, err
	}
	t, ok := value.TypeName(name)
	if !ok {
		return nil, fmt.Errorf("%s is not a registered type", name)
	}
	return &Pred{Op: TypeOf, Text: t}, nil
}

// member builds a within or without. Long lists get a hash table.
func member(op PredOp, vs []graph.Value) *Pred {
	p := &Pred{Op: op, Values: vs}
	if len(vs) > 8 {
		p.Keys = &value.Keys{}
		for _, v := range vs {
			p.Keys.Put(v)
		}
	}
	return p
}

// predArg builds a predicate from an argument: a predicate, or a value to compare with.
func (b *builder) predArg(a syntax.Arg) (*Pred, error) {
	if p, ok := a.(*syntax.Predicate); ok {
		return b.pred(p)
	}
	v, err := b.value(a)
	return &Pred{Op: Eq, Value: v}, err
}
