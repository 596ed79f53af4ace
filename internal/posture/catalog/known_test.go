package catalog_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
)

// TestRulesCoverTheKnownChecks compares the catalog with the list of checks that
// every posture tool is expected to have, where that list is at hand.
func TestRulesCoverTheKnownChecks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(shared(t, "rules/rules.json"))
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct {
		ID           string
		ResourceType posture.EntityType
		Level        posture.RuleLevel
		Controls     map[string][]string
		Unconfirmed  []string `json:"unconfirmedControls"`
	}
	if err := json.Unmarshal(text, &checks); err != nil {
		t.Fatal(err)
	}
	have := map[string]catalog.Entry{}
	for _, e := range product(t).Rules {
		have[string(e.ID)] = e
	}
	for _, c := range checks {
		e, ok := have[c.ID]
		if !ok {
			t.Errorf("%s is missing", c.ID)
			continue
		}
		var controls, unconfirmed []string
		for framework, numbers := range c.Controls {
			for _, n := range numbers {
				controls = append(controls, framework+"_"+n)
			}
		}
		for _, u := range c.Unconfirmed {
			unconfirmed = append(unconfirmed, strings.Replace(u, " ", "_", 1))
		}
		slices.Sort(controls)
		slices.Sort(unconfirmed)
		if diff := cmp.Diff([]any{c.ResourceType, c.Level, controls, unconfirmed}, []any{e.Type, e.Level, e.Controls, e.Unconfirmed}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.ID, diff)
		}
	}
	if graphRules := len(have) - len(checks); graphRules < 12 {
		t.Errorf("%d rules beyond the known checks, want 12", graphRules)
	}
}

// shared returns the path of reference material beside the checkout, or skips.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			path := filepath.Join(filepath.Dir(dir), "shared", name)
			if _, err := os.Stat(path); err != nil {
				t.Skip("there is no reference material beside the checkout")
			}
			return path
		}
		if dir == filepath.Dir(dir) {
			t.Skip("there is no module around")
		}
	}
}
