package syntax

import "strings"

// Enum names one of Gremlin's enumerations.
type Enum uint8

// The enumerations, named like their prefix in a query. A constant without a prefix
// that exists in several enumerations belongs to the first of them that the argument
// accepts: set is Cardinality.set where both are accepted, but GType.SET in typeOf(set).
const (
	NoEnum Enum = iota
	T
	Scope
	Order
	Pop
	Column
	Direction
	Operator
	Pick
	Barrier
	Merge
	DT
	Cardinality
	GType
	WithOptions
	enumCount
)

// String returns the prefix: "T", "Scope", "WithOptions".
func (e Enum) String() string { return enums[e].name }

// Names returns the canonical names of the enumeration's constants.
func (e Enum) Names() []string { return enums[e].names }

// enums lists the constants of each enumeration in canonical spelling.
var enums = [enumCount]struct {
	name  string
	names []string
}{
	NoEnum:      {"", nil},
	T:           {"T", []string{"id", "label", "key", "value"}},
	Scope:       {"Scope", []string{"local", "global"}},
	Order:       {"Order", []string{"asc", "desc", "shuffle"}},
	Pop:         {"Pop", []string{"first", "last", "all", "mixed"}},
	Column:      {"Column", []string{"keys", "values"}},
	Direction:   {"Direction", []string{"OUT", "IN", "BOTH"}},
	Operator:    {"Operator", []string{"addAll", "and", "assign", "div", "max", "min", "minus", "mult", "or", "sum", "sumLong"}},
	Pick:        {"Pick", []string{"any", "none", "unproductive"}},
	Barrier:     {"Barrier", []string{"normSack"}},
	Merge:       {"Merge", []string{"onCreate", "onMatch", "outV", "inV"}},
	DT:          {"DT", []string{"second", "minute", "hour", "day"}},
	Cardinality: {"Cardinality", []string{"single", "set", "list"}},
	WithOptions: {"WithOptions", []string{"tokens", "none", "ids", "labels", "keys", "values", "all", "indexer", "list", "map"}},
	GType: {"GType", []string{
		"BIGDECIMAL", "BIGINT", "BINARY", "BOOLEAN", "BYTE", "CHAR", "DATETIME", "DOUBLE", "DURATION", "EDGE", "FLOAT",
		"GRAPH", "INT", "LIST", "LONG", "MAP", "NULL", "NUMBER", "PATH", "PROPERTY", "SET", "SHORT", "STRING", "TREE",
		"UUID", "VERTEX", "VPROPERTY",
	}},
}

// spellings returns the spellings of a constant: Direction.from is OUT, and
// every GType may also be in lower or camel case.
func spellings(e Enum, name string) []string {
	switch {
	case e == GType && name == "BIGDECIMAL":
		return []string{name, "bigDecimal"}
	case e == GType && name == "BIGINT":
		return []string{name, "bigInt"}
	case e == GType:
		return []string{name, strings.ToLower(name)}
	case e == Direction && name == "OUT":
		return []string{name, "from"}
	case e == Direction && name == "IN":
		return []string{name, "to"}
	}
	return []string{name}
}

// enumByName finds the enumeration with the given prefix.
func enumByName(prefix string) (Enum, bool) {
	for e := NoEnum + 1; e < enumCount; e++ {
		if enums[e].name == prefix {
			return e, true
		}
	}
	return NoEnum, false
}

// constant finds the constant of e with the given spelling.
func (e Enum) constant(spelling string) (string, bool) {
	for _, name := range e.Names() {
		for _, s := range spellings(e, name) {
			if s == spelling {
				return name, true
			}
		}
	}
	return "", false
}
