package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vigil/internal/client"
	"vigil/internal/fault"
)

// desktopServer is a fake desktop server.
type desktopServer struct {
	mu       sync.Mutex
	access   string         // the valid access token
	ended    bool           // whether the session has ended
	requests []string       // method, path and query of authenticated requests
	changed  map[string]any // body of the last change
}

// desktopAnswers are the responses to GET requests, by path.
var desktopAnswers = map[string]string{
	"/rest/monitor/overview": `{"kinds":[{"kind":"FARM","total":3,"health":{"OK":1,"WARNING":1,"ERROR":1,"UNKNOWN":0,"DISABLED":0}}],
		"sessions":{"rds_sessions":12,"connections":3,"gateway_connections":4},"problem_count":2,
		"problems":[{"cause":{"kind":"FARM","name":"blue"},"health":"ERROR","since":1700000000000,"count":2,"reasons":["no server answers","the disk is full"]}]}`,
	"/rest/monitor/farms":          `[{"id":"f1","name":"Blue","status":"ERROR","health":"ERROR","since":1700000000000,"reasons":["it is down"]},{"id":"f2","name":"green","status":"OK","health":"OK","reasons":[]}]`,
	"/rest/monitor/event-database": `{"status":"NOT_CONFIGURED","health":"UNKNOWN","reasons":[]}`,
	"/rest/monitor/rds-servers":    `[{"id":"m1","name":"rds1","farm_name":"Blue","details":{"state":"AVAILABLE"},"status":"OK","session_count":7}]`,
	"/rest/monitor/alert-groups":   `[{"id":"g1","rule_name":"Down","state":"FIRING","cause":{"kind":"FARM","name":"Blue"},"since":1700000000000,"open_count":2,"summary":"it is down"}]`,
	"/rest/monitor/pulse":          `{}`,
}

func (s *desktopServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := map[string]any{}
	_ = json.NewDecoder(r.Body).Decode(&in)
	refuse := func(status int, text string) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"status":"X","error_message":"`+text+`","errors":[{"error_key":"x","error_message":"`+text+`"}]}`)
	}
	switch r.URL.Path {
	case "/rest/login":
		if in["domain"] != "CORP" || in["username"] != "ann" || in["password"] != "pass word" {
			refuse(401, "the password is wrong")
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"`+s.access+`","refresh_token":"refresh"}`)
		return
	case "/rest/refresh", "/rest/logout":
		if s.ended || in["refresh_token"] != "refresh" {
			refuse(400, "refresh_token has expired")
			return
		}
		s.ended = r.URL.Path == "/rest/logout"
		_, _ = io.WriteString(w, `{"access_token":"`+s.access+`"}`)
		return
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+s.access && got != "Bearer read-key" {
		refuse(401, "the access token has expired")
		return
	}
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	if r.Method != http.MethodGet {
		s.changed = in
		_, _ = io.WriteString(w, `{"rule_name":"Down","cause":{"name":"Blue"}}`)
		return
	}
	answer, ok := desktopAnswers[r.URL.Path]
	if !ok {
		refuse(404, "there is no such thing")
		return
	}
	_, _ = io.WriteString(w, answer)
}

// newDesktopServer returns a server, its URL, and the flags to call it after a login.
func newDesktopServer(t *testing.T) (server *desktopServer, url string, flags desktopListFlags) {
	t.Helper()
	server = &desktopServer{access: "a1"}
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	return server, s.URL, desktopListFlags{desktopFlags{Profiles: filepath.Join(t.TempDir(), "profiles.yaml")}, "table"}
}

// runDesktop runs a command and returns its output.
func runDesktop(t *testing.T, command interface{ Run(*environment) error }, stdin string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := command.Run(&environment{t.Context(), strings.NewReader(stdin), &out, io.Discard})
	return out.String(), err
}

