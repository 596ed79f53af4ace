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
// value leaves some entries out.
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
	return anyLeaf(logLeaves(template), negated, func(leaf gjson.Result) bool { return containsFold(leaf.String(), n.text) })
}

func (c logComparison) matches(template gjson.Result, negated bool) predicate.Answer {
	values := logValues(template, c.field)
	if c.exists {
		return predicate.Of((len(values) > 0) != negated, "")
	}
	if len(c.field) == 1 && sameName(c.field[0], "severity") {
		return c.severity(template.Get("severity").String(), negated)
	}
	var leaves []gjson.Result
	for _, v := range values {
		if v.IsObject() && c.operator != ":" {
			return predicate.NotKnown("the comparison of " + strings.Join(c.field, ".") + " with a value is not supported")
		}
		leaves = append(leaves, logLeaves(v)...)
	}
	// An order is not evaluated. If the values are nulls only, anyLeaf answers no without a comparison:
	// some values satisfy the order, others do not.
	if strings.ContainsAny(c.operator, "<>") && slices.ContainsFunc(leaves, fixed) {
		return predicate.NotKnown("the comparison " + c.operator + " of " + strings.Join(c.field, ".") + " is not supported")
	}
	return anyLeaf(leaves, negated, func(leaf gjson.Result) bool {
		switch c.operator {
		case "=":
			return strings.EqualFold(leaf.String(), c.value)
		case ":":
			return containsFold(leaf.String(), c.value)
		}
		return c.pattern.MatchString(leaf.String())
	})
}

// matches treats a field that the template lacks as unknown: the documentation does not say how an
// inequality compares it.
func (c logDiffers) matches(template gjson.Result, negated bool) predicate.Answer {
	if len(logValues(template, c.field)) == 0 {
		return predicate.NotKnown("log entries may lack " + strings.Join(c.field, "."))
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
// matches in some entries and not in others: it alone never makes the answer yes, and it makes
// the negated answer no.
func anyLeaf(leaves []gjson.Result, negated bool, matches func(gjson.Result) bool) predicate.Answer {
	if slices.ContainsFunc(leaves, func(leaf gjson.Result) bool { return fixed(leaf) && matches(leaf) }) {
		return predicate.Of(!negated, "")
	}
	return predicate.Of(negated && !slices.ContainsFunc(leaves, func(leaf gjson.Result) bool { return !fixed(leaf) }), "")
}

// fixed reports whether a value of a template stands for itself and not for any value.
func fixed(leaf gjson.Result) bool { return leaf.Type != gjson.Null }

// logValues returns the values of a field. A list has the values of its elements, and a null,
// which stands for any value, has every field.
func logValues(v gjson.Result, path []string) (values []gjson.Result) {
	switch {
	case v.IsArray():
		for _, element := range v.Array() {
			values = append(values, logValues(element, path)...)
		}
	case len(path) == 0 || !fixed(v):
		values = append(values, v)
	default:
		v.ForEach(func(name, member gjson.Result) bool {
			if sameName(name.String(), path[0]) {
				values = append(values, logValues(member, path[1:])...)
			}
			return true
		})
	}
	return values
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
