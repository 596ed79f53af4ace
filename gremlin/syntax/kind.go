package syntax

import (
	"math/big"
	"strings"
	"time"
)

// Kind is a set of kinds of arguments.
type Kind uint64

// The kinds. The constants of an enumeration e are of the kind kindEnum<<e.
const (
	KindString Kind = 1 << iota
	KindNull
	KindInteger
	KindFloat
	KindBool
	KindDate
	KindUUID
	KindCollection // list, set or range
	KindMap
	KindPredicate
	KindTraversal
	KindQuery
	KindVariable
	KindStrategy
	KindCardinalityValue
	kindEnum
)

// kindOfEnum returns the kind of a token of e.
func kindOfEnum(e Enum) Kind { return kindEnum << e }

const (
	kindNumber    = KindInteger | KindFloat
	kindScalar    = KindString | KindNull | kindNumber | KindBool | KindDate | KindUUID
	kindValueEnum = kindEnum<<T | kindEnum<<Cardinality | kindEnum<<Direction | kindEnum<<Merge | kindEnum<<Pick | kindEnum<<DT | kindEnum<<GType
	kindValue     = kindScalar | KindCollection | KindMap | KindQuery | KindCardinalityValue | kindValueEnum
	kindContainer = KindCollection | KindMap
)

// kindNames describes groups of kinds and single kinds. Groups come first: kinds
// that a listed group covers are not listed again.
var kindNames = []struct {
	kind Kind
	name string
}{
	{kindScalar | kindContainer, "a value"},
	{kindNumber, "a number"},
	{KindString, "a string"},
	{KindInteger, "a whole number"},
	{KindFloat, "a floating-point number"},
	{KindBool, "true or false"},
	{KindDate, "a date"},
	{KindUUID, "a UUID"},
	{KindCollection, "a list or set"},
	{KindMap, "a map"},
	{KindPredicate, "a predicate"},
	{KindTraversal, "a traversal"},
	{KindStrategy, "a strategy"},
	{kindEnum << T, "a T token (id, label, key, value)"},
	{kindEnum << Scope, "a scope (local, global)"},
	{kindEnum << Order, "an order (asc, desc, shuffle)"},
	{kindEnum << Pop, "a pop (first, last, all, mixed)"},
	{kindEnum << Column, "a column (keys, values)"},
	{kindEnum << Direction, "a direction (OUT, IN, BOTH)"},
	{kindEnum << Operator, "an operator (sum, minus, addAll, ...)"},
	{kindEnum << Pick, "a pick (any, none, unproductive)"},
	{kindEnum << Barrier, "normSack"},
	{kindEnum << Merge, "a merge token"},
	{kindEnum << GType, "a type (GType.INT, ...)"},
	{kindEnum << DT, "a unit of time (second, minute, hour, day)"},
	{kindEnum << Cardinality, "a cardinality (single, list, set)"},
	{kindEnum << WithOptions, "an option (WithOptions.tokens, ...)"},
	{KindNull, "null"},
	{KindVariable, "a variable"},
	{KindQuery, "a query"},
	{KindCardinalityValue, "a value with cardinality"},
}

// String lists the kinds in words: "a string, a predicate or null". If any value
// is accepted, tokens are not listed.
func (k Kind) String() string {
	if k&kindValue == kindValue {
		k &^= KindQuery | KindCardinalityValue | kindValueEnum
	}
	var parts []string
	for _, n := range kindNames {
		// A group is listed only if the set contains all of it.
		if k&n.kind == n.kind {
			parts = append(parts, n.name)
			k &^= n.kind
		}
	}
	if len(parts) == 0 { // the set is empty: every kind has a name
		return "nothing"
	}
	return orList(parts)
}

// orList joins parts as "a, b or c".
func orList(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " or " + parts[last]
}

// KindOf returns the kind of a.
func KindOf(a Arg) Kind {
	switch a := a.(type) {
	case *Literal:
		return kindOfValue(a.Value)
	case *List, *Set, *Range:
		return KindCollection
	case *Map:
		return KindMap
	case *RuntimeValue:
		if a.Name == uuidName {
			return KindUUID
		}
		return KindDate
	case *Token:
		return kindOfEnum(a.Enum)
	case *CardinalityValue:
		return KindCardinalityValue
	case *Predicate:
		return KindPredicate
	case *Traversal:
		return KindTraversal
	case *Query:
		return KindQuery
	case *Variable:
		return KindVariable
	case *Strategy:
		return KindStrategy
	}
	return 0
}

func kindOfValue(v any) Kind {
	switch v.(type) {
	case nil:
		return KindNull
	case string:
		return KindString
	case bool:
		return KindBool
	case int8, int16, int32, int64, *big.Int:
		return KindInteger
	case float32, float64, Decimal:
		return KindFloat
	case time.Time:
		return KindDate
	case UUID:
		return KindUUID
	}
	return 0
}
