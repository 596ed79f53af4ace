package app_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/app"
	"vigil/internal/sim/estate"
)

func (f *fixture) overview(token string) (o desktop.Overview) {
	f.Helper()
	f.expect(200, "GET", "/rest/monitor/overview", token, nil).decode(f, &o)
	return o
}

func TestOverviewGroupsProblemsByCause(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), join: true})
	token := w.login().Access
	var healthy desktop.Overview
	w.until("there are no problems", func() bool {
		healthy = w.overview(token)
		return healthy.ProblemCount == 0
	})
	if healthy.Sessions.RDSSessions == 0 || healthy.Sessions.Connections == 0 || healthy.Sessions.GatewayConnections == 0 {
		t.Errorf("sessions = %+v", healthy.Sessions)
	}
	for _, k := range healthy.Kinds { // the environment has no event database
		if k.Kind != desktop.KindEventDatabase && (k.Total == 0 || k.Health[desktop.HealthOK] != k.Total) {
			t.Errorf("a kind has components that are not healthy, or none: %+v", k)
		}
	}
	w.expect(204, "POST", "/rest/demo/incidents/farm-fails", token, nil)
	w.expect(204, "POST", "/rest/demo/incidents/server-down", token, nil)
	w.expect(404, "POST", "/rest/demo/incidents/nothing", token, nil)
	problem := func(name string) *desktop.Problem {
		o := w.overview(token)
		i := slices.IndexFunc(o.Problems, func(p desktop.Problem) bool { return p.Cause.Name == name })
		if i < 0 {
			return nil
		}
		return &o.Problems[i]
	}
	w.until("the farm and its servers are one problem", func() bool {
		p := problem("farm-01") // counts the farm and its three servers
		return p != nil && p.Count == 4 && p.Health == desktop.HealthError && len(p.Reasons) > 0 && p.Since > 0
	})
	w.until("the server that is down is one problem, and its peers are none", func() bool {
		p := problem(peer)
		return p != nil && p.Count == 1 && p.Health == desktop.HealthError
	})
	// On a busy machine the heartbeat of another server may be late for a moment.
	w.until("there are no other problems", func() bool { return len(w.overview(token).Problems) == 2 })
	var incidents []desktop.Incident
	w.expect(200, "GET", "/rest/demo/incidents", token, nil).decode(t, &incidents)
	if n := len(slices.DeleteFunc(incidents, func(i desktop.Incident) bool { return !i.Active })); n != 2 {
		t.Errorf("%d incidents are active, want 2", n)
	}
	w.expect(204, "DELETE", "/rest/demo/incidents/farm-fails", token, nil)
	w.expect(204, "DELETE", "/rest/demo/incidents", token, nil)
	w.until("there are no problems again", func() bool { return w.overview(token).ProblemCount == 0 })
}

func TestListsAreCompressedIfAccepted(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	token := w.login().Access
	get := func(path, encoding, match string) (*http.Response, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", w.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Accept-Encoding", encoding) // set explicitly, so that the client does not decompress
		r.Header.Set("If-None-Match", match)
		response, err := w.anonymous.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, body
	}
	for _, path := range []string{
		"rds-servers", "overview", "ad-domains", "connection-servers", "farms", "gateways", "saml-authenticators", "v1/pods",
		"v1/true-sso", "desktop-composers", "view-composers", "virtual-centers", "history", "alerts",
	} {
		path = "/rest/monitor/" + path
		_, uncompressed := get(path, "identity", "")
		if len(uncompressed) < 1100 {
			continue // too small to be compressed
		}
		response, packed := get(path, "gzip", "")
		if response.Header.Get("Content-Encoding") != "gzip" || len(packed)*2 > len(uncompressed) {
			t.Fatalf("%s: %q, %d bytes of %d", path, response.Header.Get("Content-Encoding"), len(packed), len(uncompressed))
		}
		r, err := gzip.NewReader(strings.NewReader(string(packed)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || !json.Valid(text) {
			t.Errorf("%s: the unpacked response is no JSON: %v, %.100s", path, err, text)
		}
		if response.Header.Get("ETag") == "" {
			continue // it is encoded per request and has no ETag
		}
		w.until("an unchanged list is answered with 304", func() bool {
			first, _ := get(path, "gzip", "")
			second, body := get(path, "gzip", first.Header.Get("ETag"))
			return second.StatusCode == http.StatusNotModified && len(body) == 0
		})
	}
	first, _ := get("/rest/monitor/pulse", "gzip", "")
	if first.StatusCode != 200 || first.Header.Get("ETag") == "" {
		t.Errorf("pulse: %d %q", first.StatusCode, first.Header.Get("ETag"))
	}
}

func TestRDSServersAreFiltered(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), join: true})
	token := w.login().Access
	w.until("all servers report", func() bool {
		return strings.Count(string(w.expect(200, "GET", "/rest/monitor/rds-servers?state=available", token, nil).body), `"farm_name"`) == 9
	})
	farm := w.record(desktop.KindFarm, "farm-02").Ref().ID
	for query, want := range map[string]int{
		"": 9, "farm_id=" + string(farm): 3, "q=FARM-02": 3, "q=rds001": 1, "status=ok,error": 9, "status=ERROR": 0,
		"state=AVAILABLE&farm_id=" + string(farm): 3, "state=MAINTENANCE": 0, "farm_id=nothing": 0,
	} {
		// On a machine that stalls, the report of a server can be late; then its state changes until the next report.
		w.until(fmt.Sprintf("%q lists %d servers", query, want), func() bool {
			var got []desktop.RDSServerMonitor
			w.expect(200, "GET", "/rest/monitor/rds-servers?"+query, token, nil).decode(t, &got)
			return len(got) == want
		})
	}
	w.expect(400, "GET", "/rest/monitor/rds-servers?state=nothing", token, nil)
	w.expect(400, "GET", "/rest/monitor/rds-servers?status=nothing", token, nil)
	w.expect(400, "GET", "/rest/monitor/rds-servers?status=OK,", token, nil)
	w.expect(400, "GET", "/rest/monitor/rds-servers?state=AVAILABLE,", token, nil)
}

