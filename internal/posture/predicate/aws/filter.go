package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
)

// A FilterPattern is a filter pattern of CloudWatch Logs for JSON log events:
// { ($.eventName = CreateTrail) || ($.eventName = DeleteTrail) }. The zero value
// matches every event, as the empty pattern does.
//
// See
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html.
type FilterPattern struct{ root filterNode }

// A filterNode is a comparison or a compound expression.
type filterNode interface {
	matches(event gjson.Result) predicate.Answer
}

type (
	filterAnd     []filterNode
	filterOr      []filterNode
	filterCompare struct {
		path, operator, value string
		quoted                bool
	}
)

// ParseFilterPattern parses a pattern for JSON log events. It fails for other kinds
// of patterns (terms, space-delimited fields) and for regular expressions.
func ParseFilterPattern(text string) (FilterPattern, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return FilterPattern{}, nil
	}
	inner, opened := strings.CutPrefix(text, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed {
		return FilterPattern{}, errors.New("the filter pattern is not one for JSON log events")
	}
	tokens, err := filterTokens(inner)
	if err != nil {
		return FilterPattern{}, err
	}
	p := filterParser{tokens: tokens}
	root, err := p.or()
	if err == nil && len(p.tokens) > 0 {
		err = fmt.Errorf("unexpected %q in the filter pattern", p.tokens[0].text)
	}
	return FilterPattern{root}, err
}

// Matches decides whether the pattern matches a log event. An inequality on a field
// that the event lacks is unknown.
func (p FilterPattern) Matches(event gjson.Result) predicate.Answer {
	if p.root == nil {
		return predicate.Of(true, "an empty pattern matches everything")
	}
	return p.root.matches(event)
}

func (all filterAnd) matches(event gjson.Result) predicate.Answer {
	answers := make([]predicate.Answer, len(all))
	for i, n := range all {
		answers[i] = n.matches(event)
	}
	return predicate.And(answers...)
}

func (all filterOr) matches(event gjson.Result) predicate.Answer {
	answers := make([]predicate.Answer, len(all))
	for i, n := range all {
		answers[i] = n.matches(event)
	}
	return predicate.Or(answers...)
}

func (c filterCompare) matches(event gjson.Result) predicate.Answer {
	value := event.Get(c.path)
	switch c.operator {
	case "NOT EXISTS":
		return predicate.Of(!value.Exists(), c.path+" is absent")
	case "EXISTS":
		return predicate.Of(value.Exists(), c.path+" is there")
	case "IS NULL":
		return predicate.Of(value.Exists() && value.Type == gjson.Null, c.path+" is null")
	case "IS TRUE":
		return predicate.Of(value.Type == gjson.True, c.path+" is true")
	case "IS FALSE":
		return predicate.Of(value.Type == gjson.False, c.path+" is false")
	case "=":
		return predicate.Of(value.Exists() && c.equal(value), c.path+" is "+c.value)
	case "!=":
		if !value.Exists() {
			return predicate.NotKnown("log events may lack " + c.path)
		}
		return predicate.Of(!c.equal(value), c.path+" is not "+c.value)
	}
	return predicate.NotKnown("the comparison " + c.operator + " of " + c.path + " is not supported")
}

// equal compares numbers as numbers and everything else as text. An asterisk in the
// pattern matches any characters.
func (c filterCompare) equal(value gjson.Result) bool {
	if !c.quoted && value.Type == gjson.Number {
		n, err := strconv.ParseFloat(c.value, 64)
		return err == nil && n == value.Num
	}
	parts := strings.Split(c.value, "*")
	text := value.String()
	if len(parts) == 1 {
		return text == c.value
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}

// A filterToken is a word, an operator, a parenthesis, or a quoted string.
type filterToken struct {
	text   string
	quoted bool
}

// filterTokens splits an expression into its tokens.
func filterTokens(text string) (all []filterToken, err error) {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return all, nil
		}
		token, rest, err := nextFilterToken(text)
		if err != nil {
			return nil, err
		}
		all, text = append(all, token), rest
	}
}

