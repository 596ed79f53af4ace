package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/client"
	"vigil/internal/fault"
)

// auditServer serves a growing audit log with two records per page.
type auditServer struct {
	mu         sync.Mutex
	records    []string // newest last
	queries    []url.Values
	beforePage func(s *auditServer) // called before the first page of each listing
}

func (s *auditServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/authorize"):
		_, _ = io.WriteString(w, `{"access_token":"access","expires_in":1800}`)
		return
	case r.URL.Path == "/v1/users":
		_, _ = io.WriteString(w, `{"results":[{"id":"u1","name":"ann"},{"id":"u2","name":"bob","email":"bob@example.com"}]}`)
		return
	}
	query := r.URL.Query()
	s.queries = append(s.queries, query)
	end := len(s.records)
	if token := query.Get("continuationToken"); token != "" {
		_, _ = fmt.Sscan(token, &end)
	} else if s.beforePage != nil {
		s.beforePage(s)
		end = len(s.records)
	}
	size := 2
	if query.Get("pageSize") == "1" {
		size = 1
	}
	var page []string
	for ; end > 0 && len(page) < size; end-- {
		page = append(page, fmt.Sprintf(`{"id":%q,"time":"2026-01-31T12:00:00Z","actorName":"ann","operation":"login","outcome":"success","targets":{"b":"2","a":"1"}}`, s.records[end-1]))
	}
	next := ""
	if end > 0 {
		next = fmt.Sprintf(`,"continuationToken":"%d"`, end)
	}
	fmt.Fprintf(w, `{"results":[%s]%s}`, strings.Join(page, ","), next)
}

func newAuditServer(t *testing.T, records ...string) (server *auditServer, flags listFlags) {
	t.Helper()
	server = &auditServer{records: records}
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "profiles.yaml")
	profiles, err := client.ReadProfiles(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := profiles.Login(client.Profile{Name: "test", URL: s.URL, Token: "token"}); err != nil {
		t.Fatal(err)
	}
	return server, listFlags{profileFlags: profileFlags{Profiles: file}, Output: "table"}
}

func TestListAuditLog(t *testing.T) {
	t.Parallel()
	server, flags := newAuditServer(t, "r1", "r2", "r3")
	var out, problems strings.Builder
	code := run([]string{"audit", "--profiles", flags.Profiles, "--actor", "BOB@example.com", "--action", "login", "--outcome", "denied", "--since", "2026-01-30T00:00:00+01:00"}, nil, &out, &problems)
	if code != 0 || problems.String() != "" || strings.Count(out.String(), "2026-01-31T12:00:00Z  ann    login") != 3 || !strings.Contains(out.String(), "a=1 b=2") {
		t.Errorf("exit %d\n%s%s", code, &out, &problems)
	}
	if got := server.queries[0].Encode(); got != "actor=u2&from=2026-01-29T23%3A00%3A00Z&operation=login&outcome=denied&pageSize=100" {
		t.Errorf("the request was %s", got)
	}
	out.Reset()
	flags.Output = "json"
	e := &environment{ctx: t.Context(), stdout: &out, stderr: &problems}
	listOne := auditListCmd{listFlags: flags, Outcome: "all", Limit: 1, Interval: time.Second}
	if err := listOne.Run(e); err != nil || !strings.Contains(out.String(), `"id": "r3"`) || strings.Contains(out.String(), "r2") || !strings.Contains(problems.String(), "--limit") {
		t.Errorf("%v\n%s%s", err, &out, &problems)
	}
	for _, wrong := range []auditListCmd{
		{Limit: 1, Interval: 1, Since: "yesterday"}, {Limit: 0, Interval: 1}, {Limit: 1, Interval: 1, Follow: true, Until: "1h"}, {Limit: 1, Follow: true},
	} {
		wrong.listFlags = flags
		if err := wrong.Run(e); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v, want a fault of kind Invalid", wrong, err)
		}
	}
}

func TestFollowAuditLog(t *testing.T) {
	t.Parallel()
	server, flags := newAuditServer(t, "r1", "r2", "r3")
	ctx, stop := context.WithCancel(t.Context())
	polls := 0
	server.beforePage = func(s *auditServer) {
		switch polls++; polls {
		case 3:
			s.records = append(s.records, "r4", "r5", "r6")
		case 4:
			s.records = append(s.records, "r7")
		case 6:
			stop()
		}
	}
	flags.Output = "json"
	var out strings.Builder
	c := auditListCmd{listFlags: flags, Outcome: "all", Limit: 2, Follow: true, Interval: time.Microsecond}
	if err := c.Run(&environment{ctx: ctx, stdout: &out, stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(out.String()) {
		_, rest, _ := strings.Cut(line, `"id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		ids = append(ids, id)
	}
	if got := strings.Join(ids, " "); got != "r2 r3 r4 r5 r6 r7" {
		t.Errorf("followed %s, want the newest two of the first three records, then all new ones", got)
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	// The expected times are in UTC; here it is an hour later. No expected time means an error.
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.FixedZone("here", 3600))
	for text, want := range map[string]string{
		"90m": "2026-02-01T09:30:00Z", "2026-01-31": "2026-01-30T23:00:00Z", "2026-01-31T12:00:00Z": "2026-01-31T12:00:00Z", "-1h": "", "noon": "",
	} {
		got, err := parseTime(text, now)
		if (err != nil) != (want == "") || err == nil && got.UTC().Format(time.RFC3339) != want {
			t.Errorf("parseTime(%q) = %v, %v; want %q", text, got, err, want)
		}
	}
}
