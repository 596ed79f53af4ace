package demo

import (
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/frameworks"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/scan"
	"vigil/resources"
	"vigil/rules"
)

// TestEveryServiceIsInTheDemo checks that one account of each cloud in the demo has
// resources of every service for which types are declared, and that most rules have a
// verdict on them.
func TestEveryServiceIsInTheDemo(t *testing.T) {
	t.Parallel()
	sandbox, product := newSandbox(t)
	var all []posture.Rule
	for _, e := range product.Rules {
		all = append(all, e.Rule)
	}
	for _, source := range sandbox.Sources() {
		provider := source.Provider()
		access, err := sandbox.Access(provider, "") // the first account of the cloud
		if err != nil {
			t.Fatal(err)
		}
		services := map[string]int{}
		result, err := scan.Run(t.Context(), scan.Options{
			Source: source, Access: access, AllTypes: true, Rules: all, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Each: func(e posture.Entity) error {
				services[strings.ToLower(e.Type.Service())]++
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		cloud := strings.ToLower(string(provider))
		folders, err := fs.ReadDir(resources.Files, cloud)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			if services[folder.Name()] == 0 {
				t.Errorf("%s: no resource of the service %s", provider, folder.Name())
			}
		}
		judged, silent := 0, []string{}
		for rule, v := range result.Verdicts {
			if v.Violating+v.Passing > 0 {
				judged++
			} else {
				silent = append(silent, string(rule))
			}
		}
		slices.Sort(silent)
		t.Logf("%s: %d of %d rules have a verdict on %d resources; no verdict: %v", provider, judged, len(result.Verdicts), result.Outcome.Entities, silent)
		if judged*10 < len(result.Verdicts)*8 {
			t.Errorf("%s: %d of %d rules have a verdict, want 80 %%", provider, judged, len(result.Verdicts))
		}
	}
}

// newSandbox returns a sandbox that is closed with the test, and the rules of Vigil.
func newSandbox(t *testing.T) (*Sandbox, *catalog.Catalog) {
	t.Helper()
	sandbox, err := NewSandbox(nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sandbox.Close)
	product, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		t.Fatal(err)
	}
	return sandbox, product
}
