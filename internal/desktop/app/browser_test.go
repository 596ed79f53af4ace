package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"
)

// browser is a client that keeps cookies and sends no token.
type browser struct {
	*fixture
	client *http.Client
	csrf   string
}

func (f *fixture) browser() *browser {
	f.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.Fatal(err)
	}
	client := f.document.Client(f, f.anonymous.Transport)
	client.Jar = jar
	return &browser{fixture: f, client: client}
}

// want sends a request and fails the test unless the response has the wanted
// status. header has additional headers: a name, its value, the next name, and so on.
func (b *browser) want(status int, method, path string, body any, header ...string) answer {
	b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.Context(), method, b.url+path, bytes.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	if b.csrf != "" {
		r.Header.Set("X-CSRF-Token", b.csrf)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := b.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		b.Errorf("%s %s: %d, want %d: %.300s %v", method, path, response.StatusCode, status, got, err)
	}
	return answer{response.StatusCode, response.Header, got}
}

func TestBrowsersLogInWithTheirDomainAccount(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), fewProbes: true})
	token := w.login().Access
	b := w.browser()
	b.want(401, "GET", "/console/session", nil)
	b.want(401, "GET", "/rest/monitor/farms", nil)
	b.want(401, "POST", "/console/session", w.credentials("wrong"))
	b.want(400, "POST", "/console/session", object{})
	b.want(403, "POST", "/console/session", w.credentials(w.estate.Admin.Password), "Sec-Fetch-Site", "cross-site")
	login := b.want(200, "POST", "/console/session", w.credentials(w.estate.Admin.Password))
	if c := login.header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-vigil-desktop=") || !strings.Contains(c, "HttpOnly") ||
		!strings.Contains(c, "Secure") || !strings.Contains(c, "SameSite=Strict") {
		t.Errorf("cookie %q, want __Host-vigil-desktop with HttpOnly, Secure and SameSite=Strict", c)
	}
	var profile struct {
		UserName  string    `json:"userName"`
		Role      string    `json:"role"`
		Method    string    `json:"method"`
		SessionID string    `json:"sessionId"`
		CSRFToken string    `json:"csrfToken"`
		StartTime time.Time `json:"startTime"`
		EndTime   time.Time `json:"endTime"`
	}
	b.want(200, "GET", "/console/session", nil).decode(t, &profile)
	if profile.UserName != `CORP\admin` || profile.Role != "admin" || profile.Method != "password" || profile.EndTime.Sub(profile.StartTime) != 10*time.Hour {
		t.Errorf("profile = %+v, want that of CORP\\admin, for 10 hours", profile)
	}
	b.want(200, "GET", "/rest/monitor/farms", nil)
	b.want(403, "POST", "/rest/config/v1/monitoring-keys", object{"name": "x"}) // the CSRF token is missing
	b.csrf = profile.CSRFToken
	b.want(201, "POST", "/rest/config/v1/monitoring-keys", object{"name": "x"})
	b.want(401, "GET", "/rest/monitor/farms", nil, "Authorization", "Bearer none") // a token has precedence over the cookie

	var sessions []struct {
		ID      string `json:"id"`
		Method  string `json:"method"`
		Current bool   `json:"current"`
	}
	b.want(200, "GET", "/rest/config/v1/sessions", nil).decode(t, &sessions)
	if len(sessions) != 2 || sessions[0].ID != profile.SessionID || !sessions[0].Current || sessions[0].Method != "password" || sessions[1].Method != "accessToken" {
		t.Errorf("sessions %+v, want that of this browser, then that of the access token", sessions)
	}
	b.want(204, "DELETE", "/rest/config/v1/sessions/"+sessions[1].ID, nil)
	w.expect(401, "GET", "/rest/monitor/farms", token, nil)
	b.want(404, "DELETE", "/rest/config/v1/sessions/"+sessions[1].ID, nil)

	other := w.browser()
	var second struct {
		CSRFToken string `json:"csrfToken"`
		SessionID string `json:"sessionId"`
	}
	other.want(200, "POST", "/console/session", w.credentials(w.estate.Admin.Password)).decode(t, &second)
	other.csrf = second.CSRFToken
	b.want(204, "DELETE", "/rest/config/v1/sessions/"+second.SessionID, nil)
	other.want(401, "GET", "/rest/monitor/farms", nil)

	var page struct {
		Records []struct {
			Operation string `json:"operation"`
			ActorName string `json:"actor_name"`
			Outcome   string `json:"outcome"`
		} `json:"records"`
		Next string `json:"next_cursor"`
	}
	b.want(200, "GET", "/rest/config/v1/audit?operation=createMonitoringKey&outcome=success", nil).decode(t, &page)
	if len(page.Records) != 1 || page.Records[0].ActorName != `CORP\admin` {
		t.Errorf("audit %+v, want one key created by CORP\\admin", page)
	}
	b.want(200, "GET", "/rest/config/v1/audit?limit=1", nil).decode(t, &page)
	if len(page.Records) != 1 || page.Next == "" {
		t.Errorf("audit %+v, want one record and a cursor", page)
	}
	b.want(200, "GET", "/rest/config/v1/audit?cursor="+page.Next, nil)
	b.want(400, "GET", "/rest/config/v1/audit?outcome=luck", nil)

	b.want(204, "DELETE", "/console/session", nil)
	b.want(401, "GET", "/rest/monitor/farms", nil)
	b.want(200, "GET", "/console/config", nil)
}
