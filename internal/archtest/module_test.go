package archtest

import (
	"bytes"
	goversion "go/version"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSeparateModulesHaveChecksums checks separate modules that import packages of the main
// module. The go.sum of such a module must have the checksums of all modules on which these
// packages depend: otherwise it does not build. scripts/test builds only some separate modules.
func TestSeparateModulesHaveChecksums(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../*/*/go.mod")
	if err != nil || len(files) < 5 {
		t.Fatalf("found the go.mod files %v, %v; want at least 5", files, err)
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
			list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}"}, packages...)...)
			list.Dir = "../.."
			out, err := list.Output()
			if err != nil {
				t.Fatalf("go list: %v", err)
			}
			sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
			if err != nil {
				t.Fatal(err)
			}
			modules := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
			slices.Sort(modules)
			for _, module := range slices.Compact(modules) {
				if !hasChecksum(text, sums, module) {
					t.Errorf("go.sum has no checksum of %s: run go mod tidy", module)
				}
			}
		})
	}
}

// hasChecksum reports whether the go.sum of a separate module has the checksum of a module,
// "path version", that the main module depends on. The go.mod of the separate module may
// require a newer version, which it then uses instead.
func hasChecksum(mod, sums []byte, module string) bool {
	path, version, _ := strings.Cut(module, " ")
	required := regexp.MustCompile(`(?m)^(?:require|\t) ?` + regexp.QuoteMeta(path) + ` v(\S+)`).FindSubmatch(mod)
	// Compare orders 1.9.0 before 1.10.0, like versions of modules. It ignores what follows a hyphen.
	if required != nil && goversion.Compare("go"+string(required[1]), "go"+strings.TrimPrefix(version, "v")) > 0 {
		version = "v" + string(required[1])
	}
	return bytes.Contains(append([]byte("\n"), sums...), []byte("\n"+path+" "+version+" h1:"))
}

func TestHasChecksum(t *testing.T) {
	t.Parallel()
	const dependency = "a.b/c v1.9.0" // of the main module
	for name, c := range map[string]struct {
		mod, sums string
		want      bool
	}{
		"same":                      {"require a.b/c v1.9.0\n", "a.b/c v1.9.0 h1:x=\n", true},
		"raised in the main module": {"require (\n\ta.b/c v1.8.0\n)\n", "a.b/c v1.8.0 h1:x=\n", false},
		"newer":                     {"require (\n\ta.b/c v1.10.0 // indirect\n)\n", "z v1.0.0 h1:x=\na.b/c v1.10.0 h1:x=\n", true},
		"newer, without a checksum": {"require a.b/c v1.10.0\n", "a.b/c v1.9.0 h1:x=\n", false},
		"checksum of go.mod only":   {"require a.b/c v1.9.0\n", "a.b/c v1.9.0/go.mod h1:x=\n", false},
		"module with a longer path": {"require x/a.b/c v1.9.0\n", "x/a.b/c v1.9.0 h1:x=\n", false},
	} {
		if got := hasChecksum([]byte(c.mod), []byte(c.sums), dependency); got != c.want {
			t.Errorf("%s: hasChecksum = %t, want %t", name, got, c.want)
		}
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
