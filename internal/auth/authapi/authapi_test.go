package authapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/audit"
	"vigil/internal/audit/auditapi"
	"vigil/internal/audit/auditdb"
	"vigil/internal/auth"
	"vigil/internal/auth/authapi"
	"vigil/internal/auth/authdb"
	"vigil/internal/cursor"
	"vigil/internal/httpapi"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

const authorize = "/csp/gateway/am/api/auth/api-tokens/authorize"

// server is a running server with two organisations.
type server struct {
	t          *testing.T
	url        string
	registry   *auth.Registry
	log        *audit.Log
	lines      *lines
	adminToken string
	otherToken string
	org        auth.OrgID
}

// lines collects the log output.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func start(t *testing.T, db *sqldb.DB) *server {
	t.Helper()
	ctx, box, store := t.Context(), secrettest.NewBox(t), authdb.NewStore(db)
	for _, err := range []error{authdb.Migrate(ctx, db), auditdb.Migrate(ctx, db)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	registry := auth.NewRegistry(store, nil)
	keys := auth.NewKeys(store, box, auth.KeyOptions{Realm: "posture", Issuer: "https://vigil.test"})
	gate := auth.NewAuthenticator(registry, keys, auth.AuthenticatorOptions{Audience: "posture"})
	log, err := audit.Open(ctx, auditdb.NewStore(db), box, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, registry: registry, log: log, lines: &lines{}}
	routes := append((&authapi.API{Registry: registry, Authenticator: gate, Keys: keys}).Routes(),
		(&auditapi.API{Log: log, Cursors: cursor.New(box)}).Routes()...)
	for _, role := range auth.Roles {
		routes = append(routes, httpapi.Route{
			Pattern: "POST /need/" + role.String(), Need: role.String(), Operation: "need", Safe: true,
			Handler: httpapi.JSON(func(ctx context.Context, _ httpapi.None) (auth.Role, error) {
				c, _ := auth.CallerFrom(ctx)
				return c.Role, nil
			}),
		})
	}
	mux, err := httpapi.NewMux(routes, httpapi.Options{
		Guard: authapi.Guard(gate, nil), Audit: auditapi.Recorder(log),
		Log: slog.New(slog.NewJSONHandler(s.lines, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	s.org, s.adminToken = s.addOrg("acme")
	_, s.otherToken = s.addOrg("other")
	return s
}

func (s *server) addOrg(name string) (auth.OrgID, string) {
	s.t.Helper()
	o, u, err := s.registry.CreateOrg(s.t.Context(), name, "admin")
	if err != nil {
		s.t.Fatal(err)
	}
	_, text, err := s.registry.IssueToken(s.t.Context(), auth.Operator(o.ID), auth.TokenEdit{Name: "first", User: u.ID})
	if err != nil {
		s.t.Fatal(err)
	}
	return o.ID, text.Reveal()
}

// answer is a response of the server.
type answer struct {
	status int
	header http.Header
	text   string
	json   map[string]any
}

func (s *server) send(method, path, bearer, body string, header ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, text: string(data)}
	_ = json.Unmarshal(data, &a.json)
	return a
}

// want fails the test unless the answer has the status.
func (s *server) want(what string, a answer, status int) answer {
	s.t.Helper()
	if a.status != status {
		s.t.Fatalf("%s: %d %s, want %d", what, a.status, a.text, status)
	}
	return a
}

func (s *server) exchange(token string) string {
	s.t.Helper()
	a := s.want("exchange", s.send("POST", authorize, "", url.Values{"refresh_token": {token}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded"), 200)
	return a.json["access_token"].(string)
}

func onBothDatabases(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) { test(t, start(t, db)) })
}

func TestExchange(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *server) {
		form := []string{"Content-Type", "application/x-www-form-urlencoded"}
		escaped := url.QueryEscape(s.adminToken)
		for _, tt := range []struct {
			name, path, body string
			header           []string
			status           int
		}{
			{"form field", authorize, "refresh_token=" + escaped, form, 200},
			{"form field without content type", authorize, "refresh_token=" + escaped, nil, 200},
			{"query parameter", authorize + "?refresh_token=" + escaped, "", nil, 200},
			{"trailing slash", authorize + "/", "refresh_token=" + escaped, form, 200},
			{"nothing", authorize, "", form, 400},
			{"empty", authorize, "refresh_token=", form, 400},
			{"unknown token", authorize, "refresh_token=no-such-token-" + strings.Repeat("x", 40), form, 400},
			{"too large", authorize, "refresh_token=" + strings.Repeat("x", 20<<10), form, 413},
		} {
			a := s.send("POST", tt.path, "", tt.body, tt.header...)
			if a.status != tt.status || a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %s, Cache-Control %q; want %d, no-store", tt.name, a.status, a.text, a.header.Get("Cache-Control"), tt.status)
			}
			if tt.status != 200 {
				continue
			}
			// The access token is valid for 30 minutes; one second less is stated.
			for member, want := range map[string]any{"token_type": "bearer", "expires_in": 1799.0, "refresh_token": s.adminToken} {
				if a.json[member] != want {
					t.Errorf("%s: %s is %v, want %v", tt.name, member, a.json[member], want)
				}
			}
			s.want("use", s.send("GET", "/v1/users", a.json["access_token"].(string), ""), 200)
			s.want("id_token as access token", s.send("GET", "/v1/users", a.json["id_token"].(string), ""), 401)
		}
	})
}

func TestKeysArePublished(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *server) {
		s.exchange(s.adminToken)
		a := s.want("keys", s.send("GET", "/.well-known/jwks.json", "", ""), 200)
		keys := a.json["keys"].([]any)
		if len(keys) != 1 || keys[0].(map[string]any)["kty"] != "OKP" || keys[0].(map[string]any)["d"] != nil {
			t.Errorf("keys %s", a.text)
		}
		if got := a.header.Get("Cache-Control"); got != "public, max-age=300" {
			t.Errorf("Cache-Control %q", got)
		}
	})
}

