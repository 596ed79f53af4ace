package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

type property struct {
	Name    string `json:"name" required:"true"`
	StringV string `json:"stringV"`
}

type paging struct {
	PageSize *int    `json:"pageSize"`
	Token    *string `json:"continuationToken"`
}

type level string

func (l *level) UnmarshalText(b []byte) error {
	if strings.EqualFold(string(b), "high") {
		*l = "High"
		return nil
	}
	return fault.New(fault.Invalid, "must be High")
}

type everything struct {
	ID         string                              `path:"id"`
	Verify     *bool                               `query:"verify"`
	Limit      int                                 `query:"limit"`
	IfMatch    httpapi.Match                       `header:"If-Match"`
	Name       string                              `json:"name" required:"true"`
	Count      int32                               `json:"count"`
	Ratio      float64                             `json:"ratio"`
	On         bool                                `json:"on"`
	Level      level                               `json:"level"`
	Levels     []level                             `json:"levels"`
	Status     httpapi.OneOrMany[string]           `json:"status" enum:"Open,Resolved"`
	Kind       string                              `json:"kind" enum:"A,B"`
	Env        httpapi.Optional[string]            `json:"environment"`
	Owner      httpapi.Optional[map[string]string] `json:"owner"`
	Properties []property                          `json:"properties"`
	Tags       map[string]string                   `json:"tags"`
	Until      time.Time                           `json:"until"`
	Raw        json.RawMessage                     `json:"raw"`
	Any        any                                 `json:"any"`
	Untagged   string
	paging
}

func (e *everything) Validate() error {
	if e.Name == "bad" {
		return fault.Field("name", "must not be bad")
	}
	return nil
}

// bound sends one request. It returns the input that the handler received, or
// the details of the error response.
func bound(t *testing.T, target, body string, headers ...string) (got everything, details []fault.Detail, status int) {
	t.Helper()
	h := httpapi.JSON(func(_ context.Context, in everything) (any, error) { got = in; return nil, nil })
	m := mux(t, httpapi.Options{}, public("POST /x/{id}", h))
	res := request(m, "POST", target, body, headers...)
	var answer struct{ Errors []fault.Detail }
	if res.StatusCode != 200 {
		if err := json.Unmarshal([]byte(text(t, res)), &answer); err != nil {
			t.Fatal(err)
		}
	}
	return got, answer.Errors, res.StatusCode
}

func TestBindFillsEveryKindOfField(t *testing.T) {
	t.Parallel()
	got, _, status := bound(t, "/x/1%2F2?verify=false&limit=3&other=%zz", `{
		"NAME": "n", "count": 7.0, "ratio": 1e-2, "on": true, "level": "HIGH", "levels": ["high"], "status": "open", "kind": "b",
		"environment": null, "owner": {"a": "b"}, "properties": [{"name": "x", "stringV": "\u00e9\n"}], "tags": {"a": "b"},
		"until": "2026-01-02T03:04:05.678Z", "raw": {"a": [1]}, "any": [1, "x", null, true, {"a": {}}],
		"pageSize": 5, "continuationToken": null, "Untagged": "no", "ID": "no", "surprise": [{}]}`, "If-Match", `"v1"`)
	if status != 200 {
		t.Fatalf("status %d", status)
	}
	five, no := 5, false
	want := everything{
		ID: "1/2", Verify: &no, Limit: 3, Name: "n", Count: 7, Ratio: 0.01, On: true, Level: "High", Levels: []level{"High"},
		Status: httpapi.OneOrMany[string]{"Open"}, Kind: "B", Env: httpapi.Optional[string]{Sent: true, Null: true},
		Owner: httpapi.Some(map[string]string{"a": "b"}), Properties: []property{{"x", "é\n"}}, Tags: map[string]string{"a": "b"},
		Until: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), Raw: json.RawMessage(`{"a": [1]}`),
		Any:    []any{1.0, "x", nil, true, map[string]any{"a": map[string]any{}}},
		paging: paging{PageSize: &five},
	}
	if !got.IfMatch.Sent() || !got.IfMatch.Allows("v1") || got.IfMatch.Allows("v2") {
		t.Error("If-Match was not read")
	}
	got.IfMatch = httpapi.Match{}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(everything{}, httpapi.Match{})); diff != "" {
		t.Errorf("bound (-want +got):\n%s", diff)
	}
}

