package azure_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/sim/azure"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

var today = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func newCloud(o azure.Options) *azure.Cloud {
	o.Today = today
	return azure.New(o, gateway.NewFaults())
}

func findings(c *azure.Cloud, subscription string) []world.Finding {
	return slices.Collect(c.Findings(subscription))
}

// TestEveryRuleIsViolatedSomewhere compares the violated rules with the list of
// checks.
func TestEveryRuleIsViolatedSomewhere(t *testing.T) {
	t.Parallel()
	violated := map[string]bool{}
	for seed := range world.Seed(20) {
		c := newCloud(azure.Options{Seed: seed + 1, Size: 100, Shares: world.Shares{Default: 0.5}})
		for _, f := range findings(c, c.Subscriptions()[0].ID) {
			violated[f.Rule] = true
		}
	}
	want := azureRules(t)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(violated))); diff != "" {
		t.Errorf("rules (-listed +violated):\n%s", diff)
	}
}

// azureRules returns the ids of the list of built-in checks, if it exists
// beside the checkout.
func azureRules(t *testing.T) []string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "shared", "rules", "rules.json"))
		if err != nil {
			continue
		}
		var all []struct{ ID, Provider string }
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range all {
			if r.Provider == "azure" {
				ids = append(ids, r.ID)
			}
		}
		slices.Sort(ids)
		return ids
	}
	t.Skip("the list of built-in checks is not beside the checkout")
	return nil
}

func TestSharesAreKept(t *testing.T) {
	t.Parallel()
	c := newCloud(azure.Options{Seed: 5, Size: 10_000, Shares: world.Shares{ByRule: map[string]float64{"azure-storage-https-only": 0.2, "azure-vm-managed-disks": 0.1}}})
	counts := map[string]int{}
	for _, f := range findings(c, c.Subscriptions()[0].ID) {
		counts[f.Rule]++
	}
	for rule, want := range map[string]int{"azure-storage-https-only": 160, "azure-vm-managed-disks": 120} { // of 800 and 1200
		if got := counts[rule]; got < want*7/10 || got > want*13/10 {
			t.Errorf("%s: %d findings, about %d were wanted", rule, got, want)
		}
	}
	if len(counts) != 2 {
		t.Errorf("findings of %v", slices.Collect(maps.Keys(counts)))
	}
}

func TestTheSameSeedGeneratesTheSameResources(t *testing.T) {
	t.Parallel()
	o := azure.Options{Seed: 9, Size: 100, Subscriptions: 3, Shares: world.Shares{Default: 0.4}}
	a, b := newCloud(o), newCloud(o)
	if diff := cmp.Diff(a.Subscriptions(), b.Subscriptions(), cmp.AllowUnexported(azure.Subscription{})); diff != "" {
		t.Error(diff)
	}
	for _, s := range a.Subscriptions() {
		if diff := cmp.Diff(findings(a, s.ID), findings(b, s.ID)); diff != "" {
			t.Errorf("%s:\n%s", s.ID, diff)
		}
	}
	first, second := findings(a, a.Subscriptions()[0].ID), findings(a, a.Subscriptions()[1].ID)
	if len(first) == 0 || len(first) == len(second) && fmt.Sprint(first) == strings.ReplaceAll(fmt.Sprint(second), a.Subscriptions()[1].ID, a.Subscriptions()[0].ID) {
		t.Error("two subscriptions are equal")
	}
}

func TestChangesOverHTTP(t *testing.T) {
	t.Parallel()
	c := newCloud(azure.Options{Seed: 2, Size: 50})
	mux := http.NewServeMux()
	c.Admin(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	sub := c.Subscriptions()[0].ID
	post := func(body string) int {
		answer, err := server.Client().Post(server.URL+"/azure/changes", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for body, want := range map[string]int{
		`{"id":"/subscriptions/` + sub + `/providers/Microsoft.Security/pricings/KeyVaults","patch":{"properties":{"pricingTier":"Free"}}}`: http.StatusNoContent,
		`{"id":"graph/policies/authorizationPolicy","patch":{}}`:                                                                            http.StatusBadRequest,
		`{"id":"/subscriptions/` + sub + `/providers/Microsoft.Other/things/x"}`:                                                            http.StatusBadRequest,
		`{"id":"nonsense"}`: http.StatusBadRequest,
		`{`:                 http.StatusBadRequest,
	} {
		if got := post(body); got != want {
			t.Errorf("%s: status %d", body, got)
		}
	}
	answer, err := server.Client().Get(server.URL + "/azure/findings/" + sub)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got []world.Finding
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := []world.Finding{{Rule: "azure-defender-keyvault", Entity: posture.EntityID("Azure.Security." + sub + ".global.Pricing.keyvaults")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFindingsOfCreatedResources creates resources whose names have no number. They
// contain only what is created in them, not what the generated resource 0 contains.
func TestFindingsOfCreatedResources(t *testing.T) {
	t.Parallel()
	c := newCloud(azure.Options{Seed: 2, Size: 50, Shares: world.Shares{ByRule: map[string]float64{"azure-network-watcher": 1, "azure-keyvault-key-expiry": 1}}})
	sub := c.Subscriptions()[0].ID
	before := findings(c, sub)
	group := "/subscriptions/" + sub + "/resourceGroups/"
	vault := group + "created/providers/Microsoft.KeyVault/vaults/newvault"
	for _, change := range []azure.Change{
		{ID: group + "NetworkWatcherRG/providers/Microsoft.Network/networkWatchers/NetworkWatcher_westeurope", Make: world.Obj("location", "westeurope")},
		{ID: vault, Make: world.Obj("location", "westeurope")},
		{ID: vault + "/keys/plain", Make: world.Obj("properties", world.Obj("attributes", world.Obj("enabled", true)))},
	} {
		if err := c.Change(change); err != nil {
			t.Fatal(err)
		}
	}
	var added []world.Finding
	seen := map[world.Finding]bool{}
	for _, f := range findings(c, sub) {
		if seen[f] {
			t.Errorf("%s is reported twice for %s", f.Rule, f.Entity)
		}
		seen[f] = true
		if strings.Contains(string(f.Entity), "newvault/") {
			added = append(added, f)
		}
	}
	for _, f := range before {
		if !seen[f] && !strings.Contains(f.Rule, "watcher") {
			t.Errorf("%s is no longer reported for %s", f.Rule, f.Entity)
		}
	}
	want := []world.Finding{{Rule: "azure-keyvault-key-expiry", Entity: posture.EntityID("Azure.KeyVault." + sub + ".created.Key.newvault/plain")}}
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("findings of the created vault's parts (-want +got):\n%s", diff)
	}
}
