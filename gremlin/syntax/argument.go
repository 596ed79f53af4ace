package syntax

import "strings"

// argument parses one argument. accept is the set of kinds that are allowed at
// this place: it decides how a word is interpreted, and other kinds are errors.
// step is the step or predicate of the argument.
func (p *parser) argument(accept Kind, step string) (Arg, *Error) {
	span := p.tok.Span
	a, err := p.readArgument(accept, step)
	if err != nil {
		return nil, err
	}
	if kind := KindOf(a); kind&accept == 0 {
		return nil, p.wrongKind(a, kind, accept, step, span)
	}
	if accept&KindMap != 0 { // the place of a value, not of a property key, label or limit
		err = p.countValue(a)
	}
	return a, err
}

func (p *parser) readArgument(accept Kind, step string) (Arg, *Error) {
	switch p.tok.kind {
	case tokString, tokInteger, tokFloat:
		return p.scalarOrRange()
	case '[':
		return p.bracketed()
	case '{':
		return p.set()
	case tokWord:
		return p.wordArgument(accept, step)
	}
	return nil, p.unexpectedToken(inStep(step), accept.String())
}

// wordArgument parses an argument that starts with a word.
func (p *parser) wordArgument(accept Kind, step string) (Arg, *Error) {
	name := p.text(p.tok)
	if err, ok := p.lambdaAhead(name); ok {
		return nil, err
	}
	if accept&KindStrategy != 0 {
		return p.strategy()
	}
	switch p.ahead().kind {
	case '.':
		return p.prefixedArgument(name, accept, step)
	case '(':
		return p.callArgument(name, accept, step)
	}
	return p.bare(name, accept, step)
}

// prefixedArgument parses an argument that starts with a word and a dot: __.out(), P.gt(1), T.id.
func (p *parser) prefixedArgument(name string, accept Kind, step string) (Arg, *Error) {
	switch name {
	case "__":
		return p.traversal()
	case "P", "TextP":
		return p.predicate()
	case "g":
		return p.nestedQuery(accept, step)
	}
	if e, ok := enumByName(name); ok {
		return p.enumToken(e)
	}
	switch name {
	case "IO", "PageRank", "PeerPressure", "ConnectedComponent", "ShortestPath":
		return nil, &Error{Kind: Forbidden, Span: p.tok.Span, Message: "options of " + name + " belong to steps that are refused here"}
	}
	if words[name].step != nil {
		return nil, &Error{
			Kind: Malformed, Span: p.tok.Span, Message: name + " is a step", Expected: "( after it", Found: "a dot",
			Hint: "write " + name + "()." + " with parentheses",
		}
	}
	return nil, &Error{
		Kind: Unknown, Span: p.tok.Span, Message: "unknown prefix " + name,
		Hint: suggest(name, append(enumNames(), "P", "TextP", "__")),
	}
}

// enumToken parses Enum.name, and Cardinality.set(value).
func (p *parser) enumToken(e Enum) (Arg, *Error) {
	start := p.advance()
	p.advance() // the dot
	if p.tok.kind != tokWord {
		return nil, p.unexpectedToken("after "+e.String()+".", orList(e.Names()))
	}
	name, ok := e.constant(p.text(p.tok))
	if !ok {
		return nil, &Error{
			Kind: Unknown, Span: p.tok.Span, Message: e.String() + " has no " + p.text(p.tok), Expected: orList(e.Names()),
			Hint: suggest(p.text(p.tok), e.Names()),
		}
	}
	t := &Token{Span: Span{start.Pos, p.tok.End}, Enum: e, Name: name}
	p.advance()
	if e == Cardinality && p.tok.kind == '(' {
		return p.cardinalityValue(t)
	}
	return t, nil
}