func TestBindReportsEveryBadMember(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ body, want string }{
		{`{}`, "name is missing"},
		{``, "name is missing"},
		{"  \n ", "name is missing"},
		{`{"name": null}`, "name must be a string, not null"},
		{`{"name": 7, "environment": 8}`, "name must be a string; environment must be a string"},
		{`{"name": "n", "count": 1.5}`, "count must be an integer"},
		{`{"name": "n", "count": 2147483648}`, "count is out of range"},
		{`{"name": "n", "count": 1e30}`, "count is out of range"},
		{`{"name": "n", "count": 99999999999999999999}`, "count is out of range"},
		{`{"name": "n", "count": "1"}`, "count must be an integer"},
		{`{"name": "n", "ratio": 1e999}`, "ratio is out of range"},
		{`{"name": "n", "any": [0, 1e999]}`, "any[1] is out of range"},
		{`{"name": "n", "on": "yes"}`, "on must be a boolean"},
		{`{"name": "n", "levels": ["high", 7, null, "low"]}`,
			"levels[1] must be a string; levels[2] must be a string, not null; levels[3] must be High"},
		{`{"name": "n", "status": ["open", "x"]}`, "status[1] must be one of Open, Resolved"},
		{`{"name": "n", "status": 7}`, "status must be a string"},
		{`{"name": "n", "kind": "c"}`, "kind must be one of A, B"},
		{`{"name": "n", "properties": [{"stringV": 7}, "x"]}`,
			"properties[0].stringV must be a string; properties[0].name is missing; properties[1] must be an object"},
		{`{"name": "n", "properties": {}}`, "properties must be an array"},
		{`{"name": "n", "tags": {"a": 7, "b": "c"}}`, "tags.a must be a string"},
		{`{"name": "n", "tags": []}`, "tags must be an object"},
		{`{"name": "n", "until": "yesterday"}`, "until must be an RFC 3339 time such as 2026-01-31T12:00:00.000Z"},
		{`{"name": "a\u0000b"}`, "name must not hold a NUL character"},
		{`{"name": "n", "raw": {"a": ["\u0000"]}}`, "raw.a[0] must not hold a NUL character"},
		{`{"name": "n", "name": "m"}`, "name is given twice"},
		{`{"name": "n", "NAME": "m"}`, "NAME is given twice"},
		{`{"name": "n", "other": {"a": 1, "a": 2}}`, "other.a is given twice"},
		{`[]`, "body must be an object"},
		{`null`, "body must be an object, not null"},
		{`"x"`, "body must be an object"},
		{`{"name": "bad"}`, "name must not be bad"},
	} {
		_, details, status := bound(t, "/x/1", tt.body)
		var messages []string
		for _, d := range details {
			messages = append(messages, d.Path+" "+d.Message)
		}
		if diff := cmp.Diff(tt.want, strings.Join(messages, "; ")); diff != "" || status != 400 {
			t.Errorf("%s: status %d (-want +got):\n%s", tt.body, status, diff)
		}
	}
}

