package posture_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
)

// daysParameter returns the parameter "days" with the default 90.
func daysParameter(low, high int64) posture.RuleParameter {
	return posture.RuleParameter{Name: "days", Type: posture.IntegerParameter, Default: 90, Minimum: &low, Maximum: &high, Description: "Days."}
}

func TestCheckParameterValues(t *testing.T) {
	t.Parallel()
	days, accounts := daysParameter(1, 100), posture.RuleParameter{Type: posture.StringsParameter, Pattern: "[0-9]{3}"}
	ports := posture.RuleParameter{Type: posture.IntegersParameter, Maximum: days.Maximum}
	for i, tt := range []struct {
		p     posture.RuleParameter
		value any
		want  string // the value, or the error
	}{
		{days, 30, "30"},
		{days, 30.0, "30"},
		{days, 0, "is 0; the minimum is 1"},
		{days, 101.0, "is 101; the maximum is 100"},
		{days, 1.5, "must be a whole number"},
		{days, "30", "must be a whole number"},
		{days, nil, "must be a whole number"},
		{days, 1e300, "must be a whole number"},
		{ports, []any{22.0, 80, 22}, "[22 80]"},
		{ports, []any{22, 101}, "value 2 of the list is 101; the maximum is 100"},
		{ports, 22, "must be a list of integers"},
		{accounts, []any{"123"}, "[123]"},
		{accounts, []any{}, "[]"},
		{accounts, []any{"1234"}, `value 1 of the list is "1234", which does not match [0-9]{3}`},
		{accounts, []any{"')"}, `value 1 of the list is "')", which does not match [0-9]{3}`},
		{accounts, []any{1}, "value 1 of the list must be a string"},
		{accounts, make([]any, posture.MaxParameterItems+1), "has 1001 values; the limit is 1000"},
		{posture.RuleParameter{Type: posture.StringsParameter}, []any{strings.Repeat("x", posture.MaxParameterText+1)}, "value 1 of the list has 2049 bytes; the limit is 2048"},
		{accounts, []any{strings.Repeat("1", posture.MaxParameterText+1)}, "value 1 of the list has 2049 bytes; the limit is 2048"},
	} {
		got, err := tt.p.Check(tt.value)
		text := fmt.Sprint(got)
		if err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("%d: %v gives %s, want %s", i, tt.value, text, tt.want)
		}
	}
}

func TestBindRule(t *testing.T) {
	t.Parallel()
	r := posture.Rule{Name: "Older than {days} days {other}", Parameters: []posture.RuleParameter{daysParameter(1, 100)}, Query: posture.RuleQuery{Text: "g.V()"}}
	if got := r.Bind(); got.Name != "Older than 90 days {other}" || got.Query.Bound != `{"Values":{"days":90}}` {
		t.Errorf("defaults: %q, %s", got.Name, got.Query.Bound)
	}
	set, err := r.WithValues(map[string]any{"days": 30.0})
	if got := set.Bind(); err != nil || got.Name != "Older than 30 days {other}" || got.Query == r.Bind().Query {
		t.Errorf("30 days: %q, %s, %v", got.Name, got.Query.Bound, err)
	}
	r.Values = map[string]any{"days": 1000.0} // allowed by an older version
	if got := r.Bind(); got.Name != "Older than 90 days {other}" {
		t.Errorf("a value that is no longer allowed: %q", got.Name)
	}
	if back, err := set.WithValues(map[string]any{"days": nil}); err != nil || len(back.Values) != 0 {
		t.Errorf("back to the default: %v, %v", back.Values, err)
	}
	if _, err := r.WithValues(map[string]any{"hours": 1}); err == nil || err.Error() != "parameterValues.hours is not a parameter of the rule; it has days" {
		t.Errorf("another name: %v", err)
	}
}

func TestVersionTable(t *testing.T) {
	t.Parallel()
	table := &posture.VersionTable{Rows: []posture.VersionRow{{Version: "1", EndOfSupport: "2026-06-01"}, {Version: "2", EndOfSupport: "2026-06-02"}, {Version: "3"}}}
	for today, want := range map[string]string{
		"2026-06-01T23:59:59Z": "[] [1 2 3]", "2026-06-02T00:00:00Z": "[1] [2 3]", "2026-06-02T23:00:00-05:00": "[1 2] [3]", // the last time is on June 3 in UTC
	} {
		now, err := time.Parse(time.RFC3339, today)
		if err != nil {
			t.Fatal(err)
		}
		ended, supported := table.At(now)
		if got := fmt.Sprint(ended, supported); got != want {
			t.Errorf("%s: %s, want %s", today, got, want)
		}
	}
}

func TestParameterPatternIsLimited(t *testing.T) {
	t.Parallel()
	p := posture.RuleParameter{Name: "names", Type: posture.StringsParameter, Default: []any{}, Description: "Names."}
	p.Pattern = strings.Repeat("x", posture.MaxParameterPattern)
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	p.Pattern += "x"
	if err := p.Validate(); err == nil || err.Error() != "pattern has 513 bytes; the limit is 512" {
		t.Errorf("a pattern that is too long: %v", err)
	}
}
