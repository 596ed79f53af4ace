package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDashboardsNameMetricsThatExist compares the metrics that alert rules and
// dashboards use with those that the servers export.
func TestDashboardsNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`\bvigil_[a-z_]+`)
	exported := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, n := range name.FindAllString(string(text), -1) {
			exported[n] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"prometheus/alerts.yaml", "grafana/vigil.json"} {
		text, err := os.ReadFile("../../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		used := name.FindAllString(string(text), -1)
		if len(used) == 0 {
			t.Errorf("%s uses no metric of the servers", file)
		}
		for _, n := range used {
			n = strings.TrimSuffix(n, "_bucket")
			if !exported[n] {
				t.Errorf("%s uses the metric %s, which no server exports", file, n)
			}
		}
	}
}