func TestBindRefusesInvalidJSON(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"name": `, `{} x`, `{}{}`, `{'a': 1}`, `{"a": NaN}`, `{"a": 1,}`, "{\"name\": \"\xff\"}", `{"a": 01}`, "\ufeff{}", "{\"a\": \"\t\"}",
		// Nested too deeply: more than 64 levels.
		strings.Repeat("[", 100000), `{"a": ` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
	} {
		_, details, status := bound(t, "/x/1", body)
		if status != 400 || details != nil {
			t.Errorf("%.40q: status %d, details %v", body, status, details)
		}
	}
}

func TestBindReportsBadParameters(t *testing.T) {
	t.Parallel()
	_, details, status := bound(t, "/x/1?verify=maybe&limit=x", `{"name": 7}`)
	want := []fault.Detail{{Path: "name", Message: "must be a string"}, {Path: "verify", Message: "must be true or false"},
		{Path: "limit", Message: "must be an integer"}}
	if diff := cmp.Diff(want, details); diff != "" || status != 400 {
		t.Errorf("status %d (-want +got):\n%s", status, diff)
	}
	if _, _, status := bound(t, "/x/1?limit=%00", `{"name": "n"}`); status != 400 {
		t.Errorf("NUL in a parameter: status %d", status)
	}
	// url.ParseQuery fails for so many parameters and returns none.
	if _, details, status := bound(t, "/x/1?limit=x"+strings.Repeat("&a", 10000), `{"name": "n"}`); status != 400 || len(details) != 1 || details[0].Path != "limit" {
		t.Errorf("a parameter before many others: status %d, details %v", status, details)
	}
	for _, query := range []string{"verify=%zz&limit=3", "limit=3&verify=true;other=1", "other=1;verify=true&limit=3", "verify=true&verify=%e"} {
		_, details, status := bound(t, "/x/1?"+query, `{"name": "n"}`)
		want := []fault.Detail{{Path: "verify", Message: "is not encoded as a URL parameter"}}
		if diff := cmp.Diff(want, details); diff != "" || status != 400 {
			t.Errorf("%s: status %d (-want +got):\n%s", query, status, diff)
		}
	}
}

func TestUnbindableInputTypesPanicAtConstruction(t *testing.T) {
	t.Parallel()
	refused := func(name string, build func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s was accepted", name)
			}
		}()
		build()
	}
	refused("an input that is not a struct", func() { httpapi.JSON(func(context.Context, *everything) (any, error) { return nil, nil }) })
	refused("a channel", func() {
		httpapi.JSON(func(context.Context, struct {
			C []chan int `json:"c"`
		}) (any, error) {
			return nil, nil
		})
	})
	refused("a parameter that is a list of integers", func() {
		httpapi.JSON(func(context.Context, struct {
			P []int `query:"p"`
		}) (any, error) {
			return nil, nil
		})
	})
}

func TestWholeBodies(t *testing.T) {
	t.Parallel()
	type raw struct {
		Body []byte `body:""`
	}
	type list struct {
		Body []property `body:""`
	}
	m := mux(t, httpapi.Options{},
		public("POST /raw", httpapi.JSON(func(_ context.Context, in raw) (string, error) { return string(in.Body), nil })),
		public("POST /list", httpapi.JSON(func(_ context.Context, in list) (int, error) { return len(in.Body), nil })))
	for _, tt := range []struct {
		target, body string
		status       int
		want         string
	}{
		{"/raw", "\x00 anything", 200, `"\u0000 anything"`},
		{"/list", `[{"name": "a"}, {"name": "b"}]`, 200, "2"},
		{"/list", `[{"name": "a"}, {}]`, 400, `{"message":"[1].name is missing","statusCode":400,"errors":[{"path":"[1].name","message":"is missing"}]}`},
		{"/list", ``, 400, `{"message":"the body is not valid JSON: unexpected end of JSON input (line 1, column 1)","statusCode":400}`},
		{"/list", "[\n  x]", 400, `{"message":"the body is not valid JSON: invalid character 'x' looking for beginning of value (line 2, column 3)","statusCode":400}`},
		{"/list", "[\n  \"a\n\"]", 400, `{"message":"the body is not valid JSON: invalid character '\\n' in string literal (line 2, column 5)","statusCode":400}`},
	} {
		res := request(m, "POST", tt.target, tt.body)
		if diff := cmp.Diff(tt.want, text(t, res)); diff != "" || res.StatusCode != tt.status {
			t.Errorf("%s %q: status %d (-want +got):\n%s", tt.target, tt.body, res.StatusCode, diff)
		}
	}
}

func TestMatchReadsIfMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		header  string
		sent    bool
		allows  []string
		refuses []string
	}{
		{"", false, []string{"v1", "v2"}, nil},
		{`"v1"`, true, []string{"v1", `"v1"`, `W/"v1"`}, []string{"v2", ""}},
		{`v1`, true, []string{"v1"}, []string{"v2"}},
		{`W/"v1", "v2"`, true, []string{"v1", "v2"}, []string{"v3"}},
		{`*`, true, []string{"v1"}, nil},
		{`"`, true, nil, []string{"v1"}}, // an empty tag, which no version has
	} {
		var in struct {
			Match httpapi.Match `header:"If-Match"`
		}
		r := post(nil)
		r.Header.Set("If-Match", tt.header)
		if err := httpapi.Bind(r, &in); err != nil {
			t.Fatal(err)
		}
		if in.Match.Sent() != tt.sent {
			t.Errorf("If-Match: %s: sent %t, want %t", tt.header, in.Match.Sent(), tt.sent)
		}
		if err := in.Match.Require(); fault.Is(err, fault.VersionRequired) != !tt.sent {
			t.Errorf("If-Match: %s: Require returned %v", tt.header, err)
		}
		for _, tag := range tt.allows {
			if err := in.Match.Check(tag); err != nil {
				t.Errorf("If-Match: %s and version %s: %v", tt.header, tag, err)
			}
		}
		for _, tag := range tt.refuses {
			if err := in.Match.Check(tag); !fault.Is(err, fault.Stale) {
				t.Errorf("If-Match: %s and version %s: %v", tt.header, tag, err)
			}
		}
	}
}

