package channel_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture/notify"
	"vigil/internal/posture/notify/channel"
)

// serveJira starts a site of Jira Cloud or of Jira Data Center that answers searches with
// found. It returns the URL of the site, and a function that returns the paths of the
// accepted requests and the created issue.
func serveJira(t *testing.T, cloud bool, found string) (address string, got func() (paths []string, issue any)) {
	t.Helper()
	requests := make(chan request, 10)
	status := map[string]int{"/rest/api/2/issue": http.StatusCreated, "/rest/api/2/search/jql": http.StatusNotFound, "/rest/api/2/search": http.StatusOK}
	if cloud { // Jira Cloud has removed the older search: developer.atlassian.com/changelog/#CHANGE-2046
		status["/rest/api/2/search/jql"], status["/rest/api/2/search"] = http.StatusOK, http.StatusGone
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		search := strings.HasPrefix(r.URL.Path, "/rest/api/2/search")
		if user, password, ok := r.BasicAuth(); !ok || user != "ann" || password != "t0ken" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if query := r.URL.Query(); search && (r.Method != "GET" || query.Get("jql") != `labels = "vigil-m-1"` || query.Get("fields") != "key") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(status[r.URL.Path])
		if status[r.URL.Path] >= 300 {
			return
		}
		requests <- request{r.Method, r.URL.Path, r.Header, body}
		if search {
			_, _ = io.WriteString(w, found)
		} else {
			_, _ = io.WriteString(w, `{"id": "10000", "key": "SEC-1"}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() (paths []string, issue any) {
		for len(requests) > 0 {
			r := <-requests
			paths = append(paths, r.path)
			if r.method == "POST" {
				if err := json.Unmarshal(r.body, &issue); err != nil {
					t.Fatal(err)
				}
			}
		}
		return paths, issue
	}
}

// TestJiraGetsOneIssue sends a message to both kinds of Jira. In repeated attempts, the issue
// of the message exists already and no second one is created.
func TestJiraGetsOneIssue(t *testing.T) {
	t.Parallel()
	const search, searchJQL, create = "/rest/api/2/search", "/rest/api/2/search/jql", "/rest/api/2/issue"
	for name, c := range map[string]struct {
		cloud bool
		found string
		want  []string
	}{
		"cloud":                 {true, `{"issues": [], "isLast": true}`, []string{searchJQL, create}},
		"cloud, repeated":       {true, `{"issues": [{"id": "10000", "key": "SEC-1"}], "isLast": true}`, []string{searchJQL}},
		"cloud, several pages":  {true, `{"issues": [{"id": "10000", "key": "SEC-1"}], "nextPageToken": "t", "isLast": false}`, []string{searchJQL}},
		"data center":           {false, `{"startAt": 0, "maxResults": 1, "total": 0, "issues": []}`, []string{search, create}},
		"data center, repeated": {false, `{"startAt": 0, "maxResults": 1, "total": 1, "issues": [{"id": "10000", "key": "SEC-1"}]}`, []string{search}},
	} {
		address, got := serveJira(t, c.cloud, c.found)
		target := notify.Channel{Type: notify.Jira}
		if err := target.SetValues(map[string]string{"url": address + "/", "project": "SEC", "username": "ann", "apiToken": "t0ken"}, notify.NewChannel); err != nil {
			t.Fatal(err)
		}
		if err := senders().Send(t.Context(), target, message()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		paths, issue := got()
		if !slices.Equal(paths, c.want) {
			t.Errorf("%s: accepted requests %q, want %q", name, paths, c.want)
		}
		if issue == nil {
			continue
		}
		description, _ := member(issue, "fields", "description").(string)
		if member(issue, "fields", "project", "key") != "SEC" || member(issue, "fields", "labels", 1) != "vigil-m-1" || !strings.Contains(description, "https://vigil.example/console/findings") {
			t.Errorf("%s: issue %v", name, issue)
		}
	}
}

// TestJiraDescriptionIsEscaped checks that names of resources are no wiki markup.
func TestJiraDescriptionIsEscaped(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"[x|https://evil] [~ann]": `\[x|https://evil\] \[~ann\]`,
		`\[x|https://evil\]`:      `&#92;\[x|https://evil&#92;\]`,
		"{color:red}a_b !c!":      `\{color:red\}a\_b \!c\!`,
	} {
		address, got := serveJira(t, true, `{"issues": []}`)
		m := message()
		m.Events = m.Events[:1]
		m.Events[0].Finding.Name = name
		target := notify.Channel{Type: notify.Jira}
		if err := target.SetValues(map[string]string{"url": address, "project": "SEC", "username": "ann", "apiToken": "t0ken"}, notify.NewChannel); err != nil {
			t.Fatal(err)
		}
		if err := senders().Send(t.Context(), target, m); err != nil {
			t.Fatal(err)
		}
		_, issue := got()
		description := member(issue, "fields", "description")
		if want := "High, risk 70: open-bucket on " + want + " (account 111111111111)\n\nhttps://vigil.example/console/findings"; description != want {
			t.Errorf("description %q, want %q", description, want)
		}
		if summary := member(issue, "fields", "summary"); summary != m.Title() { // plain text
			t.Errorf("summary %q, want %q", summary, m.Title())
		}
	}
}

// TestJiraWithoutAnySearch checks that no issue is created if the search fails: there
// could be one already.
func TestJiraWithoutAnySearch(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusGone, http.StatusUnauthorized} {
		address, got := receive(t, status, nil, "{}")
		err := senders().Send(t.Context(), notify.Channel{Type: notify.Jira, Secrets: map[string]string{"url": address}, Settings: map[string]string{"url": address}}, message())
		if err == nil || channel.Refused(err) || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("status %d: %v, want an error with the status that is no refusal", status, err)
		}
		for _, r := range got() {
			if r.method != "GET" {
				t.Errorf("status %d: the request %s %s, want only searches", status, r.method, r.path)
			}
		}
	}
}
