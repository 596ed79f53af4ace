package posture_test

import (
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
)

func TestNameWords(t *testing.T) {
	for name, want := range map[string][]string{
		"":                       nil,
		"--":                     nil,
		"web":                    {"web"},
		"prod-web_01":            {"prod", "web", "01"},
		"AWSServiceRole-prod":    {"AWSServiceRole", "ServiceRole", "Role", "prod"},
		"myBucket2Logs":          {"myBucket2Logs", "Bucket2Logs", "Logs"},
		"HTTP":                   {"HTTP"},
		"Größe.Äpfel":            {"Größe", "Äpfel"},
		"a\xffb":                 {"a", "b"},
		strings.Repeat("x ", 40): slices.Repeat([]string{"x"}, posture.MaxNameWords),
	} {
		if got := slices.Collect(posture.NameWords(name)); !slices.Equal(got, want) {
			t.Errorf("words of %q: %q, want %q", name, got, want)
		}
	}
}

func TestFilterByNameWords(t *testing.T) {
	e := &posture.Entity{Name: "AWSServiceRole-Prod web 1"}
	for search, want := range map[string]bool{
		"prod": true, "PRO": true, "service": true, "awsservice": true, "rol pr": true, "web-1": true, "1": true,
		// "w" and "1" are single characters, which must be whole words.
		"w": false, "od": false, "prod db": false, "servicerole-prod": true, "12": false,
	} {
		f := posture.EntityFilter{NameWords: posture.SearchWords(search)}
		if got := f.Matches(e); got != want {
			t.Errorf("%q matches %q: %v, want %v", search, e.Name, got, want)
		}
	}
}
