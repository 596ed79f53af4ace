package syntax

import (
	"slices"
	"strconv"
	"strings"
)

const noLambda = "lambdas and closures are not part of the language; write a traversal"

// lambdaAhead recognises a closure: it{...}, x -> ..., filter{...}, or Groovy's
// implicit it. Otherwise the message would be about a brace or a dot.
func (p *parser) lambdaAhead(name string) (*Error, bool) {
	next := p.ahead()
	arrow := next.kind == tokBad && next.message == noLambda
	if arrow || next.kind == '{' || name == "it" && next.kind == '.' || name == "lambda" || name == "Lambda" {
		return &Error{Kind: Forbidden, Span: Span{p.tok.Pos, next.End}, Message: noLambda}, true
	}
	return nil, false
}

// describe describes a token for a message.
func (p *parser) describe(t token) string {
	switch t.kind {
	case tokEOF:
		return "the end of the text"
	case tokString:
		return "a string"
	case tokBad:
		return t.message
	case tokRange:
		return ".."
	case tokWord, tokInteger, tokFloat:
		return strconv.Quote(shorten(p.text(t)))
	}
	return strconv.Quote(string(rune(t.kind)))
}

func shorten(s string) string {
	const maxLength = 40
	if r := []rune(s); len(r) > maxLength {
		return string(r[:maxLength]) + "..."
	}
	return s
}

// inStep describes the owner of an argument: a step or predicate, or a phrase.
func inStep(step string) string {
	if strings.ContainsRune(step, ' ') {
		return step
	}
	return step + "()"
}

const nameMissing = "a name is missing"

// unexpectedToken returns the error for the current token if the grammar does not allow it. message
// names the place of the token, such as "after the query", or says what the query lacks, such as
// nameMissing.
func (p *parser) unexpectedToken(message, expected string) *Error {
	e := &Error{Kind: Malformed, Span: p.tok.Span, Message: message, Expected: expected, Found: p.describe(p.tok)}
	if p.tok.kind == tokBad {
		e.Message, e.Expected, e.Found = p.tok.message, "", ""
		if e.Message == noLambda {
			e.Kind = Forbidden
		}
	}
	return e
}

// notG returns the error of a query that does not start with g.
func (p *parser) notG() *Error {
	e := p.unexpectedToken("a query starts with g", "g")
	if p.tok.kind == tokWord {
		if w := words[p.text(p.tok)]; w.step != nil || p.text(p.tok) == "__" {
			e.Hint = "write g." + p.text(p.tok) + "..."
		}
	}
	return e
}

// unknownStep returns the error of an unknown step name.
func (p *parser) unknownStep(name string, source bool) *Error {
	e := &Error{Kind: Unknown, Span: p.tok.Span, Message: "there is no step " + shorten(name) + "()"}
	if words[name].predicate != nil {
		e.Message = name + "() is a predicate, not a step"
		e.Hint = "write it inside has(), is() or where()"
		return e
	}
	if source {
		e.Hint = suggestCall(name, sourceStepNames())
	}
	if e.Hint == "" {
		e.Hint = suggestCall(name, chainStepNames())
	}
	return e
}

// unknownCall returns the error of an unknown argument name(...).
func (p *parser) unknownCall(name string, accept Kind, step string) *Error {
	var candidates []string
	what := "step"
	if accept&KindTraversal != 0 {
		candidates = chainStepNames()
	}
	if accept&KindPredicate != 0 {
		candidates = append(predicateNames(), candidates...)
		what = "predicate or step"
		if accept&KindTraversal == 0 {
			what = "predicate"
		}
	}
	e := &Error{Kind: Unknown, Span: p.tok.Span, Message: "there is no " + what + " " + shorten(name) + "()", Hint: suggestCall(name, candidates)}
	if len(candidates) == 0 {
		e.Message, e.Expected, e.Found = inStep(step), accept.String(), shorten(name)+"()"
	}
	return e
}

// unknownWord returns the error of an unknown bare word.
func (p *parser) unknownWord(name string, accept Kind, step string) *Error {
	var candidates []string
	for e := NoEnum + 1; e < enumCount; e++ {
		if accept&kindOfEnum(e) != 0 {
			candidates = append(candidates, e.Names()...)
		}
	}
	e := &Error{
		Kind: Unknown, Span: p.tok.Span, Message: inStep(step), Expected: accept.String(), Found: "the word " + shorten(name),
		Hint: suggest(name, candidates),
	}
	if e.Hint == "" && accept&KindString != 0 {
		e.Hint = `write a string in quotes: "` + shorten(name) + `"`
	}
	return e
}

// wrongKind returns the error of an argument of an unsupported kind.
func (p *parser) wrongKind(a Arg, kind, accept Kind, step string, span Span) *Error {
	e := &Error{Kind: Misuse, Span: Span{span.Pos, a.Bounds().End}, Message: inStep(step), Expected: accept.String(), Found: kind.String()}
	if step == "has" && kind == KindTraversal {
		e.Message, e.Expected, e.Found = "has() with a traversal was removed in Gremlin 3.8", "", ""
		e.Hint = `write where(values("key").is(...)), or has("key", P.gt(...))`
	}
	return e
}

// tooMany returns the error of too many arguments.
func (p *parser) tooMany(sig *Signature, limit int) *Error {
	e := &Error{Kind: Misuse, Span: p.tok.Span, Message: sig.Name + "() takes no argument"}
	if limit > 0 {
		e.Message = sig.Name + "() takes no more than " + plural(limit, "argument") + ": " + sig.Usage()
	}
	return e
}

func plural(n int, noun string) string {
	if n == 1 {
		return "one " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// wrongArguments returns the error of arguments that match no form.
func (p *parser) wrongArguments(sig *Signature, s Step) *Error {
	e := &Error{Kind: Misuse, Span: s.Span, Message: "wrong arguments for " + sig.Name + "()", Expected: sig.Usage()}
	if sig.Name == "none" && len(s.Args) == 0 {
		e.Message, e.Expected = "none() takes a predicate since Gremlin 3.8", ""
		e.Hint = "to drop all results write discard()"
	}
	for _, a := range s.Args {
		if v, ok := a.(*Variable); ok {
			e.Hint = `a bare word is a variable; write a string in quotes: "` + shorten(v.Name) + `"`
		}
	}
	return e
}

// enumNames returns the prefixes of the enumerations.
func enumNames() []string {
	var names []string
	for e := NoEnum + 1; e < enumCount; e++ {
		names = append(names, e.String())
	}
	slices.Sort(names)
	return names
}
