package syntax

import "strconv"

// Options configure [Parse].
type Options struct {
	Limits
	// AllowMutation accepts steps that change the graph. The engine does not run them; they
	// are for loaders that build a graph from a text.
	AllowMutation bool
}

// Parse parses one query. It fails with an *Error.
func Parse(text string, o Options) (*Query, error) {
	limits := o.Limits.orDefaults()
	if len(text) > limits.Length {
		return nil, limitError(LimitLength, limits.Length, Span{}, "the text is "+strconv.Itoa(len(text))+" bytes long")
	}
	p := &parser{lex: newLexer(text), limits: limits, mutation: o.AllowMutation}
	p.advance()
	q, err := p.document()
	if err != nil {
		err.src = text
		return nil, err
	}
	return q, nil
}

// parser is a recursive-descent parser with one current token.
type parser struct {
	lex      lexer
	tok      token
	limits   Limits
	mutation bool

	steps, literals int
	depth           int // nesting depth of traversals
	inner           int // nesting depth of collections and predicates
	height          int // height of the last parsed predicate

	slab []Literal // slab for the next literals
}

// advance moves to the next token and returns the previous one.
func (p *parser) advance() token {
	t := p.tok
	p.tok = p.lex.next()
	return t
}

// ahead returns the token after the current one.
func (p *parser) ahead() token {
	l := p.lex
	return l.next()
}

// text returns the source text of a token.
func (p *parser) text(t token) string { return p.lex.src[t.Pos.Offset:t.End.Offset] }

