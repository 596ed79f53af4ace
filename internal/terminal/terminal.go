// Package terminal formats output for people: colours, and a progress line.
//
// Both are disabled when the output is not a terminal, and colours also when
// NO_COLOR is set (no-color.org) or TERM is dumb.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// A Style colours text. The zero value does not.
type Style struct{ colour bool }

// StyleOf returns the style for an output and the environment.
func StyleOf(w io.Writer) Style {
	return Style{Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// A Colour is one of the standard terminal colours.
type Colour string

// The colours.
const (
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
	Blue   Colour = "34"
	Faint  Colour = "2"
	Bold   Colour = "1"
)

// Paint returns text in a colour.
func (s Style) Paint(c Colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// OneLine replaces unprintable characters, so that the name of a resource
// cannot move the cursor or change colours.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// A Progress is one line that is overwritten repeatedly. It writes nothing if
// the output is not a terminal.
type Progress struct {
	w   io.Writer
	now func() time.Time

	mu      sync.Mutex
	last    time.Time
	printed int
}

// minInterval is the minimum time between two updates of the line.
const minInterval = 100 * time.Millisecond

// NewProgress returns a progress line on w.
func NewProgress(w io.Writer) *Progress {
	if !Is(w) {
		w = nil
	}
	return &Progress{w: w, now: time.Now}
}

// Say replaces the text of the line.
func (p *Progress) Say(format string, values ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil || p.now().Sub(p.last) < minInterval {
		return
	}
	p.last = p.now()
	text := fmt.Sprintf(format, values...)
	fmt.Fprintf(p.w, "\r%-*s", p.printed, text)
	p.printed = utf8.RuneCountInString(text) // the unit of %-*s
}

// Bar returns a progress bar.
func Bar(done, all, width int) string {
	if all <= 0 {
		return strings.Repeat("░", width)
	}
	full := min(width, done*width/all)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// Clear removes the line.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && p.printed > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.printed))
		p.printed = 0
	}
}
