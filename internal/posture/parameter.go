package posture

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
)

// ParameterType is the type of a parameter's values.
type ParameterType string

// The types of parameters. Values are an int64, a []int64 or a []string.
const (
	IntegerParameter  ParameterType = "integer"
	IntegersParameter ParameterType = "integers"
	StringsParameter  ParameterType = "strings"
)

// ParameterTypes lists the types of parameters.
var ParameterTypes = []ParameterType{IntegerParameter, IntegersParameter, StringsParameter}

// A RuleParameter is a value in a rule that organisations may set. It is a variable of
// the rule's query, and texts of the rule may refer to it as {name}.
type RuleParameter struct {
	Name        string
	Type        ParameterType
	Default     any
	Minimum     *int64 // of every number
	Maximum     *int64
	Pattern     string // of every string
	Description string
}

// Limits of parameters. A pattern has the same limit as regular expressions in queries.
const (
	MaxParameterItems   = 1000 // values of a list
	MaxParameterText    = 2048 // bytes of a string
	MaxParameterPattern = 512  // bytes of a pattern
)

// Check converts a value, as decoded from JSON or YAML, to the parameter's type. It
// fails if the value is not valid.
func (p RuleParameter) Check(value any) (any, error) {
	if p.Type == IntegerParameter {
		return p.integer(value)
	}
	list, ok := items(value)
	if !ok {
		return nil, fmt.Errorf("must be a list of %s", p.Type)
	}
	if len(list) > MaxParameterItems {
		return nil, fmt.Errorf("has %d values; the limit is %d", len(list), MaxParameterItems)
	}
	if p.Type == IntegersParameter {
		return checkEach(list, p.integer)
	}
	pattern, err := regexp.Compile("^(?:" + p.Pattern + ")$")
	if err != nil {
		return nil, err
	}
	return checkEach(list, func(item any) (string, error) { return p.text(item, pattern) })
}

// items returns the values of a list.
func items(value any) ([]any, bool) {
	switch list := value.(type) {
	case []any:
		return list, true
	case []int64:
		return anyOf(list), true
	case []string:
		return anyOf(list), true
	}
	return nil, false
}

func anyOf[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// checkEach checks the values of a list and removes duplicates.
func checkEach[T comparable](list []any, check func(any) (T, error)) (any, error) {
	out := make([]T, 0, len(list))
	for i, item := range list {
		v, err := check(item)
		if err != nil {
			return nil, fmt.Errorf("value %d of the list %w", i+1, err)
		}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out, nil
}

func (p RuleParameter) integer(value any) (int64, error) {
	var n int64
	switch v := value.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return 0, errors.New("must be a whole number")
		}
		n = int64(v)
	default:
		return 0, errors.New("must be a whole number")
	}
	switch {
	case p.Minimum != nil && n < *p.Minimum:
		return 0, fmt.Errorf("is %d; the minimum is %d", n, *p.Minimum)
	case p.Maximum != nil && n > *p.Maximum:
		return 0, fmt.Errorf("is %d; the maximum is %d", n, *p.Maximum)
	}
	return n, nil
}

// text checks a string. pattern is the compiled pattern of the parameter.
func (p RuleParameter) text(value any, pattern *regexp.Regexp) (string, error) {
	s, ok := value.(string)
	switch {
	case !ok:
		return "", errors.New("must be a string")
	case len(s) > MaxParameterText:
		return "", fmt.Errorf("has %d bytes; the limit is %d", len(s), MaxParameterText)
	case p.Pattern != "" && !pattern.MatchString(s):
		return "", fmt.Errorf("is %q, which does not match %s", s, p.Pattern)
	}
	return s, nil
}

