package archtest

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestLongTestsAreRun checks that "make torture" runs every test that has a long form: its
// pattern of names must match all tests that read VIGIL_TORTURE.
func TestLongTestsAreRun(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`VIGIL_TORTURE=1 scripts/test -run '([^']+)'`).FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile does not run the long tests")
	}
	pattern := regexp.MustCompile(string(found[1]))
	function := regexp.MustCompile(`(?m)^func (Test\w+)`)
	reads := regexp.MustCompile(`"VIGIL_TORTURE"`)
	n := 0
	err = fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/archtest/") {
			return err
		}
		text, err := os.ReadFile("../../" + path)
		if err != nil {
			return err
		}
		for _, match := range reads.FindAllIndex(text, -1) {
			n++
			tests := function.FindAllSubmatch(text[:match[0]], -1)
			if len(tests) == 0 {
				t.Errorf("%s reads VIGIL_TORTURE outside of a test", path)
			} else if name := tests[len(tests)-1][1]; !pattern.Match(name) {
				t.Errorf("%s: make torture does not run %s", path, name)
			}
		}
		return nil
	})
	if err != nil || n < 5 {
		t.Errorf("%d tests read VIGIL_TORTURE, %v; want at least 5", n, err)
	}
}
