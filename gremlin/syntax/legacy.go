package syntax

// modernAggregate rewrites store(name) and aggregate(local, name), with the
// following by() modulators, to local(aggregate(name).by()), and
// aggregate(global, name) to aggregate(name). Gremlin 3.8 removed the old
// spellings, but existing rules use them.
func (p *parser) modernAggregate(old Step) (Step, *Error) {
	name := old.Args[len(old.Args)-1]
	inner := Step{Span: old.Span, Name: "aggregate", Args: []Arg{name}}
	if scope, ok := old.Args[0].(*Token); ok && scope.Name == "global" {
		return inner, nil
	}
	if p.depth+1 > p.limits.Depth {
		return old, limitError(LimitDepth, p.limits.Depth, old.Span, "traversals are nested too deeply")
	}
	t := &Traversal{Span: old.Span, Steps: []Step{inner}}
	for p.tok.kind == '.' && p.text(p.ahead()) == "by" {
		p.advance()
		sig, err := p.signature(noSource)
		if err != nil {
			return old, err
		}
		by, err := p.call(sig)
		if err != nil {
			return old, err
		}
		t.Steps, t.End = append(t.Steps, by), by.End
	}
	return Step{Span: t.Span, Name: "local", Args: []Arg{t}}, nil
}