func TestComponentHasOneIDEverywhere(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	begin("domain-down")(w)
	w.status(desktop.KindDomain, "lab.example", self, "UNCONTACTABLE")
	var domains []struct {
		ID   string `json:"id"`
		Name string `json:"dns_name"`
	}
	w.expect(200, "GET", "/rest/monitor/ad-domains", token, nil).decode(t, &domains)
	for _, d := range domains {
		if !strings.HasPrefix(d.ID, "S-1-5-21-") {
			t.Errorf("%s has the id %q", d.Name, d.ID)
		}
		w.expect(200, "GET", "/rest/monitor/ad-domains/"+d.ID, token, nil)
	}
	w.expect(404, "GET", "/rest/monitor/ad-domains/nothing", token, nil)
	var page struct {
		Changes []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"changes"`
	}
	w.until("the history has the domain under its SID", func() bool { // domains[2] is lab.example
		w.expect(200, "GET", "/rest/monitor/history?id="+domains[2].ID, token, nil).decode(t, &page)
		return len(page.Changes) > 0
	})
	for _, c := range page.Changes {
		if c.ID != domains[2].ID || c.Name != "lab.example" {
			t.Errorf("%+v, want the id %s", c, domains[2].ID)
		}
	}
}

func TestAlertsOfOneCauseAreOneGroup(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), join: true})
	token := w.login().Access
	for _, domain := range []string{"corp.example", "emea.corp.example", "lab.example", "partner.example"} {
		w.status(desktop.KindDomain, domain, peer, "FULLY_ACCESSIBLE")
	}
	rule := idOf(t, w.expect(201, "POST", "/rest/config/v1/alert-rules", token, object{
		"name": "anything", "condition": object{"type": "STATUS", "statuses": []string{"ERROR", "NOT_RESPONDING", "UNKNOWN"}},
		"channels": []object{{"type": "MAIL", "to": []string{"ops@corp.example"}}},
	}))
	begin("server-down")(w)
	const path = "/rest/monitor/alert-groups"
	type group struct {
		ID           string      `json:"id"`
		RuleID       string      `json:"rule_id"`
		Cause        desktop.Ref `json:"cause"`
		State        string      `json:"state"`
		Count        int         `json:"count"`
		Acknowledged object      `json:"acknowledgement"`
		Silenced     object      `json:"silence"`
	}
	find := func() *group { // reads the groups and returns the peer's, or nil
		var groups []group
		w.expect(200, "GET", path+"?state=firing", token, nil).decode(t, &groups)
		for i := range groups {
			if groups[i].Cause.Name == peer {
				return &groups[i]
			}
		}
		return nil
	}
	w.until("the server that is down is one group of many alerts", func() bool {
		g := find()
		return g != nil && g.Count > 5 && g.RuleID == rule
	})
	id := find().ID
	alerts, err := w.app.Store().Alerts(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	// Add an alert of the group that has ended: the group counts it, but not as open.
	ended := alerts[slices.IndexFunc(alerts, func(a alert.Alert) bool { return a.Group() == id })]
	ended.Subject.Part, ended.State, ended.ResolvedAt = "a part that recovered", alert.Resolved, ended.Since.Add(time.Millisecond)
	if err := w.app.Store().Apply(t.Context(), []alert.Transition{{RuleVersion: 1, Alert: ended}}); err != nil {
		t.Fatal(err)
	}
	var acknowledged struct {
		Count int `json:"count"`
		Open  int `json:"open_count"`
	}
	w.expect(200, "PUT", path+"/"+id+"/acknowledgement", token, object{"comment": "on it"}).decode(t, &acknowledged)
	if acknowledged.Count <= acknowledged.Open {
		t.Errorf("the response counts no ended alert: %+v", acknowledged)
	}
	until := desktop.MillisOf(time.Now().Add(time.Hour))
	w.expect(200, "PUT", path+"/"+id+"/silence", token, object{"until": until, "reason": "works"})
	if g := find(); g.Acknowledged["comment"] != "on it" || g.Silenced["reason"] != "works" {
		t.Errorf("the group is %+v, want it acknowledged and silenced", g)
	}
	w.expect(400, "PUT", path+"/"+id+"/silence", token, object{"until": 1})
	w.expect(404, "PUT", path+"/11111111-1111-4111-8111-111111111111/acknowledgement", token, object{})
	w.expect(200, "DELETE", path+"/"+id+"/silence", token, nil)
	w.expect(200, "DELETE", path+"/"+id+"/acknowledgement", token, nil)
	if g := find(); g.Acknowledged != nil || g.Silenced != nil {
		t.Errorf("the group is %+v, want it neither acknowledged nor silenced", g)
	}
	end("server-down")(w)
	w.until("the group is resolved", func() bool { return find() == nil })
	var groups []group
	w.expect(200, "GET", path+"?state=RESOLVED&since=1", token, nil).decode(t, &groups)
	if len(groups) == 0 {
		t.Error("a resolved group is not listed")
	}
	w.expect(200, "GET", "/rest/monitor/alerts?since=1&limit=5", token, nil)
	w.expect(400, "GET", "/rest/monitor/alerts?state=nothing", token, nil)
	var history struct {
		Groups []struct {
			Cause      desktop.Ref `json:"cause"`
			Count      int         `json:"count"`
			Components int         `json:"component_count"`
		} `json:"groups"`
	}
	w.expect(200, "GET", "/rest/monitor/history/groups?status=not_responding", token, nil).decode(t, &history)
	if len(history.Groups) != 1 || history.Groups[0].Cause.Name != peer || history.Groups[0].Components < 3 {
		t.Errorf("the history has %+v", history.Groups)
	}
	w.expect(400, "GET", "/rest/monitor/history/groups?limit=1000", token, nil)
	// The limit of 200 counts characters and not bytes.
	w.expect(200, "GET", "/rest/monitor/history?q="+url.QueryEscape(strings.Repeat("é", 200)), token, nil)
	w.expect(400, "GET", "/rest/monitor/history?q="+url.QueryEscape(strings.Repeat("é", 201)), token, nil)
}

func TestMeasuresAreStoredOverTime(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), join: true, app: func(o *app.Options) { o.SampleEvery = 50 * time.Millisecond }})
	w.estate.RDSServers[0].SetSessions(70)
	token := w.login().Access
	w.until("the server has sessions", func() bool { return w.overview(token).Sessions.RDSSessions == 70 })
	o := options{size: tiny()}
	w.stop() // stores the points of the current steps, which are not over yet
	w.run(o)
	token = w.login().Access
	var got struct {
		Step   int64 `json:"step_seconds"`
		Series []struct {
			Points []struct {
				Average float64 `json:"average"`
				Maximum int64   `json:"maximum"`
			} `json:"points"`
		} `json:"series"`
	}
	const path = "/rest/monitor/samples"
	for _, query := range []string{"?kind=RDS_SERVER&measure=session_count", "?kind=farm&measure=session_count&step=86400", "?kind=RDS_SERVER&measure=session_count&id=" + string(w.estate.RDSServers[0].ID())} {
		w.expect(200, "GET", path+query, token, nil).decode(t, &got)
		if len(got.Series) != 1 || len(got.Series[0].Points) == 0 || got.Series[0].Points[len(got.Series[0].Points)-1].Maximum != 70 {
			t.Errorf("%s: %+v, want one series whose last point has the maximum 70", query, got)
		}
	}
	for _, bad := range []string{"", "?kind=RDS_SERVER", "?kind=FARM&measure=application_count", "?kind=x&measure=session_count", "?kind=FARM&measure=session_count&step=7",
		"?kind=FARM&measure=session_count&since=1&step=300", "?kind=FARM&measure=session_count&since=5&until=4"} {
		w.expect(400, "GET", path+bad, token, nil)
	}
}
