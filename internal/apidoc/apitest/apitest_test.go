package apitest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

const document = `openapi: 3.1.0
info: {title: Things, version: "1"}
security: [{bearer: []}]
paths:
  /things:
    get:
      operationId: listThings
      security: []
      parameters: [{name: limit, in: query, schema: {type: integer, minimum: 1}}]
      responses:
        '200':
          description: all
          content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}
        '400': {$ref: '#/components/responses/Problem'}
    post:
      operationId: addThing
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
      responses:
        '201':
          description: new
          headers: {Location: {required: true, schema: {type: string, pattern: ^/things/}}, X-Count: {schema: {type: integer}}}
          content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}
        '400': {$ref: '#/components/responses/Problem'}
        '401': {$ref: '#/components/responses/Problem'}
        '413': {$ref: '#/components/responses/Problem'}
  /things/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getThing
      responses:
        '200': {description: it, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
        '401': {$ref: '#/components/responses/Problem'}
        '404': {$ref: '#/components/responses/Problem'}
    delete:
      operationId: removeThing
      responses:
        '204': {description: gone}
        '401': {$ref: '#/components/responses/Problem'}
components:
  securitySchemes: {bearer: {type: http, scheme: bearer}}
  responses:
    Problem: {description: no, content: {application/json: {schema: {$ref: '#/components/schemas/Error'}}}}
  schemas:
    Error:
      type: object
      required: [message, statusCode]
      properties: {message: {type: string, minLength: 1}, statusCode: {type: integer}}
    Thing:
      type: object
      required: [name, kind]
      properties:
        name: {type: string, minLength: 1}
        kind: {type: string, enum: [Big, Small]}
        count: {type: [integer, 'null'], format: int32, minimum: 0}
        tags: {type: object, additionalProperties: {type: string}}
        parts: {type: array, items: {$ref: '#/components/schemas/Thing'}}
`

