package aws

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"vigil/internal/sim/world"
)

// writeJSON encodes a value for the JSON protocols: times are seconds.
func writeJSON(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case world.Object:
		b.WriteByte('{')
		sep := ""
		for _, f := range v {
			if f.Value == nil {
				continue
			}
			b.WriteString(sep)
			sep = ","
			writeJSON(b, f.Name)
			b.WriteByte(':')
			writeJSON(b, f.Value)
		}
		b.WriteByte('}')
	case world.List:
		writeJSON(b, v.Of)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, e)
		}
		b.WriteByte(']')
	case time.Time:
		b.WriteString(strconv.FormatInt(v.Unix(), 10))
	default:
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("null")
		}
		b.Write(text)
	}
}

// writeCBOR encodes a value by RFC 8949.
func writeCBOR(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case world.Object:
		b.WriteByte(0xbf) // a map of indefinite length, which ends with a break code
		for _, f := range v {
			if f.Value != nil {
				writeCBOR(b, f.Name)
				writeCBOR(b, f.Value)
			}
		}
		b.WriteByte(0xff)
	case world.List:
		writeCBOR(b, v.Of)
	case []any:
		cborHead(b, 4, uint64(len(v)))
		for _, e := range v {
			writeCBOR(b, e)
		}
	case string:
		cborHead(b, 3, uint64(len(v)))
		b.WriteString(v)
	case bool:
		if v {
			b.WriteByte(0xf5)
		} else {
			b.WriteByte(0xf4)
		}
	case int:
		writeCBOR(b, int64(v))
	case int64:
		if v < 0 {
			cborHead(b, 1, uint64(-1-v))
		} else {
			cborHead(b, 0, uint64(v))
		}
	case float64:
		b.WriteByte(0xfb)
		_ = binary.Write(b, binary.BigEndian, math.Float64bits(v))
	case time.Time:
		b.WriteByte(0xc1) // the tag of a time in seconds
		writeCBOR(b, float64(v.Unix()))
	default:
		b.WriteByte(0xf6)
	}
}

func cborHead(b *bytes.Buffer, major byte, n uint64) {
	switch {
	case n < 24:
		b.WriteByte(major<<5 | byte(n))
	case n <= math.MaxUint8:
		b.Write([]byte{major<<5 | 24, byte(n)})
	case n <= math.MaxUint16:
		b.WriteByte(major<<5 | 25)
		_ = binary.Write(b, binary.BigEndian, uint16(n))
	case n <= math.MaxUint32:
		b.WriteByte(major<<5 | 26)
		_ = binary.Write(b, binary.BigEndian, uint32(n))
	default:
		b.WriteByte(major<<5 | 27)
		_ = binary.Write(b, binary.BigEndian, n)
	}
}
