package syntax

// A Query is a whole traversal: g, its configuration, its steps and, if the text
// has one, its terminal step.
//
// A Query may also be an argument: inject(g.V().count().next()).
type Query struct {
	Span
	Source   []Step // withSack(..), withStrategies(..) ..., in order
	Steps    []Step // V().out()...; never empty
	Terminal *Step  // toList(), next(2), iterate() ..., or nil
}

// A Traversal is an anonymous traversal: __.out().in(), or out().in().
type Traversal struct {
	Span
	Steps []Step // never empty
}

// A Step is one call in a chain. Name is as in the signature table.
//
// The infix connectives .and() and .or() are Steps without arguments; [Connect]
// converts them to the prefix form.
type Step struct {
	Span
	Name string
	Args []Arg
}

// Arg is an argument of a step or predicate, or an item of a collection. Its
// dynamic type is one of *Literal, *List, *Set, *Map, *Range, *RuntimeValue, *Token,
// *CardinalityValue, *Predicate, *Traversal, *Query, *Variable or *Strategy.
type Arg interface {
	// Bounds returns the position of the argument in the text.
	Bounds() Span
}

// A Literal is a single value. Value is nil (null), bool, int8, int16, int32,
// int64, *big.Int, float32, float64, Decimal, string, time.Time or UUID.
type Literal struct {
	Span
	Value any
}

// A List is [a, b, c].
type List struct {
	Span
	Items []Arg
}

// A Set is {a, b, c}; items are as written, including duplicates.
type Set struct {
	Span
	Items []Arg
}

// A Map is [k: v, ...] in the order of the text. A bare word as a key is a
// string literal; a key in parentheses and a prefixed token keep their kind.
type Map struct {
	Span
	Entries []Entry
}

// An Entry is one pair of a Map or of a Strategy's configuration.
type Entry struct {
	Key, Value Arg
}

// A Range is from..to with both ends included: integers, or strings that differ
// in their last character. It denotes the list that [Range.Items] returns.
type Range struct {
	Span
	From, To *Literal
}

// A RuntimeValue is created when the query runs: datetime() is the time of the
// run, UUID() a random identifier.
type RuntimeValue struct {
	Span
	Name string // "datetime" or "UUID"
}

// A Token is a constant of one of Gremlin's enumerations: T.id, Order.desc.
// Name is the canonical spelling: Direction.from is OUT, GType.int is INT.
type Token struct {
	Span
	Enum Enum
	Name string
}

// A CardinalityValue is a value with its cardinality: Cardinality.set("x").
type CardinalityValue struct {
	Span
	Cardinality string // "single", "list" or "set"
	Value       Arg
}

// A Predicate is a P or a TextP. Name is a function such as "eq", "within" or
// "startingWith", or one of "and", "or" and "not", whose arguments are predicates.
// Chains of the same connective are one Predicate with several arguments;
// negate() becomes "not".
type Predicate struct {
	Span
	Name string
	Args []Arg
}

// A Variable is a parameter whose value is bound when the query runs.
type Variable struct {
	Span
	Name string
}

// A Strategy is an argument of withStrategies() or withoutStrategies():
// new SubgraphStrategy(vertices: hasLabel("person")).
type Strategy struct {
	Span
	Name   string
	Config []Entry // keys are string literals
}
