package gremlin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/gremlin"
)

// FuzzRun compiles texts and runs the valid queries on a small graph. They may
// fail, but not with an internal error.
func FuzzRun(f *testing.F) {
	for _, text := range securityQueries {
		f.Add(text)
	}
	for _, q := range hostileQueries(f) {
		f.Add(q.text)
	}
	for _, text := range scriptQueries(f) {
		f.Add(text)
	}
	g, err := readGraph(`v 1 person name=marko age=29
v 2 person name=vadas age=27
v 3 software name=lop lang=java
v 4 person name=josh age=32 age=33
e 7 1 knows 2 weight=0.5
e 8 1 knows 4 weight=1.0
e 9 1 created 3 weight=0.4
e 11 4 created 3
e 12 3 self 3
unknown 2 lang denied
`)
	if err != nil {
		f.Fatal(err)
	}
	budget := gremlin.Budget{Traversers: 20_000, Live: 2000, Memory: 4 << 20, Results: 2000, Repeat: 16, Time: time.Second}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: budget})
		if err != nil {
			return
		}
		_ = p.Explain().String()
		_ = p.Touches(nil) // its variables have no values
		for _, run := range []func() error{
			func() error { _, err := p.Run(t.Context(), g, gremlin.RunOptions{Budget: budget}); return err },
			func() error { _, err := p.Verdict(t.Context(), g, gremlin.RunOptions{Budget: budget}); return err },
			func() error { _, err := p.Profile(t.Context(), g, gremlin.RunOptions{Budget: budget}); return err },
		} {
			var internal *gremlin.InternalError
			if err := run(); errors.As(err, &internal) {
				t.Fatalf("%v\n%s", internal, internal.Stack)
			}
		}
	})
}

// scriptQueries returns the queries of the scripts.
func scriptQueries(tb testing.TB) []string {
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "g.") {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return out
}