func TestEveryRouteRequiresItsRole(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *server) {
		admin := s.exchange(s.adminToken)
		access := map[auth.Role]string{auth.Admin: admin}
		for _, role := range []auth.Role{auth.Viewer, auth.Analyst} {
			a := s.want("make token", s.send("POST", "/v1/api-tokens", admin, `{"name":"x","role":"`+role.String()+`"}`), 201)
			access[role] = s.exchange(a.json["token"].(string))
		}
		for held, token := range access {
			for _, need := range auth.Roles {
				want := 403
				if held >= need {
					want = 200
				}
				a := s.want(held.String()+" at "+need.String(), s.send("POST", "/need/"+need.String(), token, ""), want)
				if want == 200 && a.text != `"`+held.String()+`"`+"\n" {
					t.Errorf("the handler saw %s, want %s", a.text, held)
				}
			}
		}
		for _, route := range append((&authapi.API{}).Routes(), (&auditapi.API{}).Routes()...) {
			if route.Need == httpapi.Public {
				continue
			}
			method, path, _ := strings.Cut(route.Pattern, " ")
			a := s.want(route.Pattern+" without a token", s.send(method, path, "", "{}"), 401)
			if a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: no challenge", route.Pattern)
			}
			if route.Need == "admin" {
				s.want(route.Pattern+" as analyst", s.send(method, path, access[auth.Analyst], "{}"), 403)
			}
		}
		s.want("users as viewer", s.send("GET", "/v1/users", access[auth.Viewer], ""), 200)
		// Only the first nine characters of a header are the name of its case, so that the output does not contain the token.
		for _, header := range []string{"bearer " + admin, "BEARER " + admin, "Bearer   " + admin} {
			s.want(header[:9], s.send("GET", "/v1/users", "", "", "Authorization", header), 200)
		}
		for _, header := range []string{admin, "Bearer", "Bearer ", "Basic " + admin, "Bearer made-up", "Bearer " + s.adminToken, "Token " + admin} {
			s.want(header[:min(9, len(header))], s.send("GET", "/v1/users", "", "", "Authorization", header), 401)
		}
		s.want("two headers", s.send("GET", "/v1/users", "", "", "Authorization", "Bearer "+admin, "Authorization", "Bearer "+admin), 401)
	})
}

