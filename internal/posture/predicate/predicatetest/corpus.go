// Package predicatetest runs the corpora of predicates: data files of possible
// responses of a cloud, each entry with the expected answer.
package predicatetest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture/predicate"
)

// minEntries is the minimum number of entries of a corpus.
const minEntries = 80

// Corpus runs a file of entries, each of which has a name, the answer (yes, no
// or unknown), why it is right if the name does not say it, and the members of
// T. An entry with a reason also expects this text in the reason that the
// predicate gives. Corpus fails when an answer differs, when a name is repeated,
// when one of the three answers does not occur, and when there are fewer than
// minEntries entries.
func Corpus[T any](t *testing.T, file string, ask func(T) predicate.Answer) {
	t.Helper()
	count := Examples(t, file, ask)
	if n := count["yes"] + count["no"] + count["unknown"]; n < minEntries || count["yes"]*count["no"]*count["unknown"] == 0 {
		t.Errorf("%s: entries by answer: %v; want at least %d in all, and some of each of yes, no and unknown", file, count, minEntries)
	}
}

// Examples is Corpus for a part of a predicate, for which fewer entries suffice.
// It returns the number of entries by answer.
func Examples[T any](t *testing.T, file string, ask func(T) predicate.Answer) map[string]int {
	t.Helper()
	count := map[string]int{}
	names := map[string]bool{}
	for _, e := range Read[T](t, file) {
		if e.Name == "" || names[e.Name] {
			t.Errorf("%s: the name %q is missing or duplicated", file, e.Name)
		}
		names[e.Name] = true
		count[e.Answer]++
		if got := ask(e.Input); got.Truth.String() != e.Answer {
			t.Errorf("%s: %s: %s (%s), want %s: %s", file, e.Name, got.Truth, got.Why, e.Answer, e.Why)
		} else if !strings.Contains(got.Why, e.Reason) {
			t.Errorf("%s: %s: the reason is %q, want %q in it", file, e.Name, got.Why, e.Reason)
		}
	}
	return count
}

// An Entry is one entry of a corpus.
type Entry[T any] struct {
	Name   string `yaml:"name"`
	Answer string `yaml:"answer"`
	Why    string `yaml:"why"`
	Reason string `yaml:"reason"` // text that the reason of the answer contains
	Input  T      `yaml:",inline"`
}

// Read returns the entries of a file.
func Read[T any](t *testing.T, file string) []Entry[T] {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var all []Entry[T]
	if err := decoder.Decode(&all); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return all
}
