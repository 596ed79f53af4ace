package alert

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return now.Add(d) }

func records() []desktop.Record {
	return []desktop.Record{
		desktop.GatewayMonitor{ID: "g1", Name: "edge", Status: desktop.GatewayStale, ActiveConnections: new(int32(90)),
			Freshness: desktop.Freshness{Reasons: []string{"silent"}}},
		desktop.ConnectionServerMonitor{
			ID: "c1", Name: "cs1", Status: desktop.ConnectionServerOK,
			Certificate: desktop.Certificate{Valid: true, ValidTo: desktop.MillisOf(after(5 * 24 * time.Hour))},
			Services:    []desktop.Service{{Name: "A", Status: desktop.ServiceDown}},
		},
		desktop.ConnectionServerMonitor{
			ID: "c2", Name: "cs2", Status: desktop.ConnectionServerError,
			Certificate: desktop.Certificate{ValidTo: desktop.MillisOf(after(-24 * time.Hour))},
		},
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		c    Condition
		want []string
	}{
		{"certificates that expire within a week", Condition{Type: CertificateExpires, Days: 7}, []string{
			"cs1: the certificate expires on 2026-03-06, in 5 days", "cs2: the certificate expired on 2026-02-28"}},
		{"expired certificates", Condition{Type: CertificateExpires}, []string{"cs2: the certificate expired on 2026-02-28"}},
		{"a status of any kind", Condition{Type: StatusIs, Statuses: []string{"stale", "ERROR"}}, []string{
			"edge: the status is stale: silent", "cs2: the status is error"}},
		{"a status of a kind", Condition{Type: StatusIs, Kind: desktop.KindConnectionServer, Statuses: []string{"STALE", "ERROR"}},
			[]string{"cs2: the status is error"}},
		{"a status of a part", Condition{Type: StatusIs, Statuses: []string{"DOWN"}}, []string{"cs1 service A: the status is down"}},
		{"one component", Condition{Type: StatusIs, Kind: desktop.KindConnectionServer, Component: "c1", Statuses: []string{"OK", "ERROR"}},
			[]string{"cs1: the status is ok"}},
		{"above", Condition{Type: CountIs, Measure: "active_connection_count", Operator: Above, Value: 89},
			[]string{"edge: active connection count is 90, above 89"}},
		{"not above", Condition{Type: CountIs, Measure: "active_connection_count", Operator: Above, Value: 90}, nil},
		{"below", Condition{Type: CountIs, Measure: "active_connection_count", Operator: Below, Value: 100},
			[]string{"edge: active connection count is 90, below 100"}},
	} {
		var got []string
		for _, f := range tt.c.find(records(), now) {
			where := f.subject.Ref.Name
			if f.subject.Part != "" {
				where += " " + f.subject.Part
			}
			got = append(got, where+": "+f.summary)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestUncheckedErrorRaisesNoAlert covers the time between the start and the first check, and an alert from before a restart.
func TestUncheckedErrorRaisesNoAlert(t *testing.T) {
	t.Parallel()
	b := desktop.NewBoard(func() time.Time { return now })
	b.Configure(desktop.Inventory{
		Policy:        desktop.DefaultPolicy(),
		SSOConnectors: []desktop.SSOConnector{{ID: "t1", Name: "sso", Enabled: true}},
	})
	rule := Rule{ID: "r", Condition: Condition{Type: StatusIs, Statuses: []string{"ERROR"}}}
	found := rule.Condition.find(b.Records(desktop.KindSSOConnector), now)
	if len(found) == 0 {
		t.Fatal("the connector has no status ERROR before its first check; this test needs one")
	}
	id := func() string { return "d" }
	if got := transitions(rule, found, nil, nil, now, id); len(got) != 0 {
		t.Errorf("transitions before the first check = %+v, want none", got)
	}
	open := Alert{RuleID: "r", Subject: found[0].subject, State: Firing, Since: after(-time.Hour)}
	for _, c := range transitions(rule, found, []Alert{open}, nil, now, id) {
		if c.Alert.State == Resolved {
			t.Errorf("an alert from before the restart ended without a check: %+v", c)
		}
	}
}

func TestSummaryOfACertificateThatExpiresSoon(t *testing.T) {
	t.Parallel()
	for remaining, want := range map[time.Duration]string{
		5 * time.Hour:  "the certificate expires on 2026-03-01, within a day",
		30 * time.Hour: "the certificate expires on 2026-03-02, in 1 day",
		50 * time.Hour: "the certificate expires on 2026-03-03, in 2 days",
	} {
		server := desktop.ConnectionServerMonitor{ID: "c1", Name: "cs1", Certificate: desktop.Certificate{ValidTo: desktop.MillisOf(after(remaining))}}
		found := Condition{Type: CertificateExpires, Days: 7}.find([]desktop.Record{server}, now)
		if len(found) != 1 || found[0].summary != want {
			t.Errorf("%s before: %+v, want %q", remaining, found, want)
		}
	}
}

// TestFindingsOnTheSameSubjectAreOneAlert covers parts with the same name.
func TestFindingsOnTheSameSubjectAreOneAlert(t *testing.T) {
	t.Parallel()
	center := desktop.Ref{Kind: desktop.KindVirtualCenter, ID: "v1", Name: "vc"}
	subject := Subject{center, "local"}
	found := []finding{
		{subject: subject, summary: "free space percent is 5, below 10", cause: center},
		{subject: subject, summary: "free space percent is 7, below 10", cause: center},
	}
	r := Rule{ID: "r", Channels: []Channel{{Type: Mail}}}
	id := func() string { return "d" }
	first := transitions(r, found, nil, nil, now, id)
	if len(first) != 1 || first[0].Alert.Summary != found[0].summary {
		t.Fatalf("at first: %+v, want one alert", first)
	}
	if again := transitions(r, found, []Alert{first[0].Alert}, nil, after(time.Minute), id); len(again) != 0 {
		t.Errorf("while the condition holds: %+v, want no transition", again)
	}
}

// TestAlertLifecycle follows one alert over time.
func TestAlertLifecycle(t *testing.T) {
	t.Parallel()
	r := Rule{ID: "r", Name: "rule", For: time.Minute, Repeat: time.Hour, Channels: []Channel{{Type: Mail}, {Type: Webhook}}}
	subject := Subject{Ref: desktop.Ref{Kind: desktop.KindGateway, ID: "g1", Name: "edge"}}
	violation := []finding{{subject: subject, summary: "it is so", cause: subject.Ref}}
	var existing []Alert
	ids := 0
	newID := func() string { ids++; return fmt.Sprint(ids) }
	for _, tt := range []struct {
		name  string
		after time.Duration
		found []finding
		want  State // empty: nothing changes
		sends int
	}{
		{"it begins", 0, violation, Pending, 0},
		{"it still holds", 30 * time.Second, violation, "", 0},
		{"it has held long enough", time.Minute, violation, Firing, 2},
		{"it continues to hold", 10 * time.Minute, violation, "", 0},
		{"the notice is repeated", 61 * time.Minute, violation, Firing, 2},
		{"it no longer holds", 62 * time.Minute, nil, Resolved, 2},
		{"nothing more", 63 * time.Minute, nil, "", 0},
		{"it holds again", 64 * time.Minute, violation, Pending, 0},
		{"it ends while pending", 64*time.Minute + time.Second, nil, "gone", 0},
	} {
		out := transitions(r, tt.found, existing, nil, after(tt.after), newID)
		if tt.want == "" {
			if len(out) != 0 {
				t.Errorf("%s: transitions %+v, want none", tt.name, out)
			}
			continue
		}
		if len(out) != 1 {
			t.Fatalf("%s: %d transitions", tt.name, len(out))
		}
		got := out[0].Alert.State
		if out[0].Gone {
			got = "gone"
		}
		if got != tt.want || len(out[0].Send) != tt.sends {
			t.Errorf("%s: %s with %d notices, want %s with %d", tt.name, got, len(out[0].Send), tt.want, tt.sends)
		}
		existing = []Alert{out[0].Alert}
		if out[0].Gone {
			existing = nil
		}
	}
}

func TestRulesAreValidated(t *testing.T) {
	t.Parallel()
	valid := Rule{
		Name: "rule", Condition: Condition{Type: CountIs, Kind: desktop.KindRDSServer, Measure: "session_count", Operator: Above},
		Channels: []Channel{{Type: Webhook, URL: "https://hooks.example/x"}, {Type: Mail, To: []string{"ops@corp.example"}}},
	}
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	rare := valid
	rare.Repeat = 366 * 24 * time.Hour
	if details := fault.Details(rare.Validate()); len(details) != 1 || details[0].Path != "repeat_seconds" {
		t.Errorf("repeated every 366 days: %v", details)
	}
	for path, spoil := range map[string]func(*Rule){
		"name":                   func(r *Rule) { r.Name = "" },
		"for_seconds":            func(r *Rule) { r.For = -1 },
		"repeat_seconds":         func(r *Rule) { r.Repeat = time.Second },
		"condition.type":         func(r *Rule) { r.Condition.Type = "MOOD" },
		"condition.kind":         func(r *Rule) { r.Condition.Kind = desktop.KindGateway },
		"condition.measure":      func(r *Rule) { r.Condition.Measure = "mood" },
		"condition.operator":     func(r *Rule) { r.Condition.Operator = "NEAR" },
		"condition.component_id": func(r *Rule) { r.Condition.Kind, r.Condition.Component = "", "x" },
		"condition.statuses":     func(r *Rule) { r.Condition.Type = StatusIs },
		"condition.days":         func(r *Rule) { r.Condition.Type, r.Condition.Days = CertificateExpires, -1 },
		"channels":               func(r *Rule) { r.Channels = nil },
		"channels[0].type":       func(r *Rule) { r.Channels = []Channel{{Type: "SMOKE"}} },
		"channels[0].url":        func(r *Rule) { r.Channels = []Channel{{Type: Webhook, URL: "https://user:pass@hooks.example"}} },
		"channels[0].to":         func(r *Rule) { r.Channels = []Channel{{Type: Mail}} },
		"channels[0].to[0]":      func(r *Rule) { r.Channels = []Channel{{Type: Mail, To: []string{"Ops <ops@corp.example>"}}} },
	} {
		bad := valid
		spoil(&bad)
		details := fault.Details(bad.Validate())
		if len(details) != 1 || details[0].Path != path {
			t.Errorf("%s: details %v, want one with this path", path, details)
		}
	}
}