type thing struct {
	Name  string            `json:"name" required:"true"`
	Kind  string            `json:"kind" required:"true" enum:"Big,Small"`
	Count *int32            `json:"count,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	Parts []thing           `json:"parts,omitempty"`
}

func (t *thing) Validate() error {
	if t.Name == "" {
		return fault.Field("name", "must not be empty")
	}
	for i := range t.Parts {
		if err := t.Parts[i].Validate(); err != nil {
			return fault.Field(fmt.Sprintf("parts[%d]", i), "is not valid")
		}
	}
	if t.Count != nil && *t.Count < 0 {
		return fault.Field("count", "must not be negative")
	}
	return nil
}

type idPath struct {
	ID string `path:"id"`
}

func routes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /things", Need: httpapi.Public, Operation: "listThings",
			Handler: httpapi.JSON(func(_ context.Context, in struct {
				Limit int `query:"limit"`
			}) ([]thing, error) {
				return []thing{{Name: "a", Kind: "Big"}}, nil
			})},
		{Pattern: "POST /things", Need: "user", Operation: "addThing",
			Handler: httpapi.JSON(func(_ context.Context, in thing) (httpapi.Reply, error) {
				return httpapi.Created("/things/1", "", in), nil
			})},
		{Pattern: "GET /things/{id}", Need: "user", Operation: "getThing",
			Handler: httpapi.JSON(func(_ context.Context, in idPath) (thing, error) {
				if in.ID != "1" {
					return thing{}, fault.New(fault.NotFound, "no thing %q", in.ID)
				}
				return thing{Name: "one", Kind: "Small"}, nil
			})},
		{Pattern: "DELETE /things/{id}", Need: "user", Operation: "removeThing",
			Handler: httpapi.JSON(func(context.Context, idPath) (httpapi.Reply, error) { return httpapi.NoContent(), nil })},
		{Pattern: "GET /", Need: httpapi.Public, Operation: "home", Hidden: true,
			Handler: httpapi.JSON(func(context.Context, httpapi.None) (httpapi.Reply, error) { return httpapi.Text("hello"), nil })},
	}
}

func guard(r *http.Request, _ string) (context.Context, error) {
	if r.Header.Get("Authorization") != "Bearer good" {
		return nil, fault.New(fault.Unauthenticated, "a token is needed")
	}
	return r.Context(), nil
}

func serve(t *testing.T, rs []httpapi.Route) http.Handler {
	t.Helper()
	off := httpapi.Rate{}
	m, err := httpapi.NewMux(rs, httpapi.Options{Guard: guard, Rates: map[string]httpapi.Rate{httpapi.RateDefault: off, httpapi.RateRefused: off}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// errorCollector is a testing.TB that collects errors, for tests of failing checks.
type errorCollector struct {
	testing.TB
	reported []string
}

func (c *errorCollector) Helper()             {}
func (c *errorCollector) Logf(string, ...any) {}
func (c *errorCollector) Error(args ...any)   { c.reported = append(c.reported, fmt.Sprint(args...)) }
func (c *errorCollector) Errorf(format string, args ...any) {
	c.reported = append(c.reported, fmt.Sprintf(format, args...))
}

func (c *errorCollector) requireError(t *testing.T, want string) {
	t.Helper()
	if !strings.Contains(strings.Join(c.reported, "\n"), want) {
		t.Errorf("no error about %q: %q", want, c.reported)
	}
}

func TestRoutesAreComparedWithTheDocument(t *testing.T) {
	t.Parallel()
	d := apitest.Load(t, []byte(document))
	d.CheckRoutes(t, routes())
	missing := routes()[1:]
	extra := append(routes(), httpapi.Route{Pattern: "GET /x", Operation: "x", Need: "user"})
	open := routes()
	open[1].Need = httpapi.Public
	renamed := routes()
	renamed[1].Operation = "other"
	for want, rs := range map[string][]httpapi.Route{
		"GET /things as listThings": missing, "GET /x as x": extra, "addThing, open to anybody": open, "POST /things as other": renamed,
	} {
		c := &errorCollector{TB: t}
		d.CheckRoutes(c, rs)
		c.requireError(t, want)
	}
}

func TestClientAcceptsAndCountsValidResponses(t *testing.T) {
	t.Parallel()
	d := apitest.Load(t, []byte(document))
	d.Hide(t, routes())
	s := httptest.NewServer(serve(t, routes()))
	defer s.Close()
	client := d.Client(t, nil)
	for _, c := range []struct {
		method, path, token, body string
		status                    int
	}{
		{"GET", "/things", "", "", 200}, {"GET", "/things?limit=x", "", "", 400},
		// The server ignores the case of kind and answers with Big, as documented.
		{"POST", "/things", "good", `{"name":"n","kind":"big","count":null}`, 201},
		{"POST", "/things", "bad", "", 401}, {"POST", "/things", "good", "{", 400}, {"GET", "/things/1", "good", "", 200}, {"HEAD", "/things/1", "good", "", 200},
		{"GET", "/things/2", "good", "", 404}, {"DELETE", "/things/1", "good", "", 204}, {"GET", "/none", "", "", 404}, {"PATCH", "/things", "", "", 405},
		{"OPTIONS", "/things", "", "", 204}, {"GET", "/", "", "", 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, res.StatusCode, c.status)
		}
	}
	if diff := cmp.Diff([]string{"addThing 413", "getThing 401", "removeThing 401"}, d.Unseen()); diff != "" {
		t.Errorf("unseen (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"addThing 413"}, d.Unseen(401)); diff != "" {
		t.Errorf("unseen (-want +got):\n%s", diff)
	}
}

func TestClientReportsInvalidResponses(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Request-Id", "1")
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	valid := `{"name":"a","kind":"Big"}`
	for _, tt := range []struct {
		method, path string
		answer       http.HandlerFunc
		want         string
	}{
		{"GET", "/things", answer(200, `null`), "not as documented"},
		{"GET", "/things", answer(200, `[{"name":"a"}]`), "missing property 'kind'"},
		{"GET", "/things", answer(200, `[{"name":"a","kind":"big"}]`), "/0/kind"},
		{"GET", "/things", answer(200, `[{"name":"a","kind":"Big","parts":[{"name":7}]}]`), "/0/parts/0"},
		{"GET", "/things", answer(200, `[`), "not JSON"},
		{"GET", "/things", answer(409, `{"message":"x","statusCode":409}`), "does not document status 409"},
		{"GET", "/things", answer(400, `{"error":"x"}`), "missing properties"},
		{"GET", "/things", answer(200, `[]`, "Content-Type", "text/html"), "text/html is not documented"},
		{"GET", "/things", answer(200, `[]`, "X-Request-Id", ""), "no X-Request-Id"},
		{"POST", "/things", answer(201, valid), "header Location is missing"},
		{"POST", "/things", answer(201, valid, "Location", "elsewhere"), "header Location"},
		{"POST", "/things", answer(201, valid, "Location", "/things/1", "X-Count", "many"), "header X-Count"},
		{"DELETE", "/things/1", answer(404, `{}`), "does not document status 404"},
		{"GET", "/none", answer(200, `{}`), "want 404"},
		{"GET", "/none", answer(404, `{}`), "not as documented"},
		{"PUT", "/things", answer(405, `{"message":"x","statusCode":405}`), "no Allow"},
	} {
		s := httptest.NewServer(tt.answer)
		c := &errorCollector{TB: t}
		r, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := apitest.Load(t, []byte(document)).Client(c, nil).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		c.requireError(t, tt.want)
		s.Close()
	}
}

// TestEqualBodiesAreCheckedPerSchema checks that a body that is valid for one response is
// reported for another whose schema differs, also when it was checked before.
func TestEqualBodiesAreCheckedPerSchema(t *testing.T) {
	t.Parallel()
	d := apitest.Load(t, []byte(document))
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://server.invalid/things", nil)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"X-Request-Id": {"1"}, "Content-Type": {"application/json"}}
	for range 2 {
		if err := d.Check(r, &http.Response{StatusCode: 200, Header: header}, []byte("[]")); err != nil {
			t.Error(err)
		}
		if err := d.Check(r, &http.Response{StatusCode: 400, Header: header}, []byte("[]")); err == nil {
			t.Error("a list was accepted as an error")
		}
	}
}

func torture(d *apitest.Document, h http.Handler) apitest.Torture {
	return apitest.Torture{Document: d, Handler: h, N: 1500, Seed: 1, Known: map[string][]string{"id": {"1"}},
		Authorize: func(h http.Header) { h.Set("Authorization", "Bearer good") }}
}

func TestTorturePassesWithAGoodServer(t *testing.T) {
	t.Parallel()
	d := apitest.Load(t, []byte(document))
	d.Hide(t, routes())
	report := torture(d, serve(t, routes())).Run(t)
	if unseen := d.Unseen(); len(unseen) > 0 {
		t.Errorf("never got %v (statuses %v)", unseen, report.Statuses)
	}
}

func TestTortureFindsFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		handle func(context.Context, thing) (httpapi.Reply, error)
		want   string
	}{
		"a panic on an unlikely value": {func(_ context.Context, in thing) (httpapi.Reply, error) {
			if in.Count != nil && *in.Count == 0 {
				panic("divided by zero")
			}
			return httpapi.Created("/things/1", "", in), nil
		}, "answered 500"},
		"an undocumented status": {func(_ context.Context, in thing) (httpapi.Reply, error) {
			if strings.ContainsFunc(in.Name, func(r rune) bool { return r > 0x7f }) {
				return httpapi.Reply{}, fault.New(fault.Conflict, "plain letters only")
			}
			return httpapi.Created("/things/1", "", in), nil
		}, "does not document status 409"},
		"a wrong body": {func(_ context.Context, in thing) (httpapi.Reply, error) {
			return httpapi.Created("/things/1", "", map[string]any{"name": 7}), nil
		}, "not as documented"},
		"a slow answer": {func(ctx context.Context, in thing) (httpapi.Reply, error) {
			<-time.After(time.Duration(len(in.Tags)) * 40 * time.Millisecond)
			return httpapi.Created("/things/1", "", in), nil
		}, "after"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rs := routes()
			rs[1].Handler = httpapi.JSON(tt.handle)
			d := apitest.Load(t, []byte(document))
			d.Hide(t, rs)
			x := torture(d, serve(t, rs))
			if tt.want == "after" {
				x.Slow = 20 * time.Millisecond
			}
			c := &errorCollector{TB: t}
			x.Run(c)
			c.requireError(t, tt.want)
		})
	}
}

func TestTortureFailsWhenItTestsNothing(t *testing.T) {
	t.Parallel()
	d := apitest.Load(t, []byte(document))
	d.Hide(t, routes())
	rs := routes()
	rs[0].Need = "user" // now every documented route needs a token, and no request has a valid one
	x := torture(d, serve(t, rs))
	x.N, x.Authorize = 200, nil
	c := &errorCollector{TB: t}
	x.Run(c)
	c.requireError(t, "this tests nothing")
}
