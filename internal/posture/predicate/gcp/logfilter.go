package gcp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A LogFilter is a filter in the Logging query language, as log metrics, sinks and alert
// policies have. The zero value matches every log entry, as the empty filter does.
//
// See https://cloud.google.com/logging/docs/view/logging-query-language.
type LogFilter struct{ root logNode }

// ParseLogFilter parses a filter. It fails for syntax that Vigil does not support.
func ParseLogFilter(text string) (LogFilter, error) {
	tokens, err := logTokens(text)
	if err != nil || len(tokens) == 0 {
		return LogFilter{}, err
	}
	p := logParser{tokens: tokens}
	root, err := p.expression(p.comparison)
	if err == nil && len(p.tokens) > 0 {
		err = fmt.Errorf("unexpected %q in the log filter", p.tokens[0].text)
	}
	return LogFilter{root}, err
}

// A logToken is a word, a symbol, or a quoted text.
type logToken struct {
	text   string
	quoted bool
}

// logLexeme matches the next token of a filter: white space or a comment, a symbol, a quoted
// text, or a word. A word may contain quoted parts after periods: labels."k8s-pod/app".
var logLexeme = regexp.MustCompile(`^(?:(\s+|--[^\n]*)|(!=|!~|=~|<=|>=|[=<>:(),])|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|((?:\."[^"\\]*"|[^\s()"'=<>:!~,])+))`)

func logTokens(text string) (all []logToken, err error) {
	for text != "" {
		m := logLexeme.FindStringSubmatch(text)
		switch {
		case m == nil:
			return nil, fmt.Errorf("unexpected %q in the log filter", text[:1])
		case m[1] != "":
		case m[3] != "":
			all = append(all, logToken{logUnescape.Replace(m[3][1 : len(m[3])-1]), true})
		default:
			all = append(all, logToken{m[2] + m[4], false})
		}
		text = text[len(m[0]):]
	}
	return all, nil
}

// logUnescape replaces escape sequences. Others, such as \. in regular expressions, are kept.
var logUnescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\n`, "\n", `\t`, "\t", `\r`, "\r")

// A logParser parses tokens by recursive descent. NOT binds tightest and OR binds tighter than
// AND, which may be left out: a OR NOT b c is (a OR (NOT b)) AND c.
type logParser struct{ tokens []logToken }

// at reports whether the next token is one of these words or symbols.
func (p *logParser) at(words ...string) bool {
	return len(p.tokens) > 0 && !p.tokens[0].quoted && slices.Contains(words, p.tokens[0].text)
}

// take removes the next token if it is one of these words or symbols.
func (p *logParser) take(words ...string) (string, bool) {
	if !p.at(words...) {
		return "", false
	}
	word := p.tokens[0].text
	p.tokens = p.tokens[1:]
	return word, true
}

// expression parses a conjunction up to a closing parenthesis or the end. The parameter operand
// parses one operand: a comparison, or one of the values that a field is compared with.
func (p *logParser) expression(operand func() (logNode, error)) (logNode, error) {
	var all logAnd
	for {
		n, err := p.disjunction(operand)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if _, more := p.take("AND"); !more && (len(p.tokens) == 0 || p.at(")")) {
			return all, nil
		}
	}
}

func (p *logParser) disjunction(operand func() (logNode, error)) (logNode, error) {
	var all logOr
	for {
		n, err := p.term(operand)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if _, more := p.take("OR"); !more {
			return all, nil
		}
	}
}

func (p *logParser) term(operand func() (logNode, error)) (logNode, error) {
	if p.negated() {
		n, err := p.term(operand)
		return logNot{n}, err
	}
	if _, ok := p.take("("); !ok {
		return operand()
	}
	n, err := p.expression(operand)
	if _, closed := p.take(")"); !closed && err == nil {
		err = errors.New("a parenthesis in the log filter is not closed")
	}
	return n, err
}

// negated removes NOT or a minus sign from the front.
func (p *logParser) negated() bool {
	if _, ok := p.take("NOT", "-"); ok {
		return true
	}
	if len(p.tokens) == 0 || p.tokens[0].quoted {
		return false
	}
	rest, minus := strings.CutPrefix(p.tokens[0].text, "-")
	if minus {
		p.tokens[0].text = rest
	}
	return minus
}

// logOperators are the comparisons.
var logOperators = []string{"=", "!=", "<", ">", "<=", ">=", ":", "=~", "!~"}

// logFunctions are the functions of the language, in lower case.
var logFunctions = []string{"log_id", "source", "sample", "ip_in_net", "search", "cast", "regexp_extract"}

// comparison parses a function call, a comparison of a field, or a text to search for.
func (p *logParser) comparison() (logNode, error) {
	first, err := p.value()
	if err != nil {
		return nil, err
	}
	if !first.quoted {
		for _, name := range logFunctions {
			if strings.EqualFold(first.text, name) && p.at("(") {
				return p.function(name)
			}
		}
		if operator, ok := p.take(logOperators...); ok {
			return p.arguments(first.text, operator)
		}
	}
	return logSearch{first.text}, nil
}

// arguments parses what a field is compared with: one value, or several with operators in
// parentheses.
func (p *logParser) arguments(field, operator string) (logNode, error) {
	operand := func() (logNode, error) {
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		return newLogComparison(field, operator, value)
	}
	if p.at("(") {
		return p.term(operand)
	}
	return operand()
}

// function parses the arguments of a function. Only log_id is supported; the result of others
// is unknown.
func (p *logParser) function(name string) (logNode, error) {
	p.tokens = p.tokens[1:] // the opening parenthesis
	var arguments []logToken
	for {
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, value)
		if _, more := p.take(","); !more {
			break
		}
	}
	if _, closed := p.take(")"); !closed {
		return nil, fmt.Errorf("the function %s in the log filter is not closed", name)
	}
	if name == "log_id" && len(arguments) == 1 {
		return logID{arguments[0].text}, nil
	}
	return logUnsupported{"the function " + name + " of log filters is not supported"}, nil
}

// value removes a word or a quoted text.
func (p *logParser) value() (logToken, error) {
	if len(p.tokens) == 0 {
		return logToken{}, errors.New("the log filter ends too early")
	}
	first := p.tokens[0]
	if p.at(logOperators...) || p.at("AND", "OR", "NOT", "(", ")", ",", "") {
		return logToken{}, fmt.Errorf("unexpected %q in the log filter", first.text)
	}
	p.tokens = p.tokens[1:]
	return first, nil
}
