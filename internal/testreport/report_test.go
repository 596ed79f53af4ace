package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in       string
		want     []string
		unwanted []string
		failed   bool
	}{
		"all pass": {
			in: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":1.5}
{"Action":"pass","Package":"p","Elapsed":2}`,
			want: []string{"pass    2.0s p", "1.5s p TestA", "1 tests passed, 0 failed, 0 were left out"}, unwanted: []string{"chatter", "LEFT OUT"},
		},
		"one fails": {
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: it is wrong\n"}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":1}
{"Action":"fail","Package":"p","Elapsed":2}`,
			want: []string{"it is wrong", "fail    2.0s p", "0 tests passed, 1 failed"}, failed: true,
		},
		"one test is skipped": {
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: there is no data: fetch it\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			want: []string{"LEFT OUT: there is no data: fetch it\n  p TestA", "1 were left out"},
		},
		"a panic": {
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: oh\n"}
{"Action":"fail","Package":"p","Elapsed":2}`,
			want: []string{"panic: oh"}, failed: true,
		},
		"a build failure": {
			in: `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: no\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			want: []string{"p.go:1: no"}, failed: true,
		},
		"an error of the go command": {in: "go: no such package", want: []string{"no such package"}, failed: true},
	} {
		var out strings.Builder
		r := newReport(&out)
		if err := r.read(strings.NewReader(tt.in)); err != nil {
			t.Fatal(err)
		}
		r.end()
		if r.hasFailures() != tt.failed {
			t.Errorf("%s: the report has failures: %v, want %v", name, r.hasFailures(), tt.failed)
		}
		for _, text := range tt.want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: the report has no %q:\n%s", name, text, out.String())
			}
		}
		for _, text := range tt.unwanted {
			if strings.Contains(out.String(), text) {
				t.Errorf("%s: the report has %q:\n%s", name, text, out.String())
			}
		}
	}
}

// TestReportOfSeveralFiles checks that files that are read at the same time are counted
// together, and that a missing one is an error.
func TestReportOfSeveralFiles(t *testing.T) {
	t.Parallel()
	const tests = 200
	var files []string
	for _, pkg := range []string{"a", "b", "c"} {
		var text strings.Builder
		for i := range tests {
			fmt.Fprintf(&text, `{"Action":"output","Package":%q,"Test":"Test%d","Output":"chatter\n"}`+"\n", pkg, i)
			fmt.Fprintf(&text, `{"Action":"pass","Package":%q,"Test":"Test%d","Elapsed":1}`+"\n", pkg, i)
		}
		fmt.Fprintf(&text, `{"Action":"pass","Package":%q,"Elapsed":2}`+"\n", pkg)
		file := filepath.Join(t.TempDir(), pkg+".json")
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	var out strings.Builder
	r := newReport(&out)
	if err := r.readFiles(files); err != nil {
		t.Fatal(err)
	}
	r.end()
	for _, text := range []string{"pass    2.0s a\n", "pass    2.0s b\n", "pass    2.0s c\n", fmt.Sprintf("%d tests passed, 0 failed", 3*tests)} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("no %q in\n%s", text, out.String())
		}
	}
	if r.hasFailures() {
		t.Error("the report has failures, although all tests pass")
	}
	if err := newReport(&out).readFiles(append(files, filepath.Join(t.TempDir(), "missing"))); err == nil {
		t.Error("a missing file was accepted")
	}
}
