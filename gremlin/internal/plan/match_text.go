package plan

import (
	"io"
	"strings"
	"unicode/utf8"
)

// TestText reports whether a string satisfies a text predicate. The longer the
// string, the more work it is.
func (p *Pred) TestText(t Tester, s string) bool {
	switch p.Op {
	case StartingWith:
		return strings.HasPrefix(s, p.Text)
	case EndingWith:
		return strings.HasSuffix(s, p.Text)
	case Containing:
		return t.Tick(len(s)/512) && strings.Contains(s, p.Text)
	case Regex:
		return p.matches(t, s)
	}
	return false
}

// bytesPerUnit is how much text a regular expression reads for one unit of work,
// at about a hundred nanoseconds a byte.
const bytesPerUnit = 8

// matches looks for the regular expression. Long texts are read bit by bit, so
// that a match can be given up when the budget is used up.
func (p *Pred) matches(t Tester, s string) bool {
	if len(s) < readerStep {
		return t.Tick(len(s)/bytesPerUnit) && p.Re.MatchString(s)
	}
	return p.Re.MatchReader(&meteredText{t: t, rest: s}) && t.Tick(0)
}

// readerStep is how many bytes are read between two looks at the budget.
const readerStep = 4096

// meteredText is a text that ends when the budget does.
type meteredText struct {
	t    Tester
	rest string
	read int // since the last look
}

// ReadRune returns the next rune.
func (r *meteredText) ReadRune() (rune, int, error) {
	if r.rest == "" {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[n:]
	if r.read += n; r.read >= readerStep {
		r.read = 0
		if !r.t.Tick(readerStep / bytesPerUnit) {
			r.rest = ""
		}
	}
	return c, n, nil
}
