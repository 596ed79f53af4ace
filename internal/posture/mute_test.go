package posture_test

import (
	"testing"

	"vigil/internal/posture"
)

func TestPatternsMatchWholeNamesWithoutRegardToCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"arn:aws:s3:::logs-*", "arn:aws:s3:::Logs-2026/archive", true},
		{"arn:aws:s3:::logs-*", "x-arn:aws:s3:::logs-1", false},
		{"*/resourceGroups/dev-?/*", "/subscriptions/1/resourcegroups/dev-7/providers/vm/a", true},
		{"*/resourceGroups/dev-?/*", "/subscriptions/1/resourcegroups/dev-77/providers/vm/a", false},
		{"bucket", "buckets", false},
		{"a[1]*", "a[1]b", true},
		{"a[1]*", "a1b", false},
		{`a\b`, `a\b`, true},
		{"*", "", true},
	} {
		if got := posture.MatchPattern(c.pattern, c.text); got != c.want {
			t.Errorf("MatchPattern(%q, %q) = %t, want %t", c.pattern, c.text, got, c.want)
		}
	}
}

func TestMuteScopeMatchesIfEveryMemberMatches(t *testing.T) {
	t.Parallel()
	f := posture.Finding{Rule: "r", Account: "111122223333", Object: "AWS.S3.111122223333.global.Bucket.logs", Name: "logs", Tags: map[string]string{"env": "dev"}}
	all := posture.MuteScope{Rules: []posture.RuleID{"r", "s"}, Accounts: []posture.AccountID{"111122223333"}, Tags: map[string][]string{"env": {"dev", "test"}}, Resources: []string{"lo*"}}
	if !all.Matches(f) {
		t.Error("a finding that every member matches does not match")
	}
	for name, change := range map[string]func(*posture.MuteScope){
		"rule":     func(s *posture.MuteScope) { s.Rules = []posture.RuleID{"s"} },
		"account":  func(s *posture.MuteScope) { s.Accounts = []posture.AccountID{"2"} },
		"tag":      func(s *posture.MuteScope) { s.Tags = map[string][]string{"env": {"prod"}} },
		"resource": func(s *posture.MuteScope) { s.Resources = []string{"other*"} },
	} {
		s := all
		change(&s)
		if s.Matches(f) {
			t.Errorf("matches though the %s differs", name)
		}
	}
	if !(posture.MuteScope{}).IsZero() || all.IsZero() {
		t.Error("IsZero is false for the zero scope, or true for one with members")
	}
}