func TestAPITokensAreCreatedListedAndRevoked(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *server) {
		admin := s.exchange(s.adminToken)
		expiry := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		a := s.want("create", s.send("POST", "/v1/api-tokens", admin, `{"name":" ci ","role":"Viewer","expiryTime":"`+expiry+`"}`), 201)
		id, text := a.json["id"].(string), a.json["token"].(string)
		if a.header.Get("Location") != "/v1/api-tokens/"+id || a.json["name"] != "ci" || a.json["role"] != "viewer" ||
			!strings.HasPrefix(text, a.json["hint"].(string)) {
			t.Errorf("created %s", a.text)
		}
		access := s.exchange(text)
		s.want("in use", s.send("POST", "/need/viewer", access, ""), 200)
		all := s.want("list", s.send("GET", "/v1/api-tokens", admin, ""), 200)
		if all.json["totalCount"] != 2.0 || strings.Contains(all.text, text) || !strings.Contains(all.text, id) {
			t.Errorf("list %s", all.text)
		}
		other := s.exchange(s.otherToken)
		foreign := s.want("revoked by another organisation", s.send("DELETE", "/v1/api-tokens/"+id, other, ""), 404)
		unknown := s.want("unknown", s.send("DELETE", "/v1/api-tokens/nobody", other, ""), 404)
		if foreign.text != unknown.text {
			t.Errorf("a token of another organisation: %s, want the same as for an unknown token: %s", foreign.text, unknown.text)
		}
		deleted := s.want("revoke", s.send("DELETE", "/v1/api-tokens/"+id, admin, ""), 200)
		if deleted.json["id"] != id {
			t.Errorf("revoked %s", deleted.text)
		}
		s.want("access token after revocation", s.send("POST", "/need/viewer", access, ""), 401)
		s.want("exchange after revocation", s.send("POST", authorize, "", "refresh_token="+text), 400)
		s.want("revoke again", s.send("DELETE", "/v1/api-tokens/"+id, admin, ""), 404)
		for body, path := range map[string]string{
			`{}`:                         "name",
			`{"name":""}`:                "name",
			`{"name":1}`:                 "name",
			`{"name":"x","role":"root"}`: "role",
			`{"name":"x","expiryTime":"2001-01-01T00:00:00Z"}`: "expiryTime",
			`{"name":"x","expiryTime":"soon"}`:                 "expiryTime",
			`{"name":"x","userId":"nobody"}`:                   "userId",
		} {
			a := s.want(body, s.send("POST", "/v1/api-tokens", admin, body), 400)
			if !strings.Contains(a.text, `"path":"`+path+`"`) {
				t.Errorf("%s: %s does not name %s", body, a.text, path)
			}
		}
	})
}

