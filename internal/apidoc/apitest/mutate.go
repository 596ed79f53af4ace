package apitest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// oddTexts are strings that often reveal errors in servers.
var oddTexts = []string{
	"", " ", "\u0000", "a\u0000b", "null", "..", "../../../etc/passwd", "a/b", "a%2Fb", "%00", "%", "'; DROP TABLE accounts; --", `"`, `\`, "\n", "\t",
	"\u202e", "\ufeff", "\ufffd", "😀", "é", "e\u0301", "İ", "ß", "Ⅷ", "{}", "[]", "{{.}}", "${x}", "<script>", "-1", "1e309", "true",
	"_", "__", ".", "*", "()", strings.Repeat("x", 300), strings.Repeat("é", 70000),
}

// oddValues are JSON texts that are rarely expected.
var oddValues = []string{
	`null`, `true`, `false`, `0`, `-1`, `-0`, `1.5`, `1e2`, `1e400`, `-1e400`, `1e-400`, `2147483648`, `-2147483649`, `9223372036854775807`,
	`9223372036854775808`, `99999999999999999999999999999999`, `""`, `" "`, `"\u0000"`, `"\ud800"`, `"\udc00\ud800"`, `"\uffff"`, `[]`, `{}`, `[[]]`,
	`[null]`, `{"":null}`, `{"a":{"b":{"c":[]}}}`, `["a","a"]`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `"2026-02-30T00:00:00Z"`,
}

// odd returns an unexpected JSON value.
func (g generator) odd() any {
	switch g.IntN(8) {
	case 0:
		return pickOne(g, oddTexts...)
	case 1:
		depth := pickOne(g, 10, 63, 64, 65, 1000, 20000) // package httpapi permits 64
		return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	case 2:
		list := make([]any, pickOne(g, 101, 1001)) // one more than usual limits
		for i := range list {
			list[i] = g.word()
		}
		return list
	default:
		return json.RawMessage(pickOne(g, oddValues...))
	}
}

// mutate returns a value with one part made invalid.
func (g generator) mutate(v any) any {
	switch x := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(x))
		if len(names) == 0 || g.chance(8) {
			return g.odd()
		}
		name, m := pickOne(g, names...), maps.Clone(x)
		switch g.IntN(7) {
		case 0:
			delete(m, name)
		case 1:
			m[strings.ToUpper(name)] = m[name] // the same member in another case
		case 2:
			m[pickOne(g, "", name+"x", "__proto__", pickOne(g, oddTexts...))] = g.odd()
		default:
			m[name] = g.mutate(m[name])
		}
		return m
	case []any:
		if len(x) == 0 || g.chance(4) {
			return g.odd()
		}
		list, i := slices.Clone(x), g.IntN(len(x))
		switch g.IntN(4) {
		case 0:
			return append(list, list...)
		case 1:
			return append(list, g.odd())
		default:
			list[i] = g.mutate(list[i])
		}
		return list
	case string:
		return g.mutateText(x)
	}
	return pickOne(g, any([]any{v}), any(map[string]any{"value": v}), g.odd(), g.odd())
}

func (g generator) mutateText(s string) any {
	switch g.IntN(8) {
	case 0:
		return []any{s}
	case 1:
		return strings.ToUpper(s)
	case 2:
		return s + pickOne(g, oddTexts...)
	case 3:
		return pickOne(g, oddTexts...) + s
	case 4:
		return pickOne(g, oddTexts...)
	case 5:
		return map[string]any{"value": s}
	}
	return g.odd()
}

// mutateBytes corrupts the text of a body.
func (g generator) mutateBytes(b []byte) []byte {
	b = bytes.Clone(b)
	offset := g.IntN(len(b) + 1)
	switch g.IntN(9) {
	case 0:
		return b[:offset]
	case 1:
		return append(b, pickOne(g, " x", "{}", "]", "\x00", "\xff", ",")...)
	case 2:
		return slices.Insert(b, offset, []byte(pickOne(g, "\xff", "\xed\xa0\x80", "\x00", "\"", "\\", "{", ",", ":"))...)
	case 3:
		return bytes.ReplaceAll(b, []byte(`"`), []byte(`'`))
	case 4:
		return append([]byte("\ufeff"), b...)
	case 5:
		return []byte(pickOne(g, "", " ", "null", "[]", "7", `"x"`, "{", "}", "NaN", "{,}", "a=b&c=d", "<xml/>"))
	case 6:
		i := bytes.IndexByte(b, '{')
		if i < 0 {
			return b
		}
		repeated := `"a":1,"a":2` // a member that occurs twice
		if string(b[i:]) != "{}" {
			repeated += "," // before the other members
		}
		return slices.Insert(b, i+1, []byte(repeated)...)
	case 7:
		for range 1 + g.IntN(4) {
			if len(b) > 0 {
				b[g.IntN(len(b))] = byte(g.IntN(256))
			}
		}
		return b
	default: // larger than any limit
		return append(append([]byte(`{"padding":"`), bytes.Repeat([]byte("x"), pickOne(g, 1<<20, 2<<20, 9<<20))...), `"}`...)
	}
}

var oddMethods = []string{
	http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodTrace, "BREW", "get",
}

// mutateHeaders sets a header to an invalid or unusual value.
func (g generator) mutateHeaders(h http.Header) {
	switch g.IntN(6) {
	case 0:
		h.Set("Content-Type", pickOne(g, "nonsense", "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset=utf-16"))
	case 1:
		h.Set("If-Match", pickOne(g, "*", `""`, `"x"`, `W/"x"`, `"a","b"`, ",", strings.Repeat("x", 2000), "é", `"`))
	case 2:
		h.Set("X-Request-Id", pickOne(g, "", "two words", strings.Repeat("x", 1000), "é", "ok-1"))
	case 3:
		h.Set("Authorization", pickOne(g, "", "Bearer", "Bearer ", "Bearer x.y.z", "Basic YTpi", "bearer "+strings.Repeat("x", 8000), "Bearer é", "Bearer eyJhbGciOiJub25lIn0.e30."))
	case 4:
		h.Set("Accept", pickOne(g, "", "text/html", "application/xml", "*/*;q=0", "nonsense"))
	case 5:
		h.Set(pickOne(g, "X-Forwarded-For", "X-HTTP-Method-Override", "Range", "If-None-Match", "Accept-Encoding", "Cookie"), pickOne(g, "bytes=0-1", "DELETE", "1.2.3.4", "x", "*"))
	}
}