// Validate fails if the definition of a parameter is invalid.
func (p RuleParameter) Validate() error {
	switch {
	case !parameterName.MatchString(p.Name):
		return fmt.Errorf("name %q must consist of letters and digits and begin with a lower-case letter", p.Name)
	case p.Name == EndedVariable || p.Name == SupportedVariable:
		return fmt.Errorf("name %q is reserved for the versions of a table", p.Name)
	case !slices.Contains(ParameterTypes, p.Type):
		return fmt.Errorf("type %q is not integer, integers or strings", p.Type)
	case strings.TrimSpace(p.Description) == "":
		return errors.New("description is missing")
	case p.Pattern != "" && p.Type != StringsParameter:
		return errors.New("pattern is for strings")
	case len(p.Pattern) > MaxParameterPattern:
		return fmt.Errorf("pattern has %d bytes; the limit is %d", len(p.Pattern), MaxParameterPattern)
	case (p.Minimum != nil || p.Maximum != nil) && p.Type == StringsParameter:
		return errors.New("minimum and maximum are for integers")
	}
	if _, err := regexp.Compile(p.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	if _, err := p.Check(p.Default); err != nil {
		return fmt.Errorf("default %w", err)
	}
	return nil
}

var parameterName = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,39}$`)

// CheckVariables fails if a variable of the query is not a parameter, or if the query
// does not use a parameter.
func (r Rule) CheckVariables(used []string) error {
	known := map[string]bool{}
	if r.Table != nil {
		known[EndedVariable], known[SupportedVariable] = true, true
	}
	for _, p := range r.Parameters {
		if known[p.Name] {
			return fmt.Errorf("parameter %s is a duplicate", p.Name)
		}
		known[p.Name] = true
		if !slices.Contains(used, p.Name) {
			return fmt.Errorf("does not use parameter %s", p.Name)
		}
	}
	for _, name := range used {
		if !known[name] {
			return fmt.Errorf("has the variable %s, which is not a parameter of the rule", name)
		}
	}
	return nil
}

// A VersionTable holds the support periods of product versions.
type VersionTable struct {
	Name   string
	Title  string
	Source string // where the dates are published
	Read   string // the date on which they were read there
	Rows   []VersionRow
}

// A VersionRow is a version of a product, spelled as in the property of a resource, and
// the last day of its support: YYYY-MM-DD, or empty if unknown.
type VersionRow struct {
	Product      string
	Version      string
	EndOfSupport string
}

// EndOfSupport returns the last day of support by version.
func (t *VersionTable) EndOfSupport() map[string]string {
	byVersion := make(map[string]string, len(t.Rows))
	for _, row := range t.Rows {
		byVersion[row.Version] = row.EndOfSupport
	}
	return byVersion
}

// At returns the versions whose support has ended at a time, and the others.
func (t *VersionTable) At(now time.Time) (ended, supported []string) {
	return Binding{EndOfSupport: t.EndOfSupport()}.Versions(now)
}

// A Binding holds the values of a query's variables.
type Binding struct {
	Values       map[string]any    `json:",omitempty"`     // of parameters
	EndOfSupport map[string]string `json:"Ends,omitempty"` // of a table: last days by version
}

// The variables for the versions of a table: those whose support has ended at the time
// of the evaluation, and the others.
const (
	EndedVariable     = "ended"
	SupportedVariable = "supported"
)

// Versions returns the versions of the table whose support has ended at a time, and the
// others.
func (b Binding) Versions(now time.Time) (ended, supported []string) {
	today := now.UTC().Format(time.DateOnly)
	for _, version := range slices.Sorted(maps.Keys(b.EndOfSupport)) {
		if endOfSupport := b.EndOfSupport[version]; endOfSupport != "" && endOfSupport < today {
			ended = append(ended, version)
		} else {
			supported = append(supported, version)
		}
	}
	return ended, supported
}

// Binding returns the values of the query's variables.
func (q RuleQuery) Binding() (b Binding, err error) {
	if q.Bound == "" {
		return b, nil
	}
	err = json.Unmarshal([]byte(q.Bound), &b)
	return b, err
}

// Parameter returns a parameter of the rule by name.
func (r Rule) Parameter(name string) (RuleParameter, bool) {
	i := slices.IndexFunc(r.Parameters, func(p RuleParameter) bool { return p.Name == name })
	if i < 0 {
		return RuleParameter{}, false
	}
	return r.Parameters[i], true
}

// ParameterValues returns the values of all parameters: those that were set, otherwise
// defaults. A value that a newer definition of the parameter does not allow is replaced
// by the default.
func (r Rule) ParameterValues() map[string]any {
	values := make(map[string]any, len(r.Parameters))
	for _, p := range r.Parameters {
		values[p.Name], _ = p.Check(p.Default) // it was checked together with the rule
		if set, ok := r.Values[p.Name]; ok {
			if v, err := p.Check(set); err == nil {
				values[p.Name] = v
			}
		}
	}
	return values
}

// Bind returns the rule with its parameters and table bound to the variables of its
// query, and with the values inserted in its texts.
func (r Rule) Bind() Rule {
	if len(r.Parameters) == 0 && r.Table == nil {
		return r
	}
	b := Binding{Values: r.ParameterValues()}
	if r.Table != nil {
		b.EndOfSupport = r.Table.EndOfSupport()
	}
	text, err := json.Marshal(b)
	if err != nil {
		return r // numbers and strings always encode
	}
	r.Query.Bound = string(text)
	var pairs []string
	for name, value := range b.Values {
		pairs = append(pairs, "{"+name+"}", ParameterText(value))
	}
	in := strings.NewReplacer(pairs...)
	r.Name, r.Description, r.SuggestedAction = in.Replace(r.Name), in.Replace(r.Description), in.Replace(r.SuggestedAction)
	return r
}

// ParameterText formats a value for texts.
func ParameterText(value any) string {
	list, ok := items(value)
	if !ok {
		return fmt.Sprint(value)
	}
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ", ")
}

// WithValues returns the rule with new values of parameters. A nil value restores the
// default.
func (r Rule) WithValues(settings map[string]any) (Rule, error) {
	if len(settings) == 0 {
		return r, nil
	}
	values := maps.Clone(r.Values)
	if values == nil {
		values = map[string]any{}
	}
	var bad []fault.Detail
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		path := "parameterValues." + name
		p, ok := r.Parameter(name)
		if !ok {
			bad = append(bad, fault.Detail{Path: path, Message: "is not a parameter of the rule" + r.namedParameters()})
			continue
		}
		if settings[name] == nil {
			delete(values, name)
			continue
		}
		v, err := p.Check(settings[name])
		if err != nil {
			bad = append(bad, fault.Detail{Path: path, Message: err.Error()})
			continue
		}
		values[name] = v
	}
	if len(bad) > 0 {
		return r, fault.Fields(bad...)
	}
	r.Values = values
	return r, nil
}

// namedParameters returns the end of an error message with the names of the rule's
// parameters.
func (r Rule) namedParameters() string {
	if len(r.Parameters) == 0 {
		return ", which has none"
	}
	names := make([]string, len(r.Parameters))
	for i, p := range r.Parameters {
		names[i] = p.Name
	}
	return "; it has " + strings.Join(names, ", ")
}
