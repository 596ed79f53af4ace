package aws

import (
	"encoding/binary"

	"vigil/internal/sim/world"
)

// readCBOR decodes a request of maps, lists, strings, integers and booleans. It does not
// detect other or malformed values, because requests to a simulator are not hostile.
func readCBOR(b []byte) world.Object {
	v, _ := cborValue(b)
	o, _ := v.(world.Object)
	return o
}

// cborValue decodes the first value of b, and returns the rest of b.
func cborValue(b []byte) (value any, rest []byte) {
	if len(b) == 0 {
		return nil, nil
	}
	major, info := b[0]>>5, b[0]&31 // the major type and the additional information
	b = b[1:]
	n := uint64(info)
	// With the information 24 to 27, the number is in the next 1, 2, 4 or 8 bytes.
	for i, width := range []int{1, 2, 4, 8} {
		if int(info) == 24+i && len(b) >= width {
			var wide [8]byte
			copy(wide[8-width:], b[:width])
			n, b = binary.BigEndian.Uint64(wide[:]), b[width:]
		}
	}
	indefinite := info == 31 // the value ends with a break code
	hasElement := func(i uint64) bool {
		if indefinite {
			return len(b) > 0 && b[0] != 0xff
		}
		return len(b) > 0 && i < n
	}
	switch major {
	case 0: // unsigned integer
		return int64(n), b
	case 1: // negative integer
		return -1 - int64(n), b
	case 2, 3: // byte string, text
		n = min(n, uint64(len(b)))
		return string(b[:n]), b[n:]
	case 4: // array
		list := []any{}
		for i := uint64(0); hasElement(i); i++ {
			var v any
			v, b = cborValue(b)
			list = append(list, v)
		}
		return list, skipBreak(b, indefinite)
	case 5: // map
		o := world.Object{}
		for i := uint64(0); hasElement(i); i++ {
			var name, v any
			name, b = cborValue(b)
			v, b = cborValue(b)
			text, _ := name.(string)
			o = append(o, world.Field{Name: text, Value: v})
		}
		return o, skipBreak(b, indefinite)
	case 7: // simple value
		return map[byte]any{20: false, 21: true}[info], b
	}
	return nil, b
}

// skipBreak skips the break code of an indefinite-length value.
func skipBreak(b []byte, indefinite bool) []byte {
	if indefinite && len(b) > 0 {
		return b[1:]
	}
	return b
}