func TestDesktopSessionIsRenewedAndEnded(t *testing.T) {
	t.Parallel()
	server, url, flags := newDesktopServer(t)
	farms := &desktopFarmsCmd{flags}
	if _, err := runDesktop(t, farms, ""); err == nil || !strings.Contains(err.Error(), "vigil desktop login") {
		t.Errorf("without a login: %v", err)
	}
	login := &desktopLoginCmd{Profiles: flags.Profiles, URL: url, User: `CORP\ann`, Name: "desk"}
	if _, err := runDesktop(t, login, "wrong\n"); !fault.Is(err, fault.Unauthenticated) || err.Error() != "the password is wrong" {
		t.Errorf("wrong password: %v", err)
	}
	if out, err := runDesktop(t, login, "pass word\n"); err != nil || strings.Contains(out, "pass word") {
		t.Fatalf("login: %s%v", out, err)
	}
	server.access = "a2" // a1, the access token of the login, has expired
	if out, err := runDesktop(t, farms, ""); err != nil || !strings.Contains(out, "2023-11-14T22:13:20Z  it is down") {
		t.Errorf("farms: %s%v", out, err)
	}
	if _, err := (profileFlags{Profiles: flags.Profiles, Profile: "desk"}).client(); !fault.Is(err, fault.Invalid) {
		t.Errorf("a profile of a desktop server was used for a posture server: %v", err)
	}
	if out, err := runDesktop(t, &desktopLogoutCmd{flags.desktopFlags}, ""); err != nil || !server.ended {
		t.Errorf("logout: %s%v", out, err)
	}
	if _, err := runDesktop(t, farms, ""); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("after logout: %v", err)
	}
}

