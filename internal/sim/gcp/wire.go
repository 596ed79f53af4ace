package gcp

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"vigil/internal/sim/world"
)

// writeJSON sends a JSON response.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(appendJSON(make([]byte, 0, 4096), v), '\n'))
}

// appendJSON encodes a value in one pass: pages are large, and the standard
// encoder reads the output of each MarshalJSON again.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendText(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case time.Time:
		return appendText(b, v.Format(time.RFC3339))
	case world.Object:
		b = append(b, '{')
		for _, f := range v {
			if f.Value == nil {
				continue
			}
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(appendText(b, f.Name), ':')
			b = appendJSON(b, f.Value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, e)
		}
		return append(b, ']')
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot fail for values of package world
	}
	return append(b, text...)
}

// appendText encodes a string. Most need no escapes.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // cannot fail for a string
			}
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
