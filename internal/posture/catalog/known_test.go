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
// every posture tool is expected to have, if that list is available.
func TestRulesCoverTheKnownChecks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(sharedPath(t, "rules/rules.json"))
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
	entries := map[string]catalog.Entry{}
	for _, e := range product(t).Rules {
		entries[string(e.ID)] = e
	}
	for _, c := range checks {
		e, ok := entries[c.ID]
		if !ok {
			t.Errorf("%s is missing", c.ID)
			continue
		}
		var controls, unconfirmed []string
		for framework, numbers := range c.Controls {
			for _, n := range numbers {
				if !doubtful[framework+"_"+n].has(c.ID) {
					controls = append(controls, framework+"_"+n)
				}
			}
		}
		// The list contains older editions only.
		e.Controls = slices.DeleteFunc(slices.Clone(e.Controls), func(id string) bool {
			return slices.ContainsFunc(newEditions, func(edition string) bool { return strings.HasPrefix(id, edition) })
		})
		for _, u := range c.Unconfirmed {
			u = strings.Replace(u, " ", "_", 1) // the list has a space between framework and number
			if !doubtful[u].has(c.ID) {
				unconfirmed = append(unconfirmed, u)
			}
		}
		slices.Sort(controls)
		slices.Sort(unconfirmed)
		if diff := cmp.Diff([]any{c.ResourceType, c.Level, controls, unconfirmed}, []any{e.Type, e.Level, e.Controls, e.Unconfirmed}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.ID, diff)
		}
	}
	if more := len(entries) - len(checks); more < 12 {
		t.Errorf("%d rules beyond the known checks, want at least 12", more)
	}
}

// newEditions are the prefixes of controls of editions that the list does not have.
var newEditions = []string{"aws-fsbp-1.0_", "cis-aws-5.0_", "cis-aws-7.0_", "cis-azure-3.0_", "cis-gcp-3.0_"}

// doubtful are assignments of the list, by control and rule, in which the rule does not
// check what the control requires.
var doubtful = map[string]assigned{
	// The control requires copies of audit logs on a log server, not backups of data.
	"pci-dss-4.0_10.3.3": {
		"aws-dynamodb-pitr", "aws-rds-backup", "aws-s3-bucket-versioning", "azure-keyvault-recoverable", "azure-storage-soft-delete", "gcp-sql-backup",
	},
	// The control requires that keys are rotated; the rule checks only who manages the key.
	"pci-dss-4.0_3.7.4": {"azure-disk-unattached-cmk", "azure-storage-cmk", "gcp-bigquery-cmek"},
}

// assigned are the ids of rules to which a control is assigned.
type assigned []string

func (a assigned) has(rule string) bool { return slices.Contains(a, rule) }

// sharedPath returns the path of reference material next to the checkout, or skips the test.
func sharedPath(t *testing.T, name string) string {
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
			t.Skip("no folder above the test has a go.mod")
		}
	}
}
