package syntax

import "strings"

// strategy parses Name, new Name() and Name(key: value, ...).
func (p *parser) strategy() (Arg, *Error) {
	s := &Strategy{Span: p.tok.Span}
	if p.text(p.tok) == "new" {
		p.advance()
	}
	if p.tok.kind != tokWord {
		return nil, p.unexpectedToken(nameMissing, "the name of a strategy")
	}
	s.Name = strings.Clone(p.text(p.tok))
	s.End = p.advance().End
	if p.tok.kind != '(' {
		return s, nil
	}
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	p.advance()
	for p.tok.kind != ')' {
		if len(s.Config) > 0 {
			if err := p.expect(',', "between options of", s.Name); err != nil {
				return nil, err
			}
		}
		e, err := p.option(s.Name)
		if err != nil {
			return nil, err
		}
		s.Config = append(s.Config, e)
	}
	p.leaveNesting()
	s.End = p.advance().End
	return s, nil
}

// option parses key: value.
func (p *parser) option(strategy string) (e Entry, err *Error) {
	if p.tok.kind != tokWord {
		return e, p.unexpectedToken("in the options of "+strategy, "a name and a colon")
	}
	t := p.advance()
	e.Key = p.literal(t.Span, p.text(t))
	if err := p.expect(':', "after", p.text(t)); err != nil {
		return e, err
	}
	e.Value, err = p.argument(kindItem, strategy)
	return e, err
}