func nextFilterToken(text string) (token filterToken, rest string, err error) {
	for _, symbol := range []string{"&&", "||", "!=", "<=", ">=", "=", "<", ">", "(", ")"} {
		if rest, ok := strings.CutPrefix(text, symbol); ok {
			return filterToken{text: symbol}, rest, nil
		}
	}
	switch text[0] {
	case '%':
		return filterToken{}, "", errors.New("the filter pattern has a regular expression")
	case '"':
		dec := json.NewDecoder(strings.NewReader(text))
		if err := dec.Decode(&token.text); err != nil {
			return filterToken{}, "", errors.New("a quotation mark in the filter pattern is not closed, or an escape in the text is invalid")
		}
		token.quoted = true
		return token, text[dec.InputOffset():], nil
	}
	end := strings.IndexAny(text, " \t\r\n()=!<>&|")
	switch {
	case end < 0:
		end = len(text)
	case end == 0:
		return filterToken{}, "", fmt.Errorf("unexpected %q in the filter pattern", text[:1])
	}
	return filterToken{text: text[:end]}, text[end:], nil
}

// A filterParser parses tokens by recursive descent: && binds tighter than ||.
type filterParser struct{ tokens []filterToken }

// take removes the next token if it is one of these words or symbols.
func (p *filterParser) take(words ...string) (string, bool) {
	if len(p.tokens) == 0 || p.tokens[0].quoted {
		return "", false
	}
	for _, word := range words {
		if strings.EqualFold(p.tokens[0].text, word) {
			p.tokens = p.tokens[1:]
			return word, true
		}
	}
	return "", false
}

func (p *filterParser) or() (filterNode, error) {
	var all filterOr
	for {
		n, err := p.and()
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if _, more := p.take("||"); !more {
			return all, nil
		}
	}
}

func (p *filterParser) and() (filterNode, error) {
	var all filterAnd
	for {
		n, err := p.operand()
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if _, more := p.take("&&"); !more {
			return all, nil
		}
	}
}

func (p *filterParser) operand() (filterNode, error) {
	if _, ok := p.take("("); !ok {
		return p.comparison()
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if _, ok := p.take(")"); !ok {
		return nil, errors.New("a parenthesis in the filter pattern is not closed")
	}
	return n, nil
}

func (p *filterParser) comparison() (filterNode, error) {
	if len(p.tokens) == 0 || !strings.HasPrefix(p.tokens[0].text, "$.") || p.tokens[0].quoted {
		return nil, errors.New("a comparison in the filter pattern does not begin with a property selector")
	}
	c := filterCompare{path: strings.TrimPrefix(p.tokens[0].text, "$.")}
	if strings.ContainsAny(c.path, "[]*?#|@'\\") {
		return nil, fmt.Errorf("the property selector $.%s is not supported", c.path)
	}
	p.tokens = p.tokens[1:]
	if word, ok := p.take("IS", "NOT", "EXISTS"); ok {
		c.operator = word
		if word != "EXISTS" {
			// IS is followed by NULL, TRUE or FALSE; NOT by EXISTS.
			next, ok := p.take("NULL", "TRUE", "FALSE", "EXISTS")
			if !ok || (word == "NOT") != (next == "EXISTS") {
				return nil, fmt.Errorf("the filter pattern has %s without its operand", word)
			}
			c.operator += " " + next
		}
		return c, nil
	}
	operator, ok := p.take("=", "!=", "<", ">", "<=", ">=")
	if !ok || len(p.tokens) == 0 {
		return nil, fmt.Errorf("the filter pattern lacks a value to compare with $.%s", c.path)
	}
	if _, symbol := p.take("(", ")", "&&", "||", "=", "!=", "<", ">", "<=", ">="); symbol {
		return nil, fmt.Errorf("the filter pattern lacks a value to compare with $.%s", c.path)
	}
	c.operator, c.value, c.quoted = operator, p.tokens[0].text, p.tokens[0].quoted
	p.tokens = p.tokens[1:]
	return c, nil
}
