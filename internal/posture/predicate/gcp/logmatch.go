package gcp

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
)

// MatchesEvery decides whether the filter matches every log entry of a template. The template is
// a log entry in which null stands for any value: a filter that compares such a field with a
// value leaves some entries out. The fields below a null may be missing.
func (f LogFilter) MatchesEvery(template gjson.Result) predicate.Answer {
	if f.root == nil {
		return predicate.Of(true, "an empty filter matches everything")
	}
	return f.root.matches(template, false)
}

// A logNode is a comparison or a compound expression. It decides whether it, or its negation,
// matches every log entry of a template.
type logNode interface {
	matches(template gjson.Result, negated bool) predicate.Answer
}

type (
	logAnd []logNode
	logOr  []logNode
	logNot struct{ logNode }
	// logSearch searches all fields for a text.
	logSearch struct{ text string }
	// logComparison compares a field with a value.
	logComparison struct {
		field    []string
		operator string // in a logDiffers = for != and =~ for !~
		value    string
		pattern  *regexp.Regexp // for =~
		exists   bool           // whether the comparison is field:*
	}
	// logDiffers is a comparison with != or !~.
	logDiffers struct{ logComparison }
	// logID compares the part of logName after the project: the function log_id.
	logID          struct{ id string }
	logUnsupported struct{ reason string }
)

func newLogComparison(field, operator string, value logToken) (logNode, error) {
	c := logComparison{field: logPath(field), operator: operator, value: value.text}
	c.exists = operator == ":" && value == logToken{text: "*"}
	opposite, differs := map[string]string{"!=": "=", "!~": "=~"}[operator]
	if differs {
		c.operator = opposite
	}
	if c.operator == "=~" {
		pattern, err := regexp.Compile(value.text)
		if err != nil {
			return nil, fmt.Errorf("the regular expression %q of the log filter is not valid", value.text)
		}
		c.pattern = pattern
	}
	if differs {
		return logDiffers{c}, nil
	}
	return c, nil
}

// logPath splits the name of a field at its periods, but not within quotation marks.
func logPath(name string) (path []string) {
	for i, part := range strings.Split(name, `"`) {
		if i%2 == 1 {
			path = append(path, part)
			continue
		}
		path = append(path, slices.DeleteFunc(strings.Split(part, "."), func(s string) bool { return s == "" })...)
	}
	return path
}

func (all logAnd) matches(template gjson.Result, negated bool) predicate.Answer {
	return join(all, template, negated, negated) // by "and", or by "or" if negated
}

func (all logOr) matches(template gjson.Result, negated bool) predicate.Answer {
	return join(all, template, negated, !negated) // by "or", or by "and" if negated
}

// join combines the answers of nodes by "or" or "and". The negation of a conjunction is a
// disjunction of negations.
func join(all []logNode, template gjson.Result, negated, or bool) predicate.Answer {
	answers := make([]predicate.Answer, len(all))
	for i, n := range all {
		answers[i] = n.matches(template, negated)
	}
	if or {
		return predicate.Or(answers...)
	}
	return predicate.And(answers...)
}

func (n logNot) matches(template gjson.Result, negated bool) predicate.Answer {
	return n.logNode.matches(template, !negated)
}

func (n logUnsupported) matches(gjson.Result, bool) predicate.Answer {
	return predicate.NotKnown(n.reason)
}

func (n logID) matches(template gjson.Result, negated bool) predicate.Answer {
	_, id, _ := strings.Cut(template.Get("logName").String(), "/logs/")
	id, err := url.PathUnescape(id)
	return predicate.Of((err == nil && strings.EqualFold(id, n.id)) != negated, "")
}

func (n logSearch) matches(template gjson.Result, negated bool) predicate.Answer {
	contains := func(leaf gjson.Result) bool { return containsFold(leaf.String(), n.text) }
	return anyLeaf(logLeaves(template), negated, contains, predicate.Of(false, ""))
}

func (c logComparison) matches(template gjson.Result, negated bool) predicate.Answer {
	values, certain := logValues(template, c.field)
	if c.exists {
		if len(values) > 0 && !certain && !negated {
			return c.mayBeMissing()
		}
		return predicate.Of((len(values) > 0) != negated, "")
	}
	if len(c.field) == 1 && sameName(c.field[0], "severity") {
		return c.severity(template.Get("severity").String(), negated)
	}
	if len(values) == 0 && c.comparesDefault() {
		return predicate.NotKnown(c.name() + " has a default value, whose comparison is not supported")
	}
	var leaves []gjson.Result
	for _, v := range values {
		if v.IsObject() && c.operator != ":" {
			return predicate.NotKnown("the comparison of " + c.name() + " with a value is not supported")
		}
		leaves = append(leaves, logLeaves(v)...)
	}
	// An order is not evaluated. If the values are nulls only, anyLeaf answers no without a comparison:
	// some values satisfy the order, others do not.
	if strings.ContainsAny(c.operator, "<>") && slices.ContainsFunc(leaves, fixed) {
		return predicate.NotKnown("the comparison " + c.operator + " of " + c.name() + " is not supported")
	}
	every := c.matchesAnyValue()
	if every.Truth == predicate.Yes && !certain {
		every = c.mayBeMissing()
	}
	return anyLeaf(leaves, negated, func(leaf gjson.Result) bool {
		switch c.operator {
		case "=":
			return strings.EqualFold(leaf.String(), c.value)
		case ":":
			return containsFold(leaf.String(), c.value)
		}
		return c.pattern.MatchString(leaf.String())
	}, every)
}

