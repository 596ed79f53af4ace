package catalog_test

import (
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	builtin "vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/resource"
)

// TestRulesAboutDerivedFactsHaveRawCases checks that each rule whose query uses a
// property, edge or entity that a Go function derives has a violating and a passing case
// with raw answers of the cloud. Without them nothing shows that the function and the rule
// together return the right verdict.
func TestRulesAboutDerivedFactsHaveRawCases(t *testing.T) {
	t.Parallel()
	b := newBench()
	derived := 0
	for _, e := range product(t).Rules {
		reads, err := b.schema.Read(e.Query.Text)
		if err != nil {
			t.Fatal(err)
		}
		facts := derivedFacts(e, reads.Types)
		if len(facts) == 0 {
			continue
		}
		derived++
		violates, passes := rawVerdicts(t, b, e)
		switch shown := violates && passes; {
		case !shown && !withoutRawCases[e.ID]:
			t.Errorf("%s %s: no violating and passing case with answers of the cloud, although it uses %s", e.Level, e.ID, strings.Join(facts, ", "))
		case shown && withoutRawCases[e.ID]:
			t.Errorf("%s has raw cases: remove it from withoutRawCases", e.ID)
		}
	}
	if derived < 300 {
		t.Errorf("%d rules use derived facts", derived)
	}
}

// rawVerdicts reports whether entities that are read from answers of the cloud violate
// and pass a rule in its cases.
func rawVerdicts(t *testing.T, b *bench, e catalog.Entry) (violates, passes bool) {
	t.Helper()
	for _, c := range e.Cases {
		if len(c.Answers) == 0 {
			continue
		}
		violates = violates || len(c.Violates) > 0
		verdicts := len(c.Violates) + len(c.Unknown) + len(c.NotApplicable)
		if verdicts == 0 {
			passes = true
			continue
		}
		_, found, _ := b.build(t, e, c)
		count := 0
		for _, f := range found {
			if f.Type == e.Type {
				count++
			}
		}
		passes = passes || count > verdicts
	}
	return violates, passes
}

// derivedFacts returns the properties and edges in the query of a rule that functions
// derive, and the types that functions list.
func derivedFacts(e catalog.Entry, types []posture.EntityType) (facts []string) {
	functions := derive.Functions()
	uses := func(name string) bool { return strings.Contains(e.Query.Text, "'"+name+"'") }
	for _, name := range types {
		kind := builtin.Catalog().Type(name)
		if kind == nil {
			continue
		}
		add := func(fact string) {
			if uses(fact) {
				facts = append(facts, string(name)+" "+fact)
			}
		}
		answers := []*resource.Answer{&kind.Answer}
		for i := range kind.Calls {
			answers = append(answers, &kind.Calls[i].Answer)
			if kind.Calls[i].Function != "" {
				for _, p := range kind.Calls[i].Properties {
					add(p.Name)
				}
			}
		}
		for _, a := range answers {
			for _, d := range a.Derive {
				f := functions.Derive[d.Name]
				for _, p := range f.Properties {
					add(p.Name)
				}
				for _, edge := range f.Edges {
					add(edge.Label)
				}
			}
		}
	}
	return facts
}

// withoutRawCases are the rules that still lack raw cases. The list only gets shorter.
var withoutRawCases = map[posture.RuleID]bool{
	"azure-authorization-disabled-admin":        true,
	"azure-containerinstance-public-privileged": true,
	"azure-entra-app-privileged":                true,
	"azure-entra-global-administrators":         true,
	"azure-entra-policy-admin-portals":          true,
	"azure-entra-policy-admins":                 true,
	"azure-entra-policy-azure-management":       true,
	"azure-entra-privileged-mfa":                true,
	"azure-frontdoor-logs":                      true,
	"azure-keyvault-guards-data-unprotected":    true,
	"azure-keyvault-logging":                    true,
	"azure-managedidentity-shared-admin":        true,
	"azure-monitor-activity-log":                true,
	"azure-nsg-flow-log-retention":              true,
	"azure-nsg-udp-open":                        true,
	"azure-private-endpoint-bypassed-cosmosdb":  true,
	"azure-security-contact":                    true,
	"azure-storage-private-endpoint-bypassed":   true,
	"azure-web-site-privileged":                 true,
	"gcp-bigquery-public":                       true,
	"gcp-fw-opens-privileged":                   true,
	"gcp-gke-default-sa":                        true,
	"gcp-gke-open-privileged":                   true,
	"gcp-iam-foreign-account-privileged":        true,
	"gcp-iam-role-escalation-account-policy":    true,
	"gcp-iam-role-escalation-delegation":        true,
	"gcp-iam-role-escalation-function":          true,
	"gcp-iam-role-escalation-hmac":              true,
	"gcp-iam-role-escalation-instance":          true,
	"gcp-iam-role-escalation-key":               true,
	"gcp-iam-role-escalation-project-metadata":  true,
	"gcp-iam-role-escalation-project-policy":    true,
	"gcp-iam-role-escalation-role-update":       true,
	"gcp-iam-role-escalation-run":               true,
	"gcp-iam-role-escalation-scheduler":         true,
	"gcp-iam-role-escalation-sign-blob":         true,
	"gcp-iam-role-escalation-sign-jwt":          true,
	"gcp-iam-role-escalation-token":             true,
	"gcp-kms-rotation-90":                       true,
	"gcp-lb-privileged":                         true,
	"gcp-privileged-account-function":           true,
	"gcp-privileged-account-instance":           true,
	"gcp-privileged-account-instance-template":  true,
	"gcp-privileged-account-node-pool":          true,
	"gcp-privileged-account-run-service":        true,
	"gcp-run-public-privileged":                 true,
	"gcp-vm-default-sa":                         true,
	"gcp-vm-default-sa-full-scope":              true,
	"gcp-vm-ip-forward":                         true,
}
