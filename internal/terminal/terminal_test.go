package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestColoursAreDisabledWithoutATerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if got := StyleOf(&out).Paint(Red, "high"); got != "high" {
		t.Errorf("without a terminal: painted %q, want no colour", got)
	}
	if got := (Style{true}).Paint(Red, "high"); got != "\x1b[31mhigh\x1b[0m" {
		t.Errorf("with colours: painted %q, want it red", got)
	}
	NewProgress(&out).Say("half")
	if out.Len() > 0 {
		t.Errorf("progress wrote %q without a terminal, want nothing", out.String())
	}
}

func TestProgressIsOneLine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	now := time.Unix(1, 0)
	p := &Progress{w: &out, now: func() time.Time { return now }}
	p.Say("%d of 10", 1)
	p.Say("%d of 10", 2) // within the minimum time between updates
	now = now.Add(minInterval)
	p.Say("%s", Bar(1, 2, 4)) // of four cells and twelve bytes
	now = now.Add(minInterval)
	p.Say("%d", 3)
	p.Clear()
	if got, want := out.String(), "\r1 of 10\r██░░   \r3   \r \r"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestNamesCannotMoveTheCursor(t *testing.T) {
	t.Parallel()
	if got := OneLine("a\x1b[2Jb\nc"); got != "a [2Jb c" {
		t.Errorf("got %q", got)
	}
}

func TestBarShowsProgress(t *testing.T) {
	t.Parallel()
	for done, want := range map[int]string{0: "░░░░", 1: "██░░", 2: "████", 3: "████"} {
		if got := Bar(done, 2, 4); got != want {
			t.Errorf("%d of 2: %s, want %s", done, got, want)
		}
	}
	if Bar(1, 0, 2) != "░░" {
		t.Error("the bar of an unknown total is not empty")
	}
}