func (c logComparison) name() string { return strings.Join(c.field, ".") }

func (c logComparison) mayBeMissing() predicate.Answer {
	return predicate.NotKnown("log entries may lack " + c.name())
}

// matchesAnyValue decides whether the comparison holds for all values of a field.
func (c logComparison) matchesAnyValue() predicate.Answer {
	switch {
	case c.operator == ":":
		return predicate.Of(c.value == "", "")
	case c.operator != "=~":
		return predicate.Of(false, "")
	case matchesAnyText(c.pattern.String()):
		return predicate.Of(true, "")
	case !c.pattern.MatchString("x"):
		return predicate.Of(false, "") // an example of a value that is left out
	}
	return predicate.NotKnown("it is not known whether the regular expression matches all values of " + c.name())
}

// logMaps are the beginnings of fields that have no default values. All other fields are defined
// in LogEntry: if an entry lacks one, its default value is compared.
// https://cloud.google.com/logging/docs/view/logging-query-language#missing_fields
var logMaps = []string{"protoPayload", "jsonPayload", "labels", "resource", "metadata"}

// comparesDefault reports whether the result for an entry without the field depends on the
// default value of the field.
func (c logComparison) comparesDefault() bool {
	if c.startsWith(logMaps...) {
		return false
	}
	isDefault := slices.Contains([]string{"", "0", "0s", "false"}, strings.ToLower(c.value))
	return isDefault || c.operator != "=" && c.operator != ":"
}

// startsWith reports whether the field, which must have a name, is in one of these fields of an entry.
func (c logComparison) startsWith(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return sameName(c.field[0], name) })
}

// matches fails for a field that the payload of the template lacks, as every comparison of a
// missing field does. Labels that the template lacks are unknown, because entries may have more.
func (c logDiffers) matches(template gjson.Result, negated bool) predicate.Answer {
	if values, _ := logValues(template, c.field); len(values) == 0 {
		if c.startsWith("protoPayload", "jsonPayload") {
			return predicate.Of(negated, "")
		}
		return c.mayBeMissing()
	}
	return c.logComparison.matches(template, !negated)
}

// logSeverities are the severities in ascending order. Their numbers are multiples of 100.
var logSeverities = []string{"DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY"}

func (c logComparison) severity(of string, negated bool) predicate.Answer {
	wanted := 100 * slices.Index(logSeverities, strings.ToUpper(c.value))
	if n, err := strconv.Atoi(c.value); err == nil {
		wanted = n
	}
	got := 100 * slices.Index(logSeverities, of)
	var matches bool
	switch c.operator {
	case "=":
		matches = got == wanted
	case ">=":
		matches = got >= wanted
	case ">":
		matches = got > wanted
	case "<=":
		matches = got <= wanted
	case "<":
		matches = got < wanted
	default:
		return predicate.NotKnown("the comparison " + c.operator + " of the severity is not supported")
	}
	if wanted < 0 {
		return predicate.NotKnown(fmt.Sprintf("the severity %q is not known", c.value))
	}
	return predicate.Of(matches != negated, "")
}

// anyLeaf decides whether one of the values matches in every entry, or none if negated. A null
// matches in some entries and not in others, unless every, the answer for all values, is yes or
// unknown: otherwise it alone never makes the answer yes. It makes the negated answer no.
func anyLeaf(leaves []gjson.Result, negated bool, matches func(gjson.Result) bool, every predicate.Answer) predicate.Answer {
	switch null := slices.ContainsFunc(leaves, func(leaf gjson.Result) bool { return !fixed(leaf) }); {
	case slices.ContainsFunc(leaves, func(leaf gjson.Result) bool { return fixed(leaf) && matches(leaf) }):
		return predicate.Of(!negated, "")
	case null && !negated:
		return every
	case null:
		return predicate.Of(false, "")
	}
	return predicate.Of(negated, "")
}

// fixed reports whether a value of a template stands for itself and not for any value.
func fixed(leaf gjson.Result) bool { return leaf.Type != gjson.Null }

// logValues returns the values of a field. A list has the values of its elements, and a null,
// which stands for any value, may have every field. certain reports whether every entry has the
// field.
func logValues(v gjson.Result, path []string) (values []gjson.Result, certain bool) {
	add := func(member gjson.Result, path []string) {
		more, sure := logValues(member, path)
		values, certain = append(values, more...), certain || sure
	}
	switch {
	case v.IsArray():
		for _, element := range v.Array() {
			add(element, path)
		}
	case len(path) == 0 || !fixed(v):
		return []gjson.Result{v}, len(path) == 0
	default:
		v.ForEach(func(name, member gjson.Result) bool {
			if sameName(name.String(), path[0]) {
				add(member, path[1:])
			}
			return true
		})
	}
	return values, certain
}

// logLeaves returns all values within a value that are neither objects nor lists.
func logLeaves(v gjson.Result) (leaves []gjson.Result) {
	if !v.IsObject() && !v.IsArray() {
		return []gjson.Result{v}
	}
	v.ForEach(func(_, member gjson.Result) bool {
		leaves = append(leaves, logLeaves(member)...)
		return true
	})
	return leaves
}

// sameName compares names of fields, which the language accepts in camel case and in snake case.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", ""))
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
