package main

import (
	"slices"
	"strings"
	"testing"
)

func TestManualHasEveryCommandAndSettingOnce(t *testing.T) {
	t.Parallel()
	app, err := allCommands()
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := writeMan(&page, app); err != nil {
		t.Fatal(err)
	}
	for _, leaf := range app.Leaves(true) {
		if want := "\n.SS " + quote(leaf.FullPath()) + "\n"; strings.Count(page.String(), want) != 1 {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, want := range []string{".TH VIGIL 1 ", `.B "\-\-posture\-listen=STRING"`, `.B "\-f, \-\-follow"`, "VIGIL_POSTURE_LISTEN", ".SH EXIT STATUS", `DOMAIN\eUSER`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page.String(), `.B "\-\-posture\-listen=`); n != 1 {
		t.Errorf("a setting occurs %d times", n)
	}
	macros := []string{".TH", ".SH", ".SS", ".TP", ".B", ".PP"}
	for line := range strings.Lines(page.String()) {
		if macro, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") && !slices.Contains(macros, macro) || strings.HasPrefix(line, "'") {
			t.Errorf("not a macro of man(7): %s", line)
		}
	}
}

func TestTroffEscaping(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{".so file": `\&.so file`, "'a": `\&'a`, `a\b`: `a\eb`, "--x\ny": `\-\-x y`} {
		if got := escape(text); got != want {
			t.Errorf("escape(%q) = %q, want %q", text, got, want)
		}
	}
	if got, want := quote(`say "x"`), `"say ""x"""`; got != want {
		t.Errorf("quote returns %s, want %s", got, want)
	}
}
