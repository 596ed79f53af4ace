// Package search parses the search language of entities:
//
//	property.encrypted = false AND (tag.env = prod OR NOT exists(tag.env))
//	entityType = AWS.S3.Bucket AND property."default rule" != 'allow all'
//
// A condition compares a property, a tag or a field of the entity with a value,
// or tests whether it exists. AND has a higher precedence than OR, and NOT than
// both. A value, or a name after "property." or "tag.", stands in quotes if it
// contains spaces, quotes, parentheses or equals signs. Words, names and values
// are compared ignoring case.
//
// [Parse] returns a [posture.Condition], which can be evaluated on an entity and which
// the store translates to SQL.
package search

import (
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture"
)

// Limits of a query, which bound the cost of parsing and evaluating it.
const (
	MaxLength     = 4 << 10 // bytes
	MaxConditions = 100
	MaxDepth      = 32
)

// An Error says what is wrong with a text, and where.
type Error struct {
	Column  int // the first character is 1
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Message) }

// Parse reads a condition.
func Parse(text string) (posture.Condition, error) {
	if len(text) > MaxLength {
		return nil, &Error{1, fmt.Sprintf("the query is longer than %d bytes", MaxLength)}
	}
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := parser{tokens: tokens}
	c, err := p.any(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		return nil, p.fail(t, "expected AND, OR or the end, found %s; a value with spaces stands in quotes", t)
	}
	return c, nil
}

// A parser reads tokens one after the other.
type parser struct {
	tokens     []token
	position   int
	conditions int
}

func (p *parser) peek() token { return p.tokens[p.position] }

func (p *parser) next() token {
	t := p.tokens[p.position]
	if t.kind != end {
		p.position++
	}
	return t
}

// take reads the next token if it is of a kind.
func (p *parser) take(k kind) bool {
	if p.peek().kind != k {
		return false
	}
	p.position++
	return true
}

// takeWord reads the next token if it is that word, bare.
func (p *parser) takeWord(word string) bool {
	if t := p.peek(); t.kind != bare || !strings.EqualFold(t.text, word) {
		return false
	}
	p.position++
	return true
}

func (p *parser) fail(t token, format string, args ...any) error {
	return &Error{t.column, fmt.Sprintf(format, args...)}
}

// any reads conditions joined by OR.
func (p *parser) any(depth int) (posture.Condition, error) {
	return parseJoined(p.all, depth, func() bool { return p.takeWord("or") },
		func(parts []posture.Condition) posture.Condition { return posture.AnyOf(parts) })
}

// all reads conditions joined by AND.
func (p *parser) all(depth int) (posture.Condition, error) {
	return parseJoined(p.one, depth, func() bool { return p.takeWord("and") },
		func(parts []posture.Condition) posture.Condition { return posture.AllOf(parts) })
}

// parseJoined reads parts as long as another one follows. It returns a single part as it
// is, without join.
func parseJoined(part func(int) (posture.Condition, error), depth int, more func() bool, join func([]posture.Condition) posture.Condition) (posture.Condition, error) {
	var parts []posture.Condition
	for {
		c, err := part(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
		if more() {
			continue
		}
		if len(parts) == 1 {
			return c, nil
		}
		return join(parts), nil
	}
}

// one reads a single condition.
func (p *parser) one(depth int) (posture.Condition, error) {
	t := p.peek()
	if depth >= MaxDepth {
		return nil, p.fail(t, "conditions are nested deeper than %d", MaxDepth)
	}
	switch {
	case p.takeWord("not"):
		c, err := p.one(depth + 1)
		if err != nil {
			return nil, err
		}
		return posture.Not{Part: c}, nil
	case p.take(open):
		c, err := p.any(depth + 1)
		if err != nil {
			return nil, err
		}
		if t := p.peek(); !p.take(shut) {
			return nil, p.fail(t, "expected ) or AND or OR, found %s", t)
		}
		return c, nil
	}
	p.conditions++
	if p.conditions > MaxConditions {
		return nil, p.fail(t, "there are more than %d conditions", MaxConditions)
	}
	// Without a parenthesis after it, "exists" is the name of a field.
	if p.tokens[min(p.position+1, len(p.tokens)-1)].kind == open && p.takeWord("exists") {
		p.position++ // the parenthesis
		return p.exists()
	}
	return p.compare()
}

// exists reads what follows "exists(".
func (p *parser) exists() (posture.Condition, error) {
	a, err := p.attribute()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); !p.take(shut) {
		return nil, p.fail(t, "expected ) after the name, found %s", t)
	}
	return posture.Exists{Attribute: a}, nil
}

// compare reads a name, an operator and a value.
func (p *parser) compare() (posture.Condition, error) {
	a, err := p.attribute()
	if err != nil {
		return nil, err
	}
	op := p.next()
	if op.kind != equal && op.kind != unequal {
		return nil, p.fail(op, "expected = or != after the name, found %s", op)
	}
	v := p.next()
	if v.kind != bare && v.kind != quoted {
		return nil, p.fail(v, "expected a value, found %s", v)
	}
	c := posture.Equal{Attribute: a, Value: v.text}
	if op.kind == unequal {
		return posture.Not{Part: c}, nil
	}
	return c, nil
}

// attribute reads the name of a property, a tag or a field.
func (p *parser) attribute() (posture.Attribute, error) {
	t := p.next()
	if t.kind != bare && t.kind != quotedName {
		return posture.Attribute{}, p.fail(t, "expected a condition such as property.Name = value, found %s", t)
	}
	if a, ok := posture.ParseAttribute(t.text); ok {
		return a, nil
	}
	if lower := strings.ToLower(t.text); lower == "property." || lower == "tag." || t.kind == quotedName {
		return posture.Attribute{}, p.fail(t, "%q names no property or tag", t.text)
	}
	fields := slices.Clone(posture.EntityFields)
	slices.Sort(fields)
	return posture.Attribute{}, p.fail(t, "there is no field %q; properties are written property.%s, tags tag.%s, and the fields are %s",
		t.text, t.text, t.text, strings.Join(fields, ", "))
}