func TestUsersAreVersionedAndKeepAnAdmin(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *server) {
		admin := s.exchange(s.adminToken)
		a := s.want("create", s.send("POST", "/v1/users", admin, `{"name":"Ana","email":"ana@example.org","role":"analyst"}`), 201)
		path, tag := a.header.Get("Location"), a.header.Get("ETag")
		if tag != `"1"` || a.json["status"] != "active" || a.json["eTag"] != "1" || path != "/v1/users/"+a.json["id"].(string) {
			t.Errorf("created %s, tag %s", a.text, tag)
		}
		s.want("same name", s.send("POST", "/v1/users", admin, `{"name":"ANA","role":"viewer"}`), 409)
		a = s.want("change", s.send("PUT", path, admin, `{"name":"Ana","role":"viewer","status":"disabled"}`, "If-Match", tag), 200)
		if a.json["email"] != "ana@example.org" || a.json["status"] != "disabled" || a.header.Get("ETag") != `"2"` {
			t.Errorf("changed %s", a.text)
		}
		s.want("stale change", s.send("PUT", path, admin, `{"name":"x","role":"viewer"}`, "If-Match", tag), 412)
		s.want("stale removal", s.send("DELETE", path, admin, "", "If-Match", tag), 412)
		a = s.want("email cleared", s.send("PUT", path, admin, `{"name":"Ana","email":null,"role":"viewer"}`), 200)
		if _, exists := a.json["email"]; exists || a.json["status"] != "disabled" {
			t.Errorf("changed %s", a.text)
		}
		s.want("null status", s.send("PUT", path, admin, `{"name":"Ana","role":"viewer","status":null}`), 400)
		read := s.want("read", s.send("GET", path, admin, ""), 200)
		if read.text != a.text || read.header.Get("ETag") != `"3"` {
			t.Errorf("read %s, tag %s", read.text, read.header.Get("ETag"))
		}
		other := s.exchange(s.otherToken)
		for _, call := range [][]string{{"GET", ""}, {"PUT", `{"name":"x","role":"viewer"}`}, {"DELETE", ""}} {
			foreign := s.want(call[0]+" of another organisation", s.send(call[0], path, other, call[1]), 404)
			unknown := s.want(call[0]+" unknown", s.send(call[0], "/v1/users/nobody", other, call[1]), 404)
			if foreign.text != unknown.text {
				t.Errorf("%s of a user of another organisation: %s, want the same as for an unknown user: %s", call[0], foreign.text, unknown.text)
			}
		}
		s.want("remove", s.send("DELETE", path, admin, "", "If-Match", `"3"`), 200)
		s.want("read removed", s.send("GET", path, admin, ""), 404)

		all := s.want("list", s.send("GET", "/v1/users", admin, ""), 200)
		ownPath := "/v1/users/" + all.json["results"].([]any)[0].(map[string]any)["id"].(string)
		s.want("last admin demoted", s.send("PUT", ownPath, admin, `{"name":"admin","role":"viewer"}`), 409)
		s.want("last admin disabled", s.send("PUT", ownPath, admin, `{"name":"admin","role":"admin","status":"disabled"}`), 409)
		s.want("last admin removed", s.send("DELETE", ownPath, admin, ""), 409)

		// An admin without a valid token does not count.
		second := s.want("a second admin", s.send("POST", "/v1/users", admin, `{"name":"second","role":"admin"}`), 201).json["id"].(string)
		s.want("the only admin who can log in, demoted", s.send("PUT", ownPath, admin, `{"name":"admin","role":"viewer"}`), 409)
		s.want("the only admin who can log in, removed", s.send("DELETE", ownPath, admin, ""), 409)
		s.want("a token with a lower role", s.send("POST", "/v1/api-tokens", admin, `{"name":"x","userId":"`+second+`","role":"viewer"}`), 201)
		s.want("the only admin with an admin token, demoted", s.send("PUT", ownPath, admin, `{"name":"admin","role":"viewer"}`), 409)
		s.want("a token", s.send("POST", "/v1/api-tokens", admin, `{"name":"x","userId":"`+second+`"}`), 201)
		s.want("demoted", s.send("PUT", ownPath, admin, `{"name":"admin","role":"viewer"}`), 200)
	})
}

