package app_test

import (
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop/app"
	"vigil/internal/sim/estate"
)

func TestCheckTellsWhatIsWrongAndWhy(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	w.login()
	problems := func() map[string]string {
		found, err := app.Check(t.Context(), w.estate.InventoryFile(), nil, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, f := range found {
			if f.Problem != "" {
				out[f.Ref.Name] = f.Problem
			}
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
	if _, err := app.Check(t.Context(), w.dir+"/none.yaml", nil, time.Now); err == nil {
		t.Error("an inventory that is not there is checked")
	}
}
