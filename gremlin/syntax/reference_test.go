package syntax

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "update STEPS.md")

func TestReferenceIsUpToDate(t *testing.T) {
	t.Parallel()
	var want bytes.Buffer
	if err := WriteReference(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("STEPS.md", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("STEPS.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("STEPS.md is out of date, run go test -update (-want +got):\n%s", diff)
	}
}

func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Steps() {
		if s.Doc == "" || len(s.Forms) == 0 {
			t.Errorf("%s lacks a sentence or a form", s.Name)
		}
		if key := s.Name + s.Category.String(); seen[key] {
			t.Errorf("%s is duplicated", s.Name)
		} else {
			seen[key] = true
		}
	}
	for _, name := range starters {
		if s, ok := Lookup(name); !ok || !s.Start {
			t.Errorf("%s starts queries but is not a step", name)
		}
	}
	for name := range replacements {
		if w := words[name]; w.step == nil && w.source == nil {
			t.Errorf("replacements has the unknown step %s", name)
		}
	}
}

// TestReferenceListsFormsOnce checks steps whose forms differ only in the kinds of
// parameters.
func TestReferenceListsFormsOnce(t *testing.T) {
	t.Parallel()
	for _, s := range Steps() {
		calls := strings.Fields(strings.ReplaceAll(s.calls(), ", ", ",")) // one for each form
		slices.Sort(calls)
		if once := slices.Compact(slices.Clone(calls)); len(once) != len(calls) {
			t.Errorf("the reference lists a form of %s twice: %s", s.Name, s.calls())
		}
	}
}