func TestAuditIsCompletePagedAndWithoutSecrets(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *server) {
		admin := s.exchange(s.adminToken)
		created := s.want("create", s.send("POST", "/v1/api-tokens", admin, `{"name":"x"}`, "X-Request-Id", "my-request"), 201)
		user := s.want("create user", s.send("POST", "/v1/users", admin, `{"name":"Ana","role":"viewer"}`), 201)
		s.want("change", s.send("PUT", user.header.Get("Location"), admin, `{"name":"Bea","role":"analyst"}`), 200)
		s.want("bad token", s.send("POST", authorize, "", "refresh_token=vgl_made-up"), 400)
		s.want("refused", s.send("GET", "/v1/users", "made.up.token", ""), 401)
		s.want("reads are not recorded", s.send("GET", "/v1/users", admin, ""), 200)

		a := s.want("audit", s.send("GET", "/v1/audit", admin, ""), 200)
		var got []string
		for _, r := range a.json["results"].([]any) {
			r := r.(map[string]any)
			got = append(got, r["operation"].(string)+" "+r["outcome"].(string))
		}
		want := "updateUser success, createUser success, createApiToken success, authorize success"
		if strings.Join(got, ", ") != want {
			t.Errorf("records %s, want %s", strings.Join(got, ", "), want)
		}
		change := a.json["results"].([]any)[0].(map[string]any)
		if c := change["changed"].([]any); len(c) != 2 || c[0] != "name" || c[1] != "role" || change["actorName"] != "admin" {
			t.Errorf("change %v", change)
		}
		create := a.json["results"].([]any)[2].(map[string]any)
		if create["requestId"] != "my-request" || create["targets"].(map[string]any)["token_id"] != created.json["id"] {
			t.Errorf("creation %v", create)
		}
		first := s.want("first page", s.send("GET", "/v1/audit?pageSize=3", admin, ""), 200)
		next := url.QueryEscape(first.json["continuationToken"].(string))
		last := s.want("last page", s.send("GET", "/v1/audit?pageSize=3&continuationToken="+next, admin, ""), 200)
		if n := len(last.json["results"].([]any)); n != 1 || last.json["continuationToken"] != nil {
			t.Errorf("last page %s", last.text)
		}
		s.want("token of another query", s.send("GET", "/v1/audit?operation=x&continuationToken="+next, admin, ""), 400)
		s.want("token of another organisation", s.send("GET", "/v1/audit?continuationToken="+next, s.exchange(s.otherToken), ""), 400)
		s.want("too large a page", s.send("GET", "/v1/audit?pageSize=1001", admin, ""), 400)
		s.want("bad time", s.send("GET", "/v1/audit?from=yesterday", admin, ""), 400)

		// Records without an organisation are visible to the operator only.
		records, err := s.log.Page(t.Context(), audit.Filter{Limit: 10})
		if err != nil || len(records) != 2 || records[0].Operation != "listUsers" || records[1].Cause != "it is malformed" {
			t.Errorf("records without an organisation: %+v, %v", records, err)
		}
		if r, err := s.log.Verify(t.Context()); err != nil || r.Broken != nil {
			t.Errorf("the chain: %+v, %v", r, err)
		}
		output := s.lines.String() + a.text
		for _, r := range records {
			data, _ := json.Marshal(r)
			output += string(data)
		}
		// The first characters of an API token are its hint, which may be shown.
		for name, secret := range map[string]string{"API token": s.adminToken, "access token": admin, "new API token": created.json["token"].(string)} {
			if strings.Contains(output, secret) || strings.Contains(output, secret[12:]) {
				t.Errorf("the %s is in the log or the audit records", name)
			}
		}
		if !strings.Contains(s.lines.String(), `"operation":"createApiToken"`) {
			t.Error("the creation of the token was not logged")
		}
	})
}

func TestTokensAreLimitedToTheirScopes(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *server) {
		admin := s.exchange(s.adminToken)
		a := s.want("create", s.send("POST", "/v1/api-tokens", admin, `{"name":"ci","scopes":["findings"],"addresses":["127.0.0.0/8"]}`), 201)
		limited := s.exchange(a.json["token"].(string))
		a = s.want("a route out of scope", s.send("GET", "/v1/users", limited, ""), 403)
		if !strings.Contains(a.text, "findings") || !strings.Contains(a.text, "administration") {
			t.Errorf("the refusal says %s", a.text)
		}
		a = s.want("list", s.send("GET", "/v1/api-tokens", admin, ""), 200)
		if !strings.Contains(a.text, `"scopes":["findings"],"addresses":["127.0.0.0/8"]`) || !strings.Contains(a.text, `"expiryTime"`) {
			t.Errorf("the list says %s", a.text)
		}
		s.want("an unknown scope", s.send("POST", "/v1/api-tokens", admin, `{"name":"ci","scopes":["all"]}`), 400)
		elsewhere := s.want("create", s.send("POST", "/v1/api-tokens", admin, `{"name":"x","addresses":["192.0.2.1"]}`), 201).json["token"].(string)
		s.want("from another address", s.send("POST", authorize, "", "refresh_token="+url.QueryEscape(elsewhere)), 400)
	})
}
