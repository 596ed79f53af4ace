package app_test

import (
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop/app"
	"vigil/internal/sim/directory"
	"vigil/internal/sim/estate"
)

func TestCheckTellsWhatIsWrongAndWhy(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	w.login()
	problems := func() map[string]string {
		report, err := app.Check(t.Context(), w.estate.InventoryFile(), nil, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, f := range report.Findings {
			if f.Problem != "" {
				out[f.Ref.Name] = f.Problem
			} else if f.Warning != "" {
				out[f.Ref.Name] = "warning: " + f.Warning
			}
		}
		if report.Silent != 11 {
			t.Errorf("%d machines report by themselves, want 11", report.Silent)
		}
		return out
	}
	if got := problems(); len(got) != 0 {
		t.Errorf("a healthy estate has problems: %v", got)
	}
	for _, name := range []string{"domain-refuses-binds", "saml-tampered", "sso-template-gone", "composer-untrusted", "center-down", "pod-down"} {
		begin(name)(w)
	}
	got := problems()
	for name, want := range map[string]string{
		"lab.example": "refuses to bind", "Corporate sign-on": "not signed by an accepted signer", "Corporate logon": "no such template",
		"composer1.corp.example": "certificate", "vc1.corp.example": "", "cs1.pod1.example": "",
	} {
		if problem, ok := got[name]; !ok || !strings.Contains(problem, want) {
			t.Errorf("%s: %q, want %q in it", name, problem, want)
		}
	}
	for _, name := range []string{"saml-tampered", "sso-template-gone"} {
		end(name)(w)
	}
	for _, name := range []string{"saml-ending", "sso-template-weak", "server-certificate-ending"} {
		begin(name)(w)
	}
	got = problems()
	for name, want := range map[string]string{
		"Corporate sign-on": "warning: ", "Corporate logon": "warning: DesktopLogon: it allows keys of 1024 bits", peer: "warning: its certificate ends on",
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	w.estate.Domains[0].Change(func(d *directory.Domain) { d.Groups = nil })
	if got := problems()["group Desktop Root Administrators"]; !strings.Contains(got, "corp.example has no group Desktop Root Administrators") {
		t.Errorf("the administrators' group is gone: %q", got)
	}
	if _, err := app.Check(t.Context(), w.dir+"/none.yaml", nil, time.Now); err == nil {
		t.Error("an inventory that is not there is checked")
	}
}
