package syntax

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// String formats the query in canonical form: constants and predicates with
// their prefix, anonymous traversals with __, strings in double quotes, one
// space after a comma. Parsing it yields the same tree.
func (q *Query) String() string {
	var w writer
	w.query(q)
	return w.String()
}

// String formats the traversal in canonical form.
func (t *Traversal) String() string { return Format(t) }

// String formats the predicate in canonical form.
func (p *Predicate) String() string { return Format(p) }

// String formats the step in canonical form, without a dot.
func (s Step) String() string {
	var w writer
	w.step(s)
	return w.String()
}

// Format formats any argument in canonical form.
func Format(a Arg) string {
	var w writer
	w.arg(a)
	return w.String()
}

// writer builds canonical text.
type writer struct{ strings.Builder }

func (w *writer) query(q *Query) {
	w.WriteString("g")
	for _, steps := range [][]Step{q.Source, q.Steps} {
		w.chain(steps)
	}
	if q.Terminal != nil {
		w.chain([]Step{*q.Terminal})
	}
}

func (w *writer) chain(steps []Step) {
	for _, s := range steps {
		w.WriteByte('.')
		w.step(s)
	}
}

func (w *writer) step(s Step) {
	w.WriteString(s.Name)
	w.WriteByte('(')
	w.list(s.Args)
	w.WriteByte(')')
}

func (w *writer) list(args []Arg) {
	for i, a := range args {
		if i > 0 {
			w.WriteString(", ")
		}
		w.arg(a)
	}
}

func (w *writer) arg(a Arg) {
	switch a := a.(type) {
	case *Literal:
		w.value(a.Value)
	case *List:
		w.WriteByte('[')
		w.list(a.Items)
		w.WriteByte(']')
	case *Set:
		w.WriteByte('{')
		w.list(a.Items)
		w.WriteByte('}')
	case *Map:
		w.entries(a.Entries)
	case *Range:
		w.value(a.From.Value)
		w.WriteString("..")
		w.value(a.To.Value)
	case *RuntimeValue:
		w.WriteString(a.Name + "()")
	case *Token:
		w.WriteString(a.Enum.String() + "." + a.Name)
	case *CardinalityValue:
		w.WriteString("Cardinality." + a.Cardinality + "(")
		w.arg(a.Value)
		w.WriteByte(')')
	case *Predicate:
		w.predicate(a)
	case *Traversal:
		w.WriteString("__")
		w.chain(a.Steps)
	case *Query:
		w.query(a)
	case *Variable:
		w.WriteString(a.Name)
	case *Strategy:
		w.strategy(a)
	}
}

// entries writes a map. A key that is a token is written in parentheses, which Groovy requires.
func (w *writer) entries(entries []Entry) {
	if len(entries) == 0 {
		w.WriteString("[:]")
		return
	}
	w.WriteByte('[')
	for i, e := range entries {
		if i > 0 {
			w.WriteString(", ")
		}
		if _, ok := e.Key.(*Token); ok {
			w.WriteString("(" + Format(e.Key) + ")")
		} else {
			w.arg(e.Key)
		}
		w.WriteString(": ")
		w.arg(e.Value)
	}
	w.WriteByte(']')
}

func (w *writer) predicate(p *Predicate) {
	if p.Name == "and" || p.Name == "or" {
		w.arg(p.Args[0])
		for _, a := range p.Args[1:] {
			w.WriteString("." + p.Name + "(")
			w.arg(a)
			w.WriteByte(')')
		}
		return
	}
	if shape := words[p.Name].predicate; shape != nil {
		w.WriteString(shape.prefix() + ".")
	}
	w.WriteString(p.Name)
	w.WriteByte('(')
	w.list(p.Args)
	w.WriteByte(')')
}

func (w *writer) strategy(s *Strategy) {
	if len(s.Config) == 0 {
		w.WriteString(s.Name)
		return
	}
	w.WriteString("new " + s.Name + "(")
	for i, e := range s.Config {
		if i > 0 {
			w.WriteString(", ")
		}
		key, _ := e.Key.(*Literal).Value.(string)
		w.WriteString(key + ": ")
		w.arg(e.Value)
	}
	w.WriteByte(')')
}

// value writes a literal so that its type is preserved.
func (w *writer) value(v any) {
	switch v := v.(type) {
	case nil:
		w.WriteString("null")
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case string:
		w.WriteString(quote(v))
	case int8:
		w.WriteString(strconv.FormatInt(int64(v), 10) + "b")
	case int16:
		w.WriteString(strconv.FormatInt(int64(v), 10) + "s")
	case int32:
		w.WriteString(strconv.FormatInt(int64(v), 10))
	case int64:
		w.WriteString(strconv.FormatInt(v, 10) + "l")
	case *big.Int:
		w.WriteString(v.String() + "n")
	case float32:
		w.WriteString(floatText(float64(v), 32) + "f")
	case float64:
		w.WriteString(floatText(v, 64))
	case Decimal:
		w.WriteString(v.String() + "m")
	case time.Time:
		w.WriteString(`datetime("` + timeText(v) + `")`)
	case UUID:
		w.WriteString(`UUID("` + v.String() + `")`)
	}
}

// floatText formats a number so that it is parsed as a float. There is no
// float32 infinity; a number that is too large is used instead.
func floatText(f float64, size int) string {
	switch {
	case size == 32 && math.IsInf(f, 0):
		f = math.Copysign(1e39, f)
		size = 64
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	}
	s := strconv.FormatFloat(f, 'g', -1, size)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// timeText formats a date with its offset, to the second if necessary.
func timeText(t time.Time) string {
	text := t.Format("2006-01-02T15:04:05.999999999")
	_, offset := t.Zone()
	if offset == 0 {
		return text + "Z"
	}
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	text += fmt.Sprintf("%s%02d:%02d", sign, offset/3600, offset/60%60)
	if offset%60 != 0 {
		text += fmt.Sprintf(":%02d", offset%60)
	}
	return text
}