// document parses a query up to the end of the text.
func (p *parser) document() (*Query, *Error) {
	if p.tok.kind == tokEOF {
		return nil, &Error{Kind: Malformed, Span: p.tok.Span, Message: "the query is empty", Expected: "g", Hint: "a query starts with g.V()"}
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	if p.tok.kind == ';' {
		p.advance()
	}
	if p.tok.kind != tokEOF {
		return nil, p.unexpectedToken("after the query", `its end, or "." and a step`)
	}
	return q, nil
}

// query parses g, its configuration, its steps and its terminal step.
func (p *parser) query() (*Query, *Error) {
	q := &Query{Span: Span{Pos: p.tok.Pos}}
	if p.tok.kind != tokWord || p.text(p.tok) != "g" {
		return nil, p.notG()
	}
	q.End = p.advance().End
	for p.tok.kind == '.' {
		p.advance()
		if q.Terminal != nil {
			return nil, &Error{Kind: Misuse, Span: p.tok.Span, Message: "nothing may follow " + q.Terminal.Name + "()"}
		}
		if err := p.queryStep(q); err != nil {
			return nil, err
		}
	}
	if len(q.Steps) == 0 {
		return nil, p.unexpectedToken("the query has no step", `"." and a step such as V()`)
	}
	return q, nil
}

// queryStep parses the next step and adds it to the part of q that it belongs to.
func (p *parser) queryStep(q *Query) *Error {
	sig, err := p.signature(len(q.Steps) == 0)
	if err != nil {
		return err
	}
	if len(q.Steps) == 0 && sig.Category != MutatingStep && sig.Category != SourceStep && !sig.Start {
		return &Error{
			Kind: Misuse, Span: p.tok.Span, Message: "a query does not start with " + sig.Name + "()",
			Hint: "start with V(), E(), inject() or union()",
		}
	}
	switch sig.Category {
	case SourceStep:
		s, err := p.call(sig)
		q.Source, q.End = append(q.Source, s), s.End
		return err
	case TerminalStep:
		s, err := p.call(sig)
		q.Terminal, q.End = &s, s.End
		return err
	}
	if q.Steps, err = p.chainStep(q.Steps, sig); err != nil {
		return err
	}
	q.End = q.Steps[len(q.Steps)-1].End
	return nil
}

// traversal parses an anonymous traversal, with or without a leading __.
func (p *parser) traversal() (*Traversal, *Error) {
	t := &Traversal{Span: Span{Pos: p.tok.Pos}}
	p.depth++
	if p.depth > p.limits.Depth {
		return nil, limitError(LimitDepth, p.limits.Depth, p.tok.Span, "traversals are nested too deeply")
	}
	if p.text(p.tok) == "__" {
		p.advance()
		if err := p.expect('.', "after", "__"); err != nil {
			return nil, err
		}
	}
	for {
		sig, err := p.signature(noSource)
		if err != nil {
			return nil, err
		}
		if sig.Category == TerminalStep {
			return nil, &Error{
				Kind: Misuse, Span: p.tok.Span, Message: sig.Name + "() ends a whole query and cannot stand in a nested traversal",
			}
		}
		if t.Steps, err = p.chainStep(t.Steps, sig); err != nil {
			return nil, err
		}
		if p.tok.kind != '.' {
			break
		}
		p.advance()
	}
	t.End = t.Steps[len(t.Steps)-1].End
	p.depth--
	return t, nil
}

// chainStep parses a step and appends it to steps.
func (p *parser) chainStep(steps []Step, sig *Signature) ([]Step, *Error) {
	s, err := p.call(sig)
	if err != nil {
		return nil, err
	}
	if s.Name == "store" || s.Name == "aggregate" && len(s.Args) == 2 {
		if s, err = p.modernAggregate(s); err != nil {
			return nil, err
		}
	}
	return append(steps, s), nil
}

// noSource is for signature: a step such as withSack() cannot be here.
const noSource = false

// signature returns the signature of the current step and rejects forbidden
// steps. source is true before the first step of a query.
func (p *parser) signature(source bool) (*Signature, *Error) {
	if p.tok.kind != tokWord {
		return nil, p.unexpectedToken(nameMissing, "the name of a step")
	}
	name := p.text(p.tok)
	if err, ok := p.lambdaAhead(name); ok {
		return nil, err
	}
	w := words[name]
	sig := w.step
	if source && w.source != nil {
		sig = w.source
	}
	switch {
	case sig == nil && w.source != nil:
		return nil, &Error{Kind: Misuse, Span: p.tok.Span, Message: name + "() belongs directly after g, before the first step"}
	case sig == nil:
		return nil, p.unknownStep(name, source)
	case sig.Category == RefusedStep, sig.Category == MutatingStep && !p.mutation:
		err := &Error{Kind: Forbidden, Span: p.tok.Span, Message: name + "() " + sig.Doc}
		if sig.Instead != "" {
			err.Hint = "instead: " + sig.Instead
		}
		return nil, err
	}
	return sig, nil
}

// call parses the name and arguments of a step.
func (p *parser) call(sig *Signature) (Step, *Error) {
	s := Step{Span: p.tok.Span, Name: sig.Name}
	p.steps++
	if p.steps > p.limits.Steps {
		return s, limitError(LimitSteps, p.limits.Steps, p.tok.Span, "the query has too many steps")
	}
	p.advance()
	if err := p.expect('(', "after", sig.Name); err != nil {
		return s, err
	}
	var err *Error
	if s.Args, err = p.arguments(sig); err != nil {
		return s, err
	}
	s.End = p.advance().End // the closing parenthesis
	if !sig.matches(s.Args) {
		return s, p.wrongArguments(sig, s)
	}
	return s, nil
}

// arguments parses arguments up to the closing parenthesis, which it does not consume.
func (p *parser) arguments(sig *Signature) ([]Arg, *Error) {
	var args []Arg
	for i := 0; p.tok.kind != ')'; i++ {
		if i > 0 {
			if err := p.expect(',', "between arguments of", sig.Name); err != nil {
				return nil, err
			}
		}
		accept := sig.acceptAt(i)
		if accept == 0 {
			return nil, p.tooMany(sig, i)
		}
		a, err := p.argument(accept, sig.Name)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	return args, nil
}

// expect consumes a token of the kind, or fails. The place is passed in two
// parts to avoid building a string on success.
func (p *parser) expect(kind tokenKind, where, name string) *Error {
	if p.tok.kind != kind {
		return p.unexpectedToken(where+" "+name, strconv.Quote(string(rune(kind))))
	}
	p.advance()
	return nil
}