func TestExpiredSessionErrorSaysHowToLogIn(t *testing.T) {
	t.Parallel()
	server, url, flags := newDesktopServer(t)
	if _, err := runDesktop(t, &desktopLoginCmd{Profiles: flags.Profiles, URL: url, User: `CORP\ann`, Name: "desk"}, "pass word\n"); err != nil {
		t.Fatal(err)
	}
	server.access, server.ended = "a2", true
	if _, err := runDesktop(t, &desktopFarmsCmd{flags}, ""); !fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "vigil desktop login") {
		t.Errorf("the session has ended: %v", err)
	}
	for _, user := range []string{"", "ann", `\ann`, `CORP\`} {
		if _, err := runDesktop(t, &desktopLoginCmd{Profiles: flags.Profiles, URL: url, User: user}, "x\n"); !fault.Is(err, fault.Invalid) {
			t.Errorf("user %q: %v", user, err)
		}
	}
}

// loggedIn logs in with a read-only key.
func loggedIn(t *testing.T) (*desktopServer, desktopListFlags) {
	t.Helper()
	server, url, flags := newDesktopServer(t)
	profiles, err := client.ReadProfiles(flags.Profiles)
	if err != nil {
		t.Fatal(err)
	}
	if err := profiles.Login(client.Profile{Name: "desk", Server: client.Desktop, URL: url, Token: "read-key", Key: true}); err != nil {
		t.Fatal(err)
	}
	return server, flags
}

func TestDesktopCommands(t *testing.T) {
	t.Parallel()
	server, flags := loggedIn(t)
	asJSON, asCSV := flags, flags
	asJSON.Output, asCSV.Output = "json", "csv"
	for _, c := range []struct {
		command interface{ Run(*environment) error }
		want    []string       // in the output
		request string         // the last request
		fails   string         // part of the error; "": the command succeeds
		changed map[string]any // body of the change, without the end of a silence
	}{
		{&desktopStatusCmd{desktopListFlags: flags, Interval: 1, FailOn: "none"},
			[]string{"FARM  3      1   1        1", "12 sessions on RDS servers", "ERROR   FARM  blue  2         2023-11-14T22:13:20Z  no server answers; the disk is full"}, "GET /rest/monitor/overview", "", nil},
		{&desktopStatusCmd{desktopListFlags: asJSON, Interval: 1, FailOn: "warning"}, []string{`"problem_count": 2`}, "GET /rest/monitor/overview", "2 components", nil},
		{&desktopStatusCmd{desktopListFlags: asCSV, Interval: 1, FailOn: "error"}, []string{"FARM,3,1,1,1,0,0\n"}, "GET /rest/monitor/overview", "1 components", nil},
		{&desktopComponentsCmd{desktopListFlags: asCSV, Kind: []string{"event-database", "farm"}, Health: []string{"error", "unknown"}},
			[]string{"EVENT_DATABASE,,NOT_CONFIGURED", "FARM,Blue,ERROR"}, "GET /rest/monitor/farms", "", nil},
		{&desktopComponentsCmd{desktopListFlags: asCSV, Kind: []string{"toaster"}}, nil, "", "no kind", nil},
		{&desktopMachinesCmd{desktopListFlags: asCSV, Farm: []string{"blue"}, Status: []string{"ok"}, Text: "rds"}, []string{"rds1,Blue,AVAILABLE,OK,7"},
			"GET /rest/monitor/rds-servers?farm_id=f1&q=rds&status=OK", "", nil},
		{&desktopMachinesCmd{desktopListFlags: asCSV, Farm: []string{"red"}}, nil, "GET /rest/monitor/farms", "no farm", nil},
		{&desktopAlertsListCmd{desktopListFlags: asCSV, State: []string{"firing"}, Limit: 5}, []string{"FIRING,2023-11-14T22:13:20Z,Down,FARM,Blue,2"},
			"GET /rest/monitor/alert-groups?limit=5&state=FIRING", "", nil},
		{&desktopAlertsAckCmd{desktopFlags: flags.desktopFlags, ID: "g1", Comment: "mine"}, []string{"Down of Blue: acknowledged"}, "PUT /rest/monitor/alert-groups/g1/acknowledgement", "", map[string]any{"comment": "mine"}},
		{&desktopAlertsSilenceCmd{desktopFlags: flags.desktopFlags, ID: "g1", For: new(time.Hour), Reason: "works"}, []string{"silenced until"}, "PUT /rest/monitor/alert-groups/g1/silence", "", map[string]any{"reason": "works"}},
		{&desktopAlertsSilenceCmd{desktopFlags: flags.desktopFlags, ID: "g1", Undo: true}, []string{"no longer silenced"}, "DELETE /rest/monitor/alert-groups/g1/silence", "", nil},
		{&desktopAlertsSilenceCmd{desktopFlags: flags.desktopFlags, ID: "g1"}, nil, "", "--for", nil},
		{&desktopAlertsSilenceCmd{desktopFlags: flags.desktopFlags, ID: "g1", For: new(-time.Hour)}, nil, "", "longer than zero", nil},
	} {
		server.requests, server.changed = nil, nil
		began := time.Now()
		out, err := runDesktop(t, c.command, "")
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%T: %v", c.command, err)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%T does not print %q:\n%s", c.command, want, out)
			}
		}
		if c.request != "" && (len(server.requests) == 0 || server.requests[len(server.requests)-1] != c.request) {
			t.Errorf("%T requested %q", c.command, server.requests)
		}
		if until, ok := server.changed["until"].(float64); ok {
			end := time.UnixMilli(int64(until))
			if earliest := began.Add(time.Hour).Truncate(time.Millisecond); end.Before(earliest) || end.After(time.Now().Add(time.Hour)) {
				t.Errorf("%T ends at %s, want an hour after %s", c.command, end, began)
			}
			delete(server.changed, "until")
		} else if strings.HasSuffix(c.request, "/silence") && strings.HasPrefix(c.request, "PUT ") {
			t.Errorf("%T has no end: %v", c.command, server.changed)
		}
		if diff := cmp.Diff(c.changed, server.changed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%T changed (-want +got):\n%s", c.command, diff)
		}
	}
	if _, err := runDesktop(t, &desktopStatusCmd{desktopListFlags: flags, Interval: 1, FailOn: "error"}, ""); exitCode(err) != exitFindings {
		t.Errorf("--fail-on: %v", err)
	}
}
