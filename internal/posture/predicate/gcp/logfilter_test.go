package gcp_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/predicate/predicatetest"
)

// firewallEntry is the template of the log entries that the creation of a firewall rule writes; null
// stands for any value. Real entries lack note, metadata and serviceData, which are for cases of the corpus.
var firewallEntry = gjson.Parse(`{
	"logName": "projects/acme-prod/logs/cloudaudit.googleapis.com%2Factivity", "severity": "NOTICE", "insertId": null, "timestamp": null,
	"resource": {"type": "gce_firewall_rule", "labels": {"project_id": "acme-prod", "firewall_rule_id": null}},
	"protoPayload": {
		"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "compute.googleapis.com", "methodName": "v1.compute.firewalls.insert",
		"authenticationInfo": null, "requestMetadata": null, "note": "a \"quoted\" text", "metadata": {"a.b/c": "d"},
		"serviceData": {"policyDelta": {"bindingDeltas": [{"action": "ADD", "member": null}, {"action": "REMOVE", "member": null}]}}
	}
}`)

func matchesEvery(filter string) predicate.Answer {
	f, err := gcp.ParseLogFilter(filter)
	if err != nil {
		return predicate.NotKnown(err.Error())
	}
	return f.MatchesEvery(firewallEntry)
}

func TestLogFilterCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Filter string `yaml:"filter"`
	}
	predicatetest.Corpus(t, "testdata/log-filter.yaml", func(e entry) predicate.Answer { return matchesEvery(e.Filter) })
}

// FuzzLogFilter checks that no filter matches every entry together with its negation, and that
// a further condition never makes a filter match more.
func FuzzLogFilter(f *testing.F) {
	for _, filter := range []string{
		`resource.type="gce_firewall_rule" AND (protoPayload.methodName:("insert" OR 'x') -severity>=ERROR)`,
		`NOT log_id("cloudaudit.googleapis.com/activity") OR sample(insertId, 0.1)`, "-- x\na.\"b\"=~\"\\.\"",
	} {
		f.Add(filter, `protoPayload.authenticationInfo.principalEmail!="ann"`)
	}
	f.Fuzz(func(t *testing.T, filter, more string) {
		got := matchesEvery(filter)
		if _, err := gcp.ParseLogFilter(filter); err != nil || len(filter) == 0 {
			return
		}
		// The newlines end a comment (--) at the end of a filter, which would hide the parenthesis.
		if got.Truth == predicate.Yes && matchesEvery("NOT ("+filter+"\n)").Truth == predicate.Yes {
			t.Errorf("%q matches every entry, and its negation does too", filter)
		}
		if _, err := gcp.ParseLogFilter("(" + more + "\n)"); err == nil && got.Truth == predicate.No && matchesEvery("("+filter+"\n) AND ("+more+"\n)").Truth != predicate.No {
			t.Errorf("%q does not match every entry, but does with the further condition %q", filter, more)
		}
	})
}
