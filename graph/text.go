package graph

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// String formats v for display: a string without quotes, collections in brackets.
func (v Value) String() string {
	switch v.kind {
	case KindString:
		return v.Str()
	case KindNull:
		return "null"
	case KindBool:
		return strconv.FormatBool(v.Bool())
	case KindByte, KindShort, KindInt, KindLong:
		return strconv.FormatInt(v.Int(), 10)
	case KindFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case KindDouble:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case KindBigInt:
		return v.BigInt().String()
	case KindBigDecimal:
		return decimalString(v.BigDecimal())
	case KindDateTime:
		return v.Time().Format("2006-01-02T15:04:05.999999999Z07:00")
	case KindUUID:
		u := v.UUID()
		h := hex.EncodeToString(u[:])
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	}
	return v.compound()
}

func (v Value) compound() string {
	switch v.kind {
	case KindList:
		return "[" + joinText(v.Elems(), Value.String) + "]"
	case KindSet:
		return "{" + joinText(v.Elems(), Value.String) + "}"
	case KindMap:
		return "[" + joinText(v.Entries(), Entry.String) + "]"
	case KindEntry:
		return v.Entry().String()
	case KindVertex:
		return fmt.Sprintf("v[#%d]", v.num)
	case KindEdge:
		return fmt.Sprintf("e[#%d]", v.num)
	case KindVertexProperty, KindProperty:
		r := v.Property()
		return fmt.Sprintf("p[#%d.%d.%d]", r.Owner, r.Key, r.Index)
	}
	return fmt.Sprint(v.Opaque())
}

// String formats the entry for display.
func (e Entry) String() string { return e.Key.String() + ":" + e.Value.String() }

func joinText[T any](s []T, text func(T) string) string {
	parts := make([]string, len(s))
	for i, x := range s {
		parts[i] = text(x)
	}
	return strings.Join(parts, ", ")
}
