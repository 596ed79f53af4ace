// Package clients tests the generated clients against a running demo.
package clients

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"vigil/clients/go/auth"
	"vigil/clients/go/desktop"
	"vigil/clients/go/posture"
)

// demo is the part of the demo's ready file that the tests use.
type demo struct {
	PostureURL string `json:"posture_url"`
	APIToken   string `json:"api_token"`
	DesktopURL string `json:"desktop_url"`
	Domain     string `json:"desktop_domain"`
	Username   string `json:"desktop_username"`
	Password   string `json:"desktop_password"`
}

func runningDemo(t *testing.T) demo {
	t.Helper()
	text, err := os.ReadFile(os.Getenv("VIGIL_READY"))
	if err != nil {
		t.Fatalf("VIGIL_READY must name the ready file of a running demo: %v", err)
	}
	var d demo
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPostureClient(t *testing.T) {
	d := runningDemo(t)
	token := &auth.APIToken{Server: d.PostureURL, Token: d.APIToken}
	client, err := posture.NewClientWithResponses(d.PostureURL, posture.WithRequestEditorFn(token.Authorize))
	if err != nil {
		t.Fatal(err)
	}

	ruleIDs := map[string]bool{}
	total, pageSize := 0, 1000
	query := posture.FindingQuery{PaginationInfo: &posture.PaginationInfo{PageSize: &pageSize}}
	for {
		page, err := client.QueryFindingsWithResponse(t.Context(), query)
		if err != nil || page.JSON200 == nil {
			t.Fatalf("findings: %v, %v", page, err)
		}
		for _, f := range page.JSON200.Results {
			ruleIDs[f.RuleId] = true
		}
		total += len(page.JSON200.Results)
		if page.JSON200.ContinuationToken == nil {
			if total != page.JSON200.TotalCount {
				t.Errorf("the pages have %d findings, the total is %d", total, page.JSON200.TotalCount)
			}
			break
		}
		query.PaginationInfo.ContinuationToken = page.JSON200.ContinuationToken
	}
	if len(ruleIDs) < 10 {
		t.Errorf("findings of %d rules, want at least 10", len(ruleIDs))
	}

	spec := posture.MuteRuleSpec{Name: "Go client", Reason: "a test", Scope: posture.MuteScope{ResourcePatterns: &[]string{"no-such-resource-*"}}}
	added, err := client.AddMuteRuleWithResponse(t.Context(), nil, spec)
	if err != nil || added.JSON201 == nil {
		t.Fatalf("adding a mute rule: %v, %v", added, err)
	}
	if added.JSON201.Name != spec.Name {
		t.Errorf("the name of the mute rule is %q, want %q", added.JSON201.Name, spec.Name)
	}
	deleted, err := client.DeleteMuteRuleWithResponse(t.Context(), added.JSON201.Id, nil)
	if err != nil || deleted.JSON200 == nil {
		t.Errorf("deleting the mute rule: %v, %v", deleted, err)
	}
	missing, err := client.GetMuteRuleWithResponse(t.Context(), added.JSON201.Id)
	if err != nil || missing.JSON404 == nil || missing.JSON404.Message == "" {
		t.Errorf("reading a deleted mute rule: %v, %v; want 404 with a message", missing, err)
	}
}

func TestWrongAPITokenIsAnError(t *testing.T) {
	d := runningDemo(t)
	token := &auth.APIToken{Server: d.PostureURL, Token: "wrong"}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, d.PostureURL, nil)
	if err := token.Authorize(t.Context(), r); err == nil {
		t.Error("a wrong API token is accepted")
	}
}

func TestDesktopClient(t *testing.T) {
	d := runningDemo(t)
	// The demo creates a new certificate whenever it starts, so the client cannot know it.
	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	client, err := desktop.NewClientWithResponses(d.DesktopURL, desktop.WithHTTPClient(trusting))
	if err != nil {
		t.Fatal(err)
	}
	var password desktop.Password
	if err := password.FromPassword1(d.Password); err != nil {
		t.Fatal(err)
	}
	login, err := client.LoginUserWithResponse(t.Context(), desktop.AuthLogin{Domain: d.Domain, Username: d.Username, Password: &password})
	if err != nil || login.JSON200 == nil {
		t.Fatalf("login: %v, %v", login, err)
	}
	authorize := auth.Bearer(login.JSON200.AccessToken)
	domains, err := client.ListADDomainMonitorsWithResponse(t.Context(), nil, authorize)
	if err != nil || domains.JSON200 == nil || len(*domains.JSON200) == 0 {
		t.Errorf("monitors of domains: %v, %v", domains, err)
	}
}
