package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// FuzzBind compares the decoder with encoding/json: accepted input must be JSON
// and decode to the same value, and refused input must fail with fault.Invalid.
func FuzzBind(f *testing.F) {
	for _, s := range []string{
		`{"any": {"a": [1, 2.5e3, "x\n\u00e9\ud83d\ude00", true, null, {}]}}`, `{"any": "\ud800"}`, `{"any": -0.0}`, `{"any":1,"any":2}`,
		`{"properties": [{"name": "x", "stringV": 7}]}`, `{"name": "n", "count": 1e2, "status": ["Open"], "tags": {"a": "b"}}`, `[]`, `null`, ``, `{"a": `,
		`{"any": [[[[[[]]]]]]}`, `{"until": "2026-01-02T03:04:05Z", "environment": null}`, "{\"any\": \"\x7f\"}", `{"any": "\\"}`, ` {} `,
	} {
		f.Add([]byte(s))
	}
	type tree struct {
		Any any `json:"any"`
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var all everything
		if err := httpapi.Bind(post(body), &all); err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("not a fault of the caller: %v", err)
		}
		var got tree
		if err := httpapi.Bind(post(body), &got); err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("not a fault of the caller: %v", err)
			}
			return
		}
		if len(bytes.TrimSpace(body)) == 0 {
			return
		}
		var members map[string]any
		if err := json.Unmarshal(body, &members); err != nil {
			t.Fatalf("accepted input that is not a JSON object: %v", err)
		}
		var want any
		for name, v := range members {
			if strings.EqualFold(name, "any") { // like encoding/json, Bind ignores the case of names
				want = v
			}
		}
		if !reflect.DeepEqual(got.Any, want) {
			t.Errorf("decoded %#v, encoding/json %#v", got.Any, want)
		}
	})
}

func post(body []byte) *http.Request {
	return httptest.NewRequest("POST", "/", bytes.NewReader(body))
}

func BenchmarkBind(b *testing.B) {
	item := `{"name": "AccountID", "type": "string", "stringV": "123456789012", "more": {"a": [1, 2, 3]}}`
	body := []byte(`{"name": "n", "properties": [` + strings.Repeat(item+",", httpapi.DefaultItems-1) + item + `]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var all everything
		if err := httpapi.Bind(post(body), &all); err != nil {
			b.Fatal(err)
		}
	}
}
