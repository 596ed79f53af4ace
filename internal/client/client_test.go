package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"vigil/internal/client"
	"vigil/internal/fault"
)

// server is a simulated Vigil server whose access tokens can be invalidated.
type server struct {
	*httptest.Server
	logins, calls int
	validToken    string
	lifetime      int
}

func newServer(t *testing.T) *server {
	s := &server{lifetime: 1800}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /csp/gateway/am/api/auth/api-tokens/authorize", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("refresh_token") != "api-token" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"message":"the token is not known","statusCode":400}`)
			return
		}
		s.logins++
		s.validToken = fmt.Sprintf("access-%d", s.logins)
		fmt.Fprintf(w, `{"access_token":%q,"expires_in":%d}`, s.validToken, s.lifetime)
	})
	mux.HandleFunc("POST /v1/things/query", func(w http.ResponseWriter, r *http.Request) {
		s.calls++
		if r.Header.Get("Authorization") != "Bearer "+s.validToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var in struct {
			Page struct {
				Token string `json:"continuationToken"`
				Size  int    `json:"pageSize"`
			} `json:"paginationInfo"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		next := `,"continuationToken":"2"`
		id := 12345678901234567 // has more digits than a float64 keeps
		if in.Page.Token == "2" {
			next, id = "", 2
		}
		fmt.Fprintf(w, `{"totalCount":2,"things":[{"id":%d,"inner":{"name":"a\u001b[2Jb"},"list":["x","y"]}]%s}`, id, next)
	})
	mux.HandleFunc("GET /v1/bad", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"message":"2 members are wrong","statusCode":400,"errors":[{"path":"a.b","message":"is odd"}]}`)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func connect(t *testing.T, s *server, now func() time.Time) (*client.Client, *client.Profiles, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "vigil", "profiles.yaml")
	profiles, err := client.ReadProfiles(file)
	if err != nil {
		t.Fatal(err)
	}
	profile := client.Profile{Name: "p", URL: s.URL, Token: "api-token"}
	if err := profiles.Login(profile); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(profile, client.Options{Save: profiles.Renew, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return c, profiles, file
}

func TestAccessTokenIsCachedAndRenewed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	now := time.Now()
	c, _, file := connect(t, s, func() time.Time { return now })
	call := func() {
		t.Helper()
		if err := c.Call(t.Context(), "POST", "/v1/things/query", client.Record{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	call()
	call()
	if s.logins != 1 {
		t.Errorf("%d logins for two calls, want 1", s.logins)
	}
	now = now.Add(29*time.Minute + 30*time.Second)
	call()
	if s.logins != 2 {
		t.Errorf("%d logins after a call 30 seconds before the token expires, want 2", s.logins)
	}
	s.validToken = "another" // as after a rotation of the server's keys
	call()
	if s.logins != 3 {
		t.Errorf("%d logins after the token was refused, want 3", s.logins)
	}
	stored, err := client.ReadProfiles(file)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := stored.Get(client.Posture, ""); err != nil || p.Access != "access-3" || p.Token != "api-token" || p.URL != s.URL {
		t.Errorf("stored %+v, %v", p, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestListsAreReadInPages(t *testing.T) {
	t.Parallel()
	c, _, _ := connect(t, newServer(t), nil)
	all, total, err := c.List(t.Context(), "/v1/things/query", "things", nil, 10)
	if err != nil || len(all) != 2 || total != 2 {
		t.Fatalf("%v, %d, %v", all, total, err)
	}
	if all, _, err := c.List(t.Context(), "/v1/things/query", "things", nil, 1); err != nil || len(all) != 1 {
		t.Errorf("limited to one: %v, %v", all, err)
	}
	for format, want := range map[string]string{
		"table": "ID                 NAME    LIST\n12345678901234567  a [2Jb  x y\n2                  a [2Jb  x y\n",
		"csv":   "id,inner.name,list\n12345678901234567,a\x1b[2Jb,x y\n2,a\x1b[2Jb,x y\n",
	} {
		var out strings.Builder
		if err := client.Render(&out, format, client.Columns("ID=id NAME=inner.name LIST=list"), all); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v; want %q", format, out.String(), err, want)
		}
	}
	for _, format := range []string{"json", "yaml"} {
		var out strings.Builder
		if err := client.Render(&out, format, nil, all); err != nil || !strings.Contains(out.String(), "12345678901234567") {
			t.Errorf("%s: %q, %v; want all digits of the number", format, out.String(), err)
		}
	}
}

func TestErrorsOfTheServerAreReported(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c, _, _ := connect(t, s, nil)
	if err := c.Call(t.Context(), "GET", "/v1/bad", nil, nil); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "a.b is odd") {
		t.Errorf("status 400: %v, want a fault of kind Invalid that names a.b", err)
	}
	if err := c.Call(t.Context(), "GET", "/v1/none", nil, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("status 404: %v, want a fault of kind NotFound", err)
	}
	bad, err := client.New(client.Profile{URL: s.URL, Token: "wrong"}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bad.Login(t.Context()); !fault.Is(err, fault.Unauthenticated) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong token: %v", err)
	}
	s.Close()
	if err := bad.Login(context.Background()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no server: %v", err)
	}
}

func TestProfilesReadableByOthersAreRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "profiles.yaml")
	if err := os.WriteFile(file, []byte("current: p\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ReadProfiles(file); !fault.Is(err, fault.Invalid) {
		t.Errorf("a file with mode 644: %v, want a fault of kind Invalid", err)
	}
}

// TestConcurrentChangesOfProfilesAreKept has every process read the file before any of them changes it.
func TestConcurrentChangesOfProfilesAreKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "profiles.yaml")
	read := func() *client.Profiles {
		t.Helper()
		p, err := client.ReadProfiles(file)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	processes := make([]*client.Profiles, 20)
	for i := range processes {
		processes[i] = read()
	}
	var wait sync.WaitGroup
	for i, profiles := range processes {
		wait.Go(func() {
			if err := profiles.Login(client.Profile{Name: fmt.Sprint("p", i), URL: "https://vigil.example", Token: "token"}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	old := read()
	if len(old.All) != len(processes) {
		t.Errorf("%d of %d profiles are left", len(old.All), len(processes))
	}
	// Another process replaces p0 and removes p1. A command that read the profiles before that
	// stores renewed access tokens: only that of p2, which is unchanged, is kept.
	if err := read().Login(client.Profile{Name: "p0", URL: "https://vigil.example", Token: "new"}); err != nil {
		t.Error(err)
	}
	if err := read().Remove("p1"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"p0", "p1", "p2"} {
		if err := old.Renew(client.Profile{Name: name, URL: "https://vigil.example", Token: "token", Access: "renewed"}); err != nil {
			t.Error(err)
		}
	}
	now := read()
	if _, exists := now.All["p1"]; exists || now.All["p0"].Token != "new" || now.All["p0"].Access != "" || now.All["p2"].Access != "renewed" {
		t.Errorf("the profiles are %+v", now.All)
	}
}

func TestPlainHTTPIsRefusedBeyondLoopback(t *testing.T) {
	t.Parallel()
	for address, valid := range map[string]bool{
		"https://vigil.example": true, "https://vigil.example:8443/": true, "http://127.0.0.1:8080": true, "http://localhost:1": true, "http://[::1]:1": true,
		"http://vigil.example": false, "http://10.0.0.1": false, "vigil.example": false, "ftp://vigil.example": false, "https://a:b@vigil.example": false, "": false,
	} {
		if got, err := client.CheckURL(address); (err == nil) != valid || strings.HasSuffix(got, "/") {
			t.Errorf("CheckURL(%q) = %q, %v; want it valid: %t", address, got, err, valid)
		}
	}
}

func TestStreamHasOneHeading(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"table": "A  B\n1  two\n333  4\n",
		"csv":   "a,b\n1,two\n333,4\n",
		"json":  "{\"a\":\"1\",\"b\":\"two\"}\n{\"a\":\"333\",\"b\":\"4\"}\n",
		"yaml":  "- a: \"1\"\n  b: two\n- a: \"333\"\n  b: \"4\"\n",
	} {
		var out strings.Builder
		s := client.NewStream(&out, format, client.Columns("A=a B=b"))
		for _, records := range [][]client.Record{{{"a": "1", "b": "two"}}, nil, {{"a": "333", "b": "4"}}} {
			if err := s.Write(records); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("%s:\n%s\nwant:\n%s", format, out.String(), want)
		}
	}
}

// TestDesktopLoginAtAnotherServer checks the error of a login by status: only 404 and 405 mean that
// the server lacks the operation.
func TestDesktopLoginAtAnotherServer(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{401: "401", 404: "is not a desktop server of Vigil", 405: "is not a desktop server of Vigil", 503: "503"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer s.Close()
		c, err := client.New(client.Profile{Name: "here", Server: client.Desktop, URL: s.URL}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = c.LoginDesktop(t.Context(), client.Credentials{Domain: "CORP", User: "ann", Password: "x"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("status %d: %v, want %q", status, err, want)
		}
	}
}

// TestInterruptedLoginIsReportedAsSuch interrupts the response to a login. If the user did that, the
// error is also context.Canceled; if the connection broke, the error says that the response was
// interrupted.
func TestInterruptedLoginIsReportedAsSuch(t *testing.T) {
	t.Parallel()
	for _, server := range []string{client.Posture, client.Desktop} {
		for _, byUser := range []bool{false, true} {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "100")
				_, _ = io.WriteString(w, `{"access_token":"a`)
				if byUser {
					_ = http.NewResponseController(w).Flush()
					interrupt()
					<-r.Context().Done()
				}
			}))
			defer s.Close()
			c, err := client.New(client.Profile{Name: "here", Server: server, URL: s.URL, Token: "api-token"}, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if server == client.Desktop {
				err = c.LoginDesktop(ctx, client.Credentials{})
			} else {
				err = c.Login(ctx)
			}
			if !fault.Is(err, fault.Unavailable) || errors.Is(err, context.Canceled) != byUser || !byUser && !strings.Contains(err.Error(), "interrupted") {
				t.Errorf("server %q, interrupted by the user: %t: %v", server, byUser, err)
			}
		}
	}
}

// TestRefusedLoginNamesItsCause checks the error of a failed exchange of the API token: it
// names the token only if the server refused the token.
func TestRefusedLoginNamesItsCause(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		401: "does not accept the API token", 404: "is not a posture server of Vigil", 405: "is not a posture server of Vigil", 429: "429", 503: "503",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer s.Close()
		c, err := client.New(client.Profile{Name: "here", URL: s.URL, Token: "api-token"}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Login(t.Context()); err == nil || !strings.Contains(err.Error(), want) || status != 401 && strings.Contains(err.Error(), "token") {
			t.Errorf("status %d: %v, want %q", status, err, want)
		}
	}
}

func TestYAMLKeepsTextsAndNumbers(t *testing.T) {
	t.Parallel()
	var characters strings.Builder
	for r := range rune(0x3000) {
		characters.WriteRune(r)
	}
	characters.WriteString("\ufeff\ufffe\U0001f600")
	record := client.Record{
		"text": characters.String(), "\u009bname": "x\u0085\u2028", "tab": "\ta: b #", "lines": "a\n b\x7f\n", "word": "yes", "digits": "1e3", "nothing": nil,
		"numbers": []any{json.Number("12345678901234567890"), json.Number("1.50"), json.Number("-0"), 7, 2.5}, "flag": true, "empty": []any{},
	}
	var out strings.Builder
	if err := client.Render(&out, "yaml", nil, []client.Record{record}); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if r != '\n' && unicode.IsControl(r) {
			t.Errorf("the output has the control character %U", r)
		}
	}
	if !strings.Contains(out.String(), "\n    - 12345678901234567890\n    - 1.50\n    - -0\n    - 7\n    - 2.5\n") {
		t.Errorf("the numbers changed:\n%s", out.String()[:200])
	}
	var got []client.Record
	if err := yaml.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	delete(record, "numbers")
	delete(got[0], "numbers")
	if diff := cmp.Diff([]client.Record{record}, got); diff != "" {
		t.Error(diff)
	}
}
