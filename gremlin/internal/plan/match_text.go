package plan

import (
	"io"
	"strings"
	"unicode/utf8"
)

// TestText reports whether a string satisfies a text predicate. The work is
// proportional to the length of the string.
func (p *Pred) TestText(t Tester, s string) bool {
	switch p.Op {
	case StartingWith:
		return strings.HasPrefix(s, p.Text)
	case EndingWith:
		return strings.HasSuffix(s, p.Text)
	case Containing:
		return t.Tick(len(s)/containsBytesPerUnit) && strings.Contains(s, p.Text)
	case Regex:
		return p.matches(t, s)
	}
	return false
}

// containsBytesPerUnit is the number of bytes per unit of work in searching a substring.
const containsBytesPerUnit = 512

// regexBytesPerUnit is the number of bytes per unit of work in matching a regular
// expression, at about a hundred nanoseconds per byte.
const regexBytesPerUnit = 8

// matches searches for the regular expression. Long texts are read in parts, so
// that the search stops when the budget is exceeded.
func (p *Pred) matches(t Tester, s string) bool {
	if len(s) < bytesPerCheck {
		return t.Tick(len(s)/regexBytesPerUnit) && p.Re.MatchString(s)
	}
	found := p.Re.MatchReader(&meteredText{t: t, rest: s})
	return found && t.Tick(0) // a match does not count if the budget was exceeded: the text may have been cut
}

// bytesPerCheck is the number of bytes between two checks of the budget.
const bytesPerCheck = 4096

// meteredText is a reader that ends when the budget is exceeded.
type meteredText struct {
	t    Tester
	rest string
	read int // bytes since the last check
}

// ReadRune returns the next rune.
func (r *meteredText) ReadRune() (rune, int, error) {
	if r.rest == "" {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[n:]
	r.read += n
	if r.read >= bytesPerCheck {
		r.read = 0
		if !r.t.Tick(bytesPerCheck / regexBytesPerUnit) {
			r.rest = ""
		}
	}
	return c, n, nil
}
