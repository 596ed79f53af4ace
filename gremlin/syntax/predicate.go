package syntax

// predicateShape describes the arguments of a predicate.
type predicateShape struct {
	name     string
	text     bool // a TextP
	min, max int  // number of arguments; max < 0 for any number
	kinds    Kind
}

const (
	kindOperand = kindValue | KindVariable
	kindText    = KindString | KindVariable
)

// predicateShapes lists P and TextP. The connectives .and(), .or() and .negate()
// are not in the list: they follow a predicate, see the method connective.
var predicateShapes = []predicateShape{
	{"eq", false, 1, 1, kindOperand},
	{"neq", false, 1, 1, kindOperand},
	{"lt", false, 1, 1, kindOperand},
	{"lte", false, 1, 1, kindOperand},
	{"gt", false, 1, 1, kindOperand},
	{"gte", false, 1, 1, kindOperand},
	{"inside", false, 2, 2, kindOperand},
	{"outside", false, 2, 2, kindOperand},
	{"between", false, 2, 2, kindOperand},
	{"within", false, 0, -1, kindOperand},
	{"without", false, 0, -1, kindOperand},
	{"typeOf", false, 1, 1, kindEnum<<GType | KindString},
	{"not", false, 1, 1, KindPredicate},
	{"startingWith", true, 1, 1, kindText},
	{"notStartingWith", true, 1, 1, kindText},
	{"endingWith", true, 1, 1, kindText},
	{"notEndingWith", true, 1, 1, kindText},
	{"containing", true, 1, 1, kindText},
	{"notContaining", true, 1, 1, kindText},
	{"regex", true, 1, 1, kindText},
	{"notRegex", true, 1, 1, kindText},
}

// prefix returns the class of the predicate.
func (s *predicateShape) prefix() string {
	if s.text {
		return "TextP"
	}
	return "P"
}

// predicate parses P.gt(1), gt(1).or(...), not(...).
func (p *parser) predicate() (Arg, *Error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	defer p.leaveNesting()
	left, err := p.simplePredicate()
	if err != nil {
		return nil, err
	}
	for p.tok.kind == '.' {
		p.advance()
		if left, err = p.connective(left); err != nil {
			return nil, err
		}
		// Chained connectives increase the height without recursion.
		if p.height > p.limits.Depth {
			return nil, limitError(LimitDepth, p.limits.Depth, left.Span, "predicates are nested too deeply")
		}
	}
	return left, nil
}

// simplePredicate parses one call, with an optional prefix.
func (p *parser) simplePredicate() (*Predicate, *Error) {
	start := p.tok
	if prefix := p.text(p.tok); prefix == "P" || prefix == "TextP" {
		p.advance()
		p.advance() // the dot
	}
	if p.tok.kind != tokWord {
		return nil, p.unexpectedToken(nameMissing, "a predicate")
	}
	name := p.text(p.tok)
	shape := words[name].predicate
	if shape == nil {
		return nil, &Error{
			Kind: Unknown, Span: p.tok.Span, Message: "there is no predicate " + name + "()",
			Hint: suggestCall(name, predicateNames()),
		}
	}
	p.advance()
	if err := p.expect('(', "after", name); err != nil {
		return nil, err
	}
	pred := &Predicate{Name: shape.name}
	for p.tok.kind != ')' {
		if len(pred.Args) > 0 {
			if err := p.expect(',', "between arguments of", name); err != nil {
				return nil, err
			}
		}
		a, err := p.argument(shape.kinds, name)
		if err != nil {
			return nil, err
		}
		pred.Args = append(pred.Args, a)
	}
	pred.Span = Span{start.Pos, p.advance().End}
	if shape.kinds == KindPredicate {
		p.height++ // not() is one higher than its argument
	} else {
		p.height = 1
	}
	return pred, p.checkPredicate(pred, shape)
}

// checkPredicate checks the number of arguments and the length of a pattern.
func (p *parser) checkPredicate(pred *Predicate, shape *predicateShape) *Error {
	if n := len(pred.Args); n < shape.min || shape.max >= 0 && n > shape.max {
		want := "one argument"
		if shape.min == 2 {
			want = "two arguments"
		}
		return &Error{Kind: Misuse, Span: pred.Span, Message: shape.name + "() takes " + want}
	}
	if shape.name != "regex" && shape.name != "notRegex" {
		return nil
	}
	if l, ok := pred.Args[0].(*Literal); ok && len(l.Value.(string)) > p.limits.Regex {
		return limitError(LimitRegex, p.limits.Regex, l.Span, "the regular expression is too long")
	}
	return nil
}

// connective parses and(p), or(p) or negate(). The predicate before it, left, and the dot are consumed.
func (p *parser) connective(left *Predicate) (*Predicate, *Error) {
	word := p.advance()
	name := p.text(word)
	if word.kind != tokWord || name != "and" && name != "or" && name != "negate" {
		return nil, &Error{
			Kind: Unknown, Span: word.Span, Message: "after a predicate", Expected: "and(), or() or negate()", Found: p.describe(word),
			Hint: suggestCall(name, []string{"and", "or", "negate"}),
		}
	}
	if err := p.expect('(', "after", name); err != nil {
		return nil, err
	}
	var combined *Predicate
	leftHeight := p.height
	if name == "negate" {
		combined = &Predicate{Name: "not", Args: []Arg{left}}
		p.height = leftHeight + 1
	} else {
		a, err := p.argument(KindPredicate, name)
		if err != nil {
			return nil, err
		}
		right := a.(*Predicate)
		combined = join(name, left, right)
		p.height = max(heightAbove(name, left, leftHeight), heightAbove(name, right, p.height))
	}
	if p.tok.kind != ')' {
		return nil, p.unexpectedToken("after the argument of "+name+"()", `")"`)
	}
	combined.Span = Span{left.Pos, p.advance().End}
	return combined, nil
}

// heightAbove returns the height of a connective above a side of the given height. A side with
// the same connective is merged into it; see join.
func heightAbove(name string, side *Predicate, height int) int {
	if side.Name == name {
		return height
	}
	return height + 1
}

// join combines two predicates; chains of the same connective stay flat.
func join(name string, left, right *Predicate) *Predicate {
	joined := &Predicate{Name: name}
	for _, side := range []*Predicate{left, right} {
		if side.Name == name {
			joined.Args = append(joined.Args, side.Args...)
		} else {
			joined.Args = append(joined.Args, side)
		}
	}
	return joined
}
