package archtest

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSeparateModulesHaveChecksums checks that the separate modules, which scripts/test does
// not build all of, have checksums for everything that the packages they import from the
// main module depend on. Without them they do not build.
func TestSeparateModulesHaveChecksums(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../*/*/go.mod")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("replace vigil => ../..\n")) {
			continue // it does not import the main module
		}
		packages := importsOfMain(t, dir)
		t.Run(strings.TrimPrefix(dir, "../../"), func(t *testing.T) {
			t.Parallel()
			list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, packages...)...)
			list.Dir = "../.."
			out, err := list.Output()
			if err != nil {
				t.Fatalf("go list: %v", err)
			}
			sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
			if err != nil {
				t.Fatal(err)
			}
			modules := strings.Fields(string(out))
			slices.Sort(modules)
			for _, module := range slices.Compact(modules) {
				if has := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(module) + ` v[^/ ]+ h1:`); module != "vigil" && !has.Match(sums) {
					t.Errorf("go.sum has no checksum of %s: run go mod tidy", module)
				}
			}
		})
	}
}

// importsOfMain returns the packages of the main module that the files of a separate
// module import.
func importsOfMain(t *testing.T, dir string) (packages []string) {
	t.Helper()
	imported := regexp.MustCompile(`(?m)^\s*(?:import )?(?:\w+ )?"(vigil/[^"]+)"$`)
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		head, _, _ := bytes.Cut(text, []byte("\nfunc "))
		for _, found := range imported.FindAllSubmatch(head, -1) {
			packages = append(packages, string(found[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}
