package scan_test

import (
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
	"vigil/internal/posture/scan"
)

// policyFile is testdata/moto/policies.yaml: policies that are easily misjudged, with
// their expected verdicts.
type policyFile struct {
	Rules    map[string][]posture.RuleID // by kind of resource
	Policies []struct {
		Name, Kind, Why, See string
		Violates             []posture.RuleID
	}
}

// TestPeerVerdicts fills an account of moto with resources whose policies are easily
// misjudged, among ordinary ones, scans it, and compares the verdicts with those that
// were written by hand. It is skipped unless VIGIL_TEST_MOTO has the address of a moto
// server; python must be that of the virtual environment of moto.
func TestPeerVerdicts(t *testing.T) {
	address := os.Getenv("VIGIL_TEST_MOTO")
	if address == "" {
		t.Skip("VIGIL_TEST_MOTO does not name a moto server")
	}
	answer, err := http.Post("http://"+address+"/moto-api/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": "http://" + address, "AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "x"} {
		t.Setenv(name, value)
	}
	if text, err := exec.CommandContext(t.Context(), "python", "testdata/moto/account.py").CombinedOutput(); err != nil {
		t.Fatalf("fill the account: %v\n%s", err, text)
	}
	text, err := os.ReadFile("testdata/moto/policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file policyFile
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}

	targets, err := scan.AWS{Endpoint: "http://" + address}.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, targets[0])
	o.Regions = []string{"us-east-1"}
	checked := map[posture.RuleID]bool{}
	for _, ids := range file.Rules {
		for _, id := range ids {
			checked[id] = true
		}
	}
	o.Rules = slices.DeleteFunc(slices.Clone(o.Rules), func(r posture.Rule) bool { return !checked[r.ID] })
	if len(o.Rules) != len(checked) {
		t.Fatalf("only %d of the rules %v exist", len(o.Rules), slices.Sorted(maps.Keys(checked)))
	}
	var resources int
	names := map[posture.EntityID]string{}
	o.Each = func(e posture.Entity) error {
		resources++
		names[e.ID] = resourceName(e)
		return nil
	}
	got, err := scan.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range got.Outcome.Unread {
		t.Errorf("%s in %s could not be read: %s", u.Type, u.Region, u.Why)
	}
	for id, v := range got.Verdicts {
		if v.Unknown+v.NotListed > 0 {
			t.Errorf("%s is unknown for %d resources", id, v.Unknown+v.NotListed)
		}
	}
	violated := map[string]map[posture.RuleID]bool{}
	for _, f := range got.Findings {
		name := names[f.Object]
		if violated[name] == nil {
			violated[name] = map[posture.RuleID]bool{}
		}
		violated[name][f.Rule] = true
	}
	seen := map[string]bool{}
	for _, name := range names {
		seen[name] = true
	}
	verdicts := 0
	for _, p := range file.Policies {
		if !seen[p.Name] {
			t.Errorf("%s %s was not read", p.Kind, p.Name)
		}
		for _, rule := range file.Rules[p.Kind] {
			verdicts++
			if want := slices.Contains(p.Violates, rule); violated[p.Name][rule] != want {
				t.Errorf("%s %s violates %s: %t, want %t: %s (%s)", p.Kind, p.Name, rule, !want, want, p.Why, p.See)
			}
		}
		for _, rule := range p.Violates {
			if !slices.Contains(file.Rules[p.Kind], rule) {
				t.Errorf("%s: %s is not a rule for %s", p.Name, rule, p.Kind)
			}
		}
	}
	if resources < 250 || len(file.Policies) < 30 {
		t.Errorf("%d resources, %d policies; want at least 250 and 30", resources, len(file.Policies))
	}
	t.Logf("%d resources, %d policies, %d verdicts", resources, len(file.Policies), verdicts)
}

// resourceName returns the name that account.py has given to a resource. Keys and
// security groups have it as their description, because their names in the collected
// entities are ids, which AWS chooses.
func resourceName(e posture.Entity) string {
	if e.Type == "AWS.KMS.Key" || e.Type == "AWS.EC2.SecurityGroup" {
		for _, p := range e.Properties {
			if p.Name == "description" {
				return p.Plain()
			}
		}
	}
	return e.Name
}
