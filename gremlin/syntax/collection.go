package syntax

import (
	"strconv"
	"unicode/utf8"
)

// bracketed parses a list or a map. The first colon decides which it is.
func (p *parser) bracketed() (Arg, *Error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	start := p.advance().Pos
	var a Arg
	var err *Error
	switch {
	case p.tok.kind == ':':
		a, err = p.emptyMap(start)
	case p.tok.kind == '(', p.tok.kind == tokWord && p.ahead().kind == ':':
		a, err = p.mapFrom(start, nil)
	default:
		a, err = p.listOrMap(start)
	}
	if err != nil {
		return nil, err
	}
	p.advance() // the closing bracket
	p.leaveNesting()
	return a, nil
}

// listOrMap parses a list or map whose first token may be an item or a key.
func (p *parser) listOrMap(start Pos) (Arg, *Error) {
	l := &List{}
	if p.tok.kind != ']' {
		first, err := p.argument(kindItem, "a list")
		if err != nil {
			return nil, err
		}
		if p.tok.kind == ':' {
			if KindOf(first)&kindKey == 0 {
				return nil, p.wrongKind(first, KindOf(first), kindKey, "the key of a map", first.Bounds())
			}
			return p.mapFrom(start, first)
		}
		if l.Items, err = p.items([]Arg{first}, ']'); err != nil {
			return nil, err
		}
	}
	l.Span = Span{start, p.tok.End}
	return l, nil
}

// set parses {a, b}.
func (p *parser) set() (Arg, *Error) {
	if err := p.enterNesting(); err != nil {
		return nil, err
	}
	start := p.advance().Pos
	items, err := p.items(nil, '}')
	if err != nil {
		return nil, err
	}
	p.leaveNesting()
	return &Set{Span: Span{start, p.advance().End}, Items: items}, nil
}

// kindItem is the set of kinds that items of a list, set or map may have.
const kindItem = kindValue | KindTraversal | KindVariable

// items parses items up to the closing bracket, which it does not consume.
func (p *parser) items(items []Arg, closing tokenKind) ([]Arg, *Error) {
	for p.tok.kind != closing {
		if len(items) > 0 {
			if p.tok.kind != ',' {
				return nil, p.unexpectedToken("between items", `"," or `+strconv.Quote(string(rune(closing))))
			}
			p.advance()
		}
		a, err := p.argument(kindItem, "a list")
		if err != nil {
			return nil, err
		}
		items = append(items, a)
	}
	return items, nil
}

func (p *parser) emptyMap(start Pos) (Arg, *Error) {
	p.advance()
	if p.tok.kind != ']' {
		return nil, p.unexpectedToken("in an empty map", `"]"`)
	}
	return &Map{Span: Span{start, p.tok.End}}, nil
}

// mapFrom parses the entries of a map. key is the first key if it has been parsed already, or nil.
func (p *parser) mapFrom(start Pos, key Arg) (Arg, *Error) {
	m := &Map{}
	for p.tok.kind != ']' {
		if len(m.Entries) > 0 {
			if p.tok.kind != ',' {
				return nil, p.unexpectedToken("between entries of a map", `"," or "]"`)
			}
			p.advance()
		}
		e, err := p.entry(key)
		if err != nil {
			return nil, err
		}
		m.Entries = append(m.Entries, e)
		key = nil
	}
	m.Span = Span{start, p.tok.End}
	return m, nil
}

func (p *parser) entry(key Arg) (e Entry, err *Error) {
	e.Key = key
	if key == nil {
		if e.Key, err = p.mapKey(); err != nil {
			return e, err
		}
	}
	if p.tok.kind != ':' {
		return e, p.unexpectedToken("after the key of a map", `":"`)
	}
	p.advance()
	e.Value, err = p.argument(kindItem, "a map")
	return e, err
}

const kindKey = KindString | kindNumber | kindContainer | kindEnum<<T | kindEnum<<Direction

// mapKey parses a key: a bare word is a string, a word in parentheses is not.
func (p *parser) mapKey() (Arg, *Error) {
	switch {
	case p.tok.kind == '(':
		open := p.advance()
		k, err := p.argument(kindKey, "the key of a map")
		if err != nil {
			return nil, err
		}
		if t, ok := k.(*Token); ok {
			t.Span = Span{open.Pos, p.tok.End}
		}
		if p.tok.kind != ')' {
			return nil, p.unexpectedToken("after the key of a map", `")"`)
		}
		p.advance()
		return k, nil
	case p.tok.kind == tokWord && p.ahead().kind != '.':
		t := p.advance()
		k := p.literal(t.Span, p.text(t))
		return k, p.countValue(k)
	}
	return p.argument(kindKey, "the key of a map")
}

// maxRange is the maximum number of items of a range, regardless of Limits.
const maxRange = 1_000_000

// size returns the number of items, or an error message about the ends.
func (r *Range) size() (n int, message string) {
	if from, ok := r.From.Value.(int32); ok {
		to, ok := r.To.Value.(int32)
		if !ok {
			return 0, "both ends of a range of numbers must be whole numbers of 32 bits"
		}
		return checkRange(max(int(from)-int(to), int(to)-int(from)) + 1)
	}
	from, ok1 := r.From.Value.(string)
	to, ok2 := r.To.Value.(string)
	if !ok1 || !ok2 {
		return 0, "the ends of a range must be whole numbers of 32 bits or strings"
	}
	if from == "" && to == "" {
		return 0, ""
	}
	a, n1 := utf8.DecodeLastRuneInString(from)
	b, n2 := utf8.DecodeLastRuneInString(to)
	if n1 == 0 || n2 == 0 || from[:len(from)-n1] != to[:len(to)-n2] {
		return 0, "the ends of a range of strings must be equal except for their last character"
	}
	return checkRange(int(max(a-b, b-a)) + 1)
}

func checkRange(items int) (n int, message string) {
	if items > maxRange {
		return 0, "a range has at most 1000000 items"
	}
	return items, ""
}

// Items returns the values of the range, from its first end to its other end: int32 or string.
func (r *Range) Items() []any {
	n, message := r.size()
	if message != "" || n == 0 {
		return nil
	}
	items := make([]any, n)
	if from, ok := r.From.Value.(int32); ok {
		step := int32(1)
		if r.To.Value.(int32) < from {
			step = -1
		}
		for i := range items {
			items[i] = from + int32(i)*step
		}
		return items
	}
	from := r.From.Value.(string)
	first, size := utf8.DecodeLastRuneInString(from)
	last, _ := utf8.DecodeLastRuneInString(r.To.Value.(string))
	step := rune(1)
	if last < first {
		step = -1
	}
	for i := range items {
		items[i] = from[:len(from)-size] + string(first+rune(i)*step)
	}
	return items
}