// cardinalityValue parses the value in parentheses after a cardinality.
func (p *parser) cardinalityValue(t *Token) (Arg, *Error) {
	p.advance()
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	v, err := p.argument(kindValue|KindTraversal, t.Name)
	if err != nil {
		return nil, err
	}
	p.leaveNesting()
	if p.tok.kind != ')' {
		return nil, p.unexpectedToken("after the value of "+t.Name+"()", `")"`)
	}
	return &CardinalityValue{Span: Span{t.Pos, p.advance().End}, Cardinality: t.Name, Value: v}, nil
}

// callArgument parses an argument that starts with a word and a parenthesis.
func (p *parser) callArgument(name string, accept Kind, step string) (Arg, *Error) {
	switch name {
	case "datetime", "DateTime", "UUID":
		return p.constructor()
	case "single", "list", "set":
		start := p.advance()
		return p.cardinalityValue(&Token{Span: start.Span, Enum: Cardinality, Name: name})
	}
	w := words[name]
	// Only the word not is both a step and a predicate.
	if w.predicate != nil && accept&KindPredicate != 0 && (w.step == nil || accept&KindTraversal == 0 || p.negatesPredicate()) {
		return p.predicate()
	}
	if w.step == nil && w.predicate == nil {
		return nil, p.unknownCall(name, accept, step)
	}
	if w.step == nil {
		return p.predicate() // the caller reports the error with the expected kinds
	}
	return p.traversal()
}

// negatesPredicate looks ahead after not( to decide whether it is P.not,
// followed by a predicate, or the step, followed by a traversal.
func (p *parser) negatesPredicate() bool {
	l := p.lex
	for {
		if t := l.next(); t.kind != '(' {
			return false
		}
		t := l.next()
		if t.kind != tokWord {
			return false
		}
		name := p.text(t)
		if name == "P" || name == "TextP" {
			return true
		}
		if name != "not" {
			return words[name].predicate != nil && words[name].step == nil
		}
	}
}

// bare parses a single word: a constant or a variable.
func (p *parser) bare(name string, accept Kind, step string) (Arg, *Error) {
	switch {
	case name == "null" && accept&KindNull == 0 && accept&kindOfEnum(GType) != 0:
		// In typeOf(null), null is a type.
	case name == "null", name == "true", name == "false", name == "NaN", name == "Infinity":
		return p.scalarOrRange()
	}
	w := words[name]
	for _, t := range w.tokens {
		if accept&kindOfEnum(t.enum) != 0 {
			return &Token{Span: p.advance().Span, Enum: t.enum, Name: t.name}, nil
		}
	}
	switch {
	case !w.isReserved() && accept&KindVariable != 0:
		return &Variable{Span: p.advance().Span, Name: strings.Clone(name)}, nil
	case w.tokens != nil:
		t := w.tokens[0]
		return &Token{Span: p.advance().Span, Enum: t.enum, Name: t.name}, nil // the caller reports the error
	case w.step != nil || w.predicate != nil:
		p.advance()
		return nil, p.unexpectedToken("after "+name, `"("`)
	}
	return nil, p.unknownWord(name, accept, step)
}

// nestedQuery parses a whole query used as a value; it must have a terminal step.
func (p *parser) nestedQuery(accept Kind, step string) (Arg, *Error) {
	start := p.tok
	if accept&KindQuery == 0 {
		return nil, &Error{
			Kind: Misuse, Span: start.Span, Message: "a traversal in " + step + "() does not start with g", Expected: accept.String(),
			Hint: "write __ instead of g, or V() to start again at all vertices",
		}
	}
	p.depth++
	if p.depth > p.limits.Depth {
		return nil, limitError(LimitDepth, p.limits.Depth, start.Span, "traversals are nested too deeply")
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	p.depth--
	if q.Terminal == nil {
		return nil, &Error{
			Kind: Misuse, Span: start.Span, Message: "a query as a value must end in next(), toList() or the like",
			Hint: "for a nested traversal write __ instead of g",
		}
	}
	return q, nil
}
