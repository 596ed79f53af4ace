package azure_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	for rule, want := range map[string]int{"azure-storage-https-only": 160, "azure-vm-managed-disks": 120} { // 0.2 of 800 storage accounts, 0.1 of 1200 machines
		if got := counts[rule]; got < want*7/10 || got > want*13/10 {
			t.Errorf("%s: %d findings, about %d were wanted", rule, got, want)
		}
	}
	if len(counts) != 2 {
		t.Errorf("findings of the rules %v, want those of the two with a share", slices.Collect(maps.Keys(counts)))
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
	renamed := strings.ReplaceAll(fmt.Sprint(second), a.Subscriptions()[1].ID, a.Subscriptions()[0].ID)
	if len(first) == 0 || fmt.Sprint(first) == renamed {
		t.Error("two subscriptions have the same findings, or the first has none")
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
	// The plan KeyVault, the vault none and the user nobody do not exist; the plan VirtualMachines does.
	// Directory objects cannot be created, and graph/policies/authorizationPolicy lacks the id of the object.
	for body, want := range map[string]int{
		`{"id":"/subscriptions/` + sub + `/providers/Microsoft.Security/pricings/KeyVaults","patch":{"properties":{"pricingTier":"Free"}}}`: http.StatusNoContent,
		`{"id":"graph/policies/authorizationPolicy","patch":{}}`:                                                                            http.StatusBadRequest,
		`{"id":"/subscriptions/` + sub + `/providers/Microsoft.Other/things/x"}`:                                                            http.StatusBadRequest,
		`{"id":"nonsense"}`: http.StatusBadRequest,
		`{"id":"/subscriptions/` + sub + `/providers/Microsoft.Security/pricings/KeyVault","patch":{}}`:                        http.StatusBadRequest,
		`{"id":"/subscriptions/` + sub + `/providers/Microsoft.Security/pricings/KeyVault","gone":true}`:                       http.StatusBadRequest,
		`{"id":"/subscriptions/` + sub + `/providers/Microsoft.Security/pricings/VirtualMachines","make":{}}`:                  http.StatusBadRequest,
		`{"id":"graph/policies/authorizationPolicy/authorizationPolicy","patch":{}}`:                                           http.StatusNoContent,
		`{"id":"/subscriptions/` + sub + `/resourceGroups/created/providers/Microsoft.KeyVault/vaults/none/keys/k","make":{}}`: http.StatusBadRequest,
		`{"id":"graph/users/nobody","patch":{}}`:                                                                               http.StatusBadRequest,
		`{"id":"graph/users/nobody","make":{}}`:                                                                                http.StatusBadRequest,
		`{"id":"graph/groups/transitiveMembers/x","patch":{}}`:                                                                 http.StatusBadRequest,
		`{`: http.StatusBadRequest,
	} {
		if got := post(body); got != want {
			t.Errorf("%s: status %d, want %d", body, got, want)
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

// TestFindingsOfCreatedResources creates resources whose names have no number. A generated
// resource is found by the number in its name. A created one must not be taken for number 0, or it
// would contain the parts that are generated for number 0.
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
		if !seen[f] && !strings.Contains(f.Rule, "watcher") { // the created network watcher ends the finding about its location
			t.Errorf("%s is no longer reported for %s", f.Rule, f.Entity)
		}
	}
	want := []world.Finding{{Rule: "azure-keyvault-key-expiry", Entity: posture.EntityID("Azure.KeyVault." + sub + ".created.Key.newvault/plain")}}
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("findings of the created vault's parts (-want +got):\n%s", diff)
	}
}

// TestCreatedResourcesAreFoundInAnyCase reads, changes and deletes created resources whose names
// have capitals: names in Azure are not case-sensitive.
func TestCreatedResourcesAreFoundInAnyCase(t *testing.T) {
	t.Parallel()
	c := newCloud(azure.Options{Seed: 2, Size: 50})
	sub := c.Subscriptions()[0].ID
	token := signIn(t, c, c.Reader(azure.PublicCloud), managementScope)
	vault := "/subscriptions/" + sub + "/resourceGroups/created/providers/Microsoft.KeyVault/vaults/"
	for _, change := range []azure.Change{
		{ID: vault + "NewVault", Make: world.Obj("location", "westeurope")},
		{ID: vault + "NewVault/keys/SignAll", Make: world.Obj("properties", world.Obj("keySize", 2048))},
		{ID: vault + "newVault/keys/signAll", Patch: world.Obj("properties", world.Obj("keyUri", "x"))},
	} {
		if err := c.Change(change); err != nil {
			t.Fatal(err)
		}
	}
	key := `{"id":"` + vault + `NewVault/keys/SignAll","name":"SignAll","properties":{"keySize":2048,"keyUri":"x"}}`
	for path, want := range map[string]string{
		"NewVault":              `{"id":"` + vault + `NewVault","name":"NewVault","location":"westeurope"}`,
		"NewVault/keys":         `{"value":[` + key + `]}`,
		"newvault/keys":         `{"value":[` + key + `]}`,
		"NewVault/keys/SignAll": key,
		"NEWVAULT/keys/SIGNALL": key,
	} {
		status, got := get(c, "management.azure.com", vault+path+"?api-version=2022-02-01", token)
		if status != http.StatusOK || got != want {
			t.Errorf("%s: %d %s\nwant %s", path, status, got, want)
		}
	}
	for group, want := range map[string]int{"CREATED": http.StatusOK, "other": http.StatusNotFound} {
		path := strings.Replace(vault+"NewVault", "/created/", "/"+group+"/", 1)
		if status, got := get(c, "management.azure.com", path+"?api-version=2022-02-01", token); status != want {
			t.Errorf("in the group %s: %d %s", group, status, got)
		}
	}
	if err := c.Change(azure.Change{ID: vault + "NEWVAULT", Gone: true}); err != nil {
		t.Fatal(err)
	}
	if status, got := get(c, "management.azure.com", vault+"NewVault?api-version=2022-02-01", token); status != http.StatusNotFound {
		t.Errorf("after the vault was deleted: %d %s", status, got)
	}
}

// TestGraphChecksTheCallerFirst sends calls that the cloud does not simulate. Unsimulated, which
// knows only /v1.0/domains, is asked last: after injected faults, and after the check that the
// caller may read the directory.
func TestGraphChecksTheCallerFirst(t *testing.T) {
	t.Parallel()
	now, faults := time.Now(), gateway.NewFaults()
	c := azure.New(azure.Options{Seed: 2, Today: today, Now: func() time.Time { return now }, Unsimulated: func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.URL.Path != "/v1.0/domains" {
			return false
		}
		w.WriteHeader(http.StatusOK)
		return true
	}}, faults)
	token := signIn(t, c, c.Reader(azure.PublicCloud), graphScope)
	check := func(what, path, token string, want int) {
		t.Helper()
		if status, got := get(c, "graph.microsoft.com", path, token); status != want {
			t.Errorf("%s: %d %s, want %d", what, status, got, want)
		}
	}
	check("a reader", "/v1.0/domains", token, http.StatusOK)
	check("nothing to read", "/v1.0/nothing", token, http.StatusNotFound)
	check("members of no role", "/v1.0/directoryRoles/members/x", token, http.StatusNotFound)
	check("members of no group", "/v1.0/groups/transitiveMembers/x", token, http.StatusNotFound)
	check("no token", "/v1.0/domains", "", http.StatusUnauthorized)
	check("a token for Resource Manager", "/v1.0/domains", signIn(t, c, c.Reader(azure.PublicCloud), managementScope), http.StatusUnauthorized)
	check("a denied application", "/v1.0/domains", signIn(t, c, c.Denied(azure.PublicCloud), graphScope), http.StatusForbidden)
	check("an application without consent", "/v1.0/domains", signIn(t, c, c.Unconsented(azure.PublicCloud), graphScope), http.StatusForbidden)
	id, err := faults.Add(gateway.Fault{Match: gateway.Call{Service: "Microsoft.Graph"}, Kind: gateway.Fail})
	if err != nil {
		t.Fatal(err)
	}
	check("a fault", "/v1.0/domains", token, http.StatusServiceUnavailable)
	faults.Remove(id)
	now = now.Add(2 * time.Hour)
	check("an expired token", "/v1.0/domains", token, http.StatusUnauthorized)
}

