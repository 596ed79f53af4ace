package suite

import (
	"fmt"
	"math/big"
	"time"

	"vigil/graph"
	"vigil/gremlin/internal/value"
	"vigil/gremlin/syntax"
)

// valueOf returns the value of an argument of a setup traversal.
func valueOf(a syntax.Arg) (graph.Value, error) {
	switch a := a.(type) {
	case *syntax.Literal:
		return scalar(a.Value)
	case *syntax.List:
		items, err := valuesOf(a.Items)
		return graph.List(items...), err
	case *syntax.Set:
		items, err := valuesOf(a.Items)
		return graph.Set(distinct(items)...), err
	case *syntax.Map:
		var entries []graph.Entry
		for _, e := range a.Entries {
			k, err := valueOf(e.Key)
			if err != nil {
				return graph.Null, err
			}
			v, err := valueOf(e.Value)
			if err != nil {
				return graph.Null, err
			}
			entries = append(entries, graph.Entry{Key: k, Value: v})
		}
		return graph.Map(entries...), nil
	}
	return graph.Null, fmt.Errorf("%s is not a value that a property can have", syntax.Format(a))
}

func valuesOf(args []syntax.Arg) ([]graph.Value, error) {
	values := make([]graph.Value, len(args))
	for i, a := range args {
		var err error
		if values[i], err = valueOf(a); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// distinct removes duplicate values.
func distinct(values []graph.Value) []graph.Value {
	var seen value.Keys
	var out []graph.Value
	for _, v := range values {
		if _, fresh := seen.Put(v); fresh {
			out = append(out, v)
		}
	}
	return out
}

func scalar(v any) (graph.Value, error) {
	switch v := v.(type) {
	case nil:
		return graph.Null, nil
	case bool:
		return graph.Bool(v), nil
	case int8:
		return graph.Byte(v), nil
	case int16:
		return graph.Short(v), nil
	case int32:
		return graph.Int(v), nil
	case int64:
		return graph.Long(v), nil
	case *big.Int:
		return graph.BigInt(v), nil
	case float32:
		return graph.Float(v), nil
	case float64:
		return graph.Double(v), nil
	case syntax.Decimal:
		return graph.BigDecimal(v.Coef, v.Scale), nil
	case string:
		return graph.String(v), nil
	case time.Time:
		return graph.DateTime(v), nil
	case syntax.UUID:
		return graph.UUID(v), nil
	}
	return graph.Null, fmt.Errorf("unsupported type %T", v)
}