func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	type in struct {
		Few    []string            `json:"few" maxItems:"2"`
		Labels map[string]string   `json:"labels" maxItems:"2"`
		Items  []property          `json:"items" maxItems:"3"`
		Many   []string            `json:"many"`
		Nested map[string][]string `json:"nested"`
	}
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") + "]" }
	nested := func(n, m int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%s,`, i, list(m))
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	m := mux(t, httpapi.Options{}, public("POST /x", httpapi.JSON(func(_ context.Context, i in) (int, error) { return len(i.Few), nil })))
	for _, tt := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"at the limit", `{"few":["a","b"],"labels":{"a":"1","b":"2"}}`, 200, "2"},
		{"a list above it", `{"few":["a","b","c"]}`, 400, "few must have at most 2 elements"},
		{"members after it are still checked", `{"few":["a","b","c",{"d":[1]}],"labels":1}`, 400, `{"path":"labels","message":"must be an object"}`},
		{"a map above it", `{"labels":{"a":"1","b":"2","c":"3","d":4}}`, 400, "labels must have at most 2 members"},
		{"reported even with many other errors", `{"items":[` + strings.TrimSuffix(strings.Repeat("{},", 500), ",") + `]}`, 400, "items must have at most 3 elements"},
		{"the default", `{"many":` + list(1000) + `}`, 200, "0"},
		{"above the default", `{"many":` + list(1001) + `}`, 400, "many must have at most 1000 elements"},
		{"a list within a map", `{"nested":{"k":` + list(1001) + `}}`, 400, "nested.k must have at most 1000 elements"},
		// The members of the map count too: 900 + 900×10 = 9900, and 900 + 900×11 = 10800.
		{"all lists together", `{"nested":` + nested(900, 10) + `}`, 200, "0"},
		{"all lists together above it", `{"nested":` + nested(900, 11) + `}`, 400, "all lists of a request together must have at most 10000 elements"},
	} {
		res := request(m, "POST", "/x", tt.body)
		if got := text(t, res); res.StatusCode != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %d %s, want %d with %q", tt.name, res.StatusCode, got, tt.status, tt.want)
		}
	}
}