// TestApplicationsHaveSeveralKeys adds a key to an application: the old and the new key are valid
// until the application is removed.
func TestApplicationsHaveSeveralKeys(t *testing.T) {
	t.Parallel()
	c := newCloud(azure.Options{Seed: 2})
	a := c.Register(azure.PublicCloud)
	if status, got := requestToken(c, a, graphScope); status != http.StatusBadRequest {
		t.Errorf("without a key: %d %s", status, got)
	}
	a.Key = c.NewKey(a.Application)
	old := a
	a.Key = c.NewKey(a.Application)
	if a.Key == old.Key {
		t.Fatalf("both keys are %q", a.Key)
	}
	signIn(t, c, a, graphScope)
	signIn(t, c, old, graphScope)
	a.Key += "x"
	if status, got := requestToken(c, a, graphScope); status != http.StatusUnauthorized {
		t.Errorf("another key: %d %s", status, got)
	}
	c.Unregister(a.Application)
	if status, got := requestToken(c, old, graphScope); status != http.StatusBadRequest {
		t.Errorf("after the application was removed: %d %s", status, got)
	}
	if key := c.NewKey(a.Application); key != "" {
		t.Errorf("a removed application has the key %q", key)
	}
}

func TestApplicationsHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := newCloud(azure.Options{Seed: 2})
	first, second := c.Register(azure.PublicCloud), c.Register(azure.PublicCloud)
	c.Unregister(first.Application)
	if third := c.Register(azure.PublicCloud); third.Application == second.Application {
		t.Errorf("two applications have the id %s", third.Application)
	}
}

const (
	graphScope      = "https://graph.microsoft.com/.default"
	managementScope = "https://management.core.windows.net//.default" // the audience itself ends with a slash
)

func requestToken(c *azure.Cloud, a azure.Credential, scope string) (int, string) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {a.Application}, "client_secret": {a.Key}, "scope": {scope}}
	r := httptest.NewRequest(http.MethodPost, "https://login.microsoftonline.com/"+a.Tenant+"/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// signIn returns a token of an application.
func signIn(t *testing.T, c *azure.Cloud, a azure.Credential, scope string) string {
	t.Helper()
	status, body := requestToken(c, a, scope)
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		t.Fatalf("sign in: %d %s", status, body)
	}
	return answer.Token
}

// get sends a call and returns the response without its final line break.
func get(c *azure.Cloud, host, path, token string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, "https://"+host+path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w.Code, strings.TrimSuffix(w.Body.String(), "\n")
}
