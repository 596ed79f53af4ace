// Package archtest contains tests of architecture rules: the import policy, the
// length of files, and package comments.
package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module   = "vigil/"
	maxLines = 500
)

type importRule struct{ pkg, mayImport string }

// policy lists, for each package or tree of packages, the packages of this
// module that it may import; "x/..." allows a tree. The first matching rule
// counts. It is a statement of intent: do not widen it to fix a build. A
// package without a matching rule fails the test, so that a new one needs a
// decision.
var policy = []importRule{
	// The query engine, which is usable on its own: it imports nothing else.
	{"graph/...", "graph graph/..."},
	{"graph", "graph/..."},
	{"gremlin/...", "graph graph/... gremlin gremlin/..."},
	{"gremlin", "graph graph/... gremlin/..."},

	// Foundation: independent of both servers.
	{"internal/fault", ""},
	{"internal/atomicfile", ""},
	{"internal/config", ""},
	{"internal/gctune", ""},
	{"internal/processors", ""},
	{"internal/diskspace", ""},
	{"internal/outbound", ""},
	{"internal/subnet", ""},
	{"internal/telemetry", ""},
	{"internal/telemetry/tracing", ""},
	{"internal/terminal", ""},
	{"internal/client", "internal/atomicfile internal/fault internal/terminal"},
	{"internal/httpapi", "internal/atomicfile internal/fault internal/processors internal/subnet internal/telemetry/tracing"},
	{"internal/apidoc", "internal/fault internal/httpapi"},
	{"internal/apidoc/apitest", "internal/apidoc internal/fault internal/httpapi"},
	{"docs", ""},
	{"internal/docsite", "docs internal/fault internal/httpapi"},
	{"internal/sqldb", "internal/fault internal/telemetry/tracing"},
	{"internal/sqldb/dbtest", "internal/sqldb"},
	{"internal/sqldb/dbcopy", "internal/fault internal/sqldb"},
	{"internal/job", "internal/fault internal/sqldb internal/telemetry/tracing"},
	{"internal/idempotency", "internal/fault internal/httpapi internal/sqldb"},
	{"internal/secret", "internal/fault"},
	{"internal/mail", "internal/secret"},
	{"internal/webhook", "internal/outbound"},
	{"internal/secret/...", "internal/fault internal/secret internal/sqldb"},
	{"internal/cursor", "internal/fault internal/secret"},
	{"internal/auth", "internal/audit internal/fault internal/secret internal/subnet"},
	{"internal/auth/websession", "internal/fault internal/httpapi internal/sqldb"},
	{"internal/auth/sso", "internal/auth internal/fault internal/secret"},
	{"internal/auth/...", "internal/auth/sso internal/auth/websession internal/audit internal/auth internal/cursor internal/fault internal/httpapi internal/secret internal/secret/secretdb internal/sqldb internal/subnet"},
	{"internal/audit", "internal/fault internal/secret"},
	{"internal/audit/witness", "internal/audit internal/outbound"},
	{"internal/audit/...", "internal/audit internal/auth internal/auth/authapi internal/cursor internal/fault internal/httpapi internal/secret internal/secret/secretdb internal/sqldb"},
	{"internal/instance", "internal/audit internal/audit/... internal/auth internal/auth/... internal/config internal/diskspace internal/fault internal/idempotency internal/job internal/secret internal/secret/... internal/sqldb internal/sqldb/dbcopy"},

	// The console of both servers.
	{"web", "internal/fault internal/httpapi"},

	// Rules, frameworks and resource types are data.
	{"rules", ""},
	{"frameworks", ""},
	{"resources", ""},

	// The posture server.
	{"internal/posture", "internal/fault"},
	{"internal/posture/onboard", "internal/fault internal/posture"},
	{"internal/posture/search", "internal/fault internal/posture"},
	{"internal/posture/limit", "internal/fault internal/posture"},
	{"internal/posture/queryfault", "gremlin/syntax internal/fault internal/posture/search"},
	{"internal/posture/graphcache", "graph internal/fault internal/posture internal/processors"},
	{"internal/posture/walk", "graph gremlin gremlin/syntax internal/fault internal/gctune internal/posture internal/posture/graphcache internal/posture/queryfault internal/processors"},
	{"internal/posture/entitygen", "internal/posture internal/posture/collect"},
	{"internal/posture/entitydb", "internal/fault internal/posture internal/posture/collect internal/sqldb internal/sqldb/dbcopy"},
	{"internal/posture/notify", "internal/fault internal/posture"},
	{"internal/posture/notify/channel", "internal/fault internal/mail internal/outbound internal/posture internal/posture/notify internal/secret internal/webhook"},
	{"internal/posture/notify/deliver", "internal/fault internal/posture internal/posture/notify internal/posture/notify/channel"},
	{"internal/posture/store", "internal/posture/notify internal/fault internal/posture internal/posture/collect internal/posture/entitydb internal/secret internal/secret/secretdb internal/sqldb internal/sqldb/dbcopy"},
	{"internal/posture/store/storetest", "internal/posture/notify internal/fault internal/posture internal/posture/collect internal/posture/entitygen internal/posture/search"},
	{"internal/posture/predicate", ""},
	{"internal/posture/predicate/...", "internal/posture/predicate internal/posture/predicate/..."},
	{"internal/posture/resource", "internal/posture"},
	{"internal/posture/naming", "internal/posture internal/posture/resource"},
	{"internal/posture/collect", "internal/fault internal/posture internal/posture/resource internal/telemetry/tracing"},
	{"internal/posture/collect/collecttest", "graph gremlin rules internal/posture internal/posture/collect internal/posture/collect/egress internal/posture/graphcache internal/sim/gateway internal/sim/gateway/gatewaytest"},
	{"internal/posture/collect/awsapi", "internal/posture/collect/awsapi/..."},
	{"internal/posture/collect/awsapi/...", "internal/posture/collect/awsapi/..."},
	{"internal/posture/collect/...", "resources internal/fault internal/outbound internal/posture internal/posture/collect internal/posture/collect/... internal/posture/naming internal/posture/predicate internal/posture/predicate/... internal/posture/resource"},
	{"internal/posture/catalog", "gremlin graph internal/posture internal/posture/collect internal/posture/evaluate internal/posture/resource"},
	{"internal/posture/catalog/rulecases", "gremlin graph internal/posture internal/posture/catalog internal/posture/collect internal/posture/collect/cases internal/posture/evaluate internal/posture/graphcache internal/posture/resource"},
	{"internal/posture/evaluate", "gremlin gremlin/syntax graph internal/fault internal/posture internal/posture/search internal/posture/graphcache"},
	{"internal/posture/judge", "gremlin internal/fault internal/posture internal/posture/evaluate internal/posture/graphcache internal/posture/queryfault"},
	{"internal/posture/judge/judgetest", "frameworks rules internal/posture internal/posture/... internal/secret/secrettest internal/sqldb internal/sqldb/dbtest"},
	{"internal/posture/rulebook", "gremlin internal/fault internal/posture internal/posture/catalog internal/posture/queryfault internal/posture/search"},
	{"internal/posture/sweep", "internal/fault internal/posture internal/posture/collect"},
	{"internal/posture/stream", "internal/fault internal/posture internal/posture/collect internal/posture/stream/... internal/telemetry/tracing"},
	{"internal/posture/stream/streamtest", "internal/fault internal/posture internal/posture/stream/refusal"},
	{"internal/posture/stream/...", "internal/fault internal/posture internal/posture/collect internal/posture/naming internal/posture/resource internal/posture/stream/change internal/posture/stream/refusal"},
	{"internal/posture/scripts", "internal/posture"},
	{"internal/posture/api", "internal/posture/notify internal/cursor internal/fault internal/httpapi internal/posture internal/posture/onboard internal/posture/rulebook internal/posture/search internal/posture/stream/aws internal/posture/stream/gcp internal/posture/scripts internal/posture/collect internal/posture/export internal/posture/judge internal/posture/queryfault internal/posture/walk gremlin"},
	{"internal/posture/clouds", "internal/posture internal/posture/collect internal/posture/collect/... internal/posture/resource"},
	{"internal/posture/export", "internal/fault internal/posture"},
	{"internal/posture/scan", "graph internal/fault internal/posture internal/posture/catalog internal/posture/collect internal/posture/collect/... internal/posture/evaluate internal/posture/graphcache"},
	{"internal/posture/app", "web rules frameworks gremlin internal/apidoc internal/atomicfile internal/config internal/secret internal/fault internal/auth internal/auth/... internal/audit internal/audit/... internal/cursor internal/docsite internal/httpapi internal/idempotency internal/instance internal/job internal/outbound internal/posture internal/posture/... internal/sqldb internal/telemetry/tracing"},

	// The desktop server.
	{"internal/desktop", "internal/fault"},
	{"internal/desktop/app", "web internal/apidoc internal/config internal/audit internal/audit/... internal/auth internal/auth/... internal/cursor internal/docsite internal/fault internal/httpapi internal/idempotency internal/instance internal/job internal/mail internal/secret internal/sqldb internal/desktop internal/desktop/... internal/telemetry/tracing"},
	{"internal/desktop/...", "internal/apidoc internal/atomicfile internal/audit internal/auth internal/auth/websession internal/cursor internal/fault internal/httpapi internal/mail internal/outbound internal/secret internal/secret/secretdb internal/sqldb internal/subnet internal/webhook internal/desktop internal/desktop/..."},

	// Simulated clouds and desktops. Only the demo and tests start them.
	{"internal/sim/canned", "internal/posture internal/posture/collect/awsapi/... internal/posture/collect/cases internal/posture/resource"},
	{"internal/sim/...", "internal/fault internal/sim/... internal/desktop internal/desktop/... internal/posture internal/posture/collect/awsapi/model"},

	// Clients for other programs.
	{"clients/...", "clients/..."},

	// Main programs and the demo may import anything, and nothing imports them.
	{"internal/posture/app/crashserver", "*"},
	{"internal/demo", "*"},
	{"internal/testreport", ""},
	{"cmd/...", "*"},
	{"bench/...", "*"},
}

func TestImportsFollowPolicy(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		if strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		i := slices.IndexFunc(policy, func(l importRule) bool { return covers(l.pkg, f.pkg) })
		if i < 0 {
			t.Errorf("%s: not covered by the import policy", f.pkg)
			continue
		}
		for _, spec := range f.ast.Imports {
			imp, internal := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if internal && !isAllowed(policy[i].mayImport, imp) {
				t.Errorf("%s must not import %s", f.name, imp)
			}
		}
	}
}

func isAllowed(list, imp string) bool {
	return list == "*" || slices.ContainsFunc(strings.Fields(list), func(p string) bool { return covers(p, imp) })
}

// mayStartSimulators are the packages that may start simulators, in addition to tests.
var mayStartSimulators = []string{"internal/sim/...", "internal/demo", "internal/posture/app/crashserver", "internal/posture/collect/collecttest", "cmd/...", "bench/..."}

func TestOnlyTestsAndTheDemoImportSimulators(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		for _, spec := range f.ast.Imports {
			imp := strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), module)
			simulator := covers("internal/sim/...", imp) || imp == "internal/demo"
			mayUse := strings.HasSuffix(f.name, "_test.go") ||
				slices.ContainsFunc(mayStartSimulators, func(p string) bool { return covers(p, f.pkg) })
			if simulator && !mayUse {
				t.Errorf("%s must not import %s: the product never calls a simulator", f.name, imp)
			}
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		if !f.generated && f.lines > maxLines {
			t.Errorf("%s has %d lines; the maximum is %d", f.name, f.lines, maxLines)
		}
	}
}

func TestPackagesHaveComments(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, f := range files(t) {
		if strings.HasSuffix(f.ast.Name.Name, "_test") {
			continue
		}
		documented[f.pkg] = documented[f.pkg] || f.ast.Doc != nil
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

func TestPackageNamesAreSpecific(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		for _, word := range []string{"util", "utils", "common", "helper", "helpers", "manager", "impl", "misc", "base"} {
			if slices.Contains(strings.Split(f.pkg, "/"), word) || strings.TrimSuffix(path.Base(f.name), ".go") == word {
				t.Errorf("%s: %q is not a specific name", f.name, word)
			}
		}
	}
}

type file struct {
	name, pkg string
	lines     int
	generated bool
	ast       *ast.File
	set       *token.FileSet
}

func files(t *testing.T) []file {
	t.Helper()
	all, err := parseFiles()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parseFiles parses every Go file of the module, once for all tests. It reads them
// itself instead of calling the go command, so that the test cache detects changes.
var parseFiles = sync.OnceValues(func() (all []file, err error) {
	root := "../.."
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && name != ".") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, ".gen.go") { // generated clients are not committed
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, file{
			name: name, pkg: path.Dir(name), lines: bytes.Count(text, []byte("\n")),
			generated: ast.IsGenerated(parsed), ast: parsed, set: set,
		})
		return nil
	})
	return all, err
})

// covers reports whether a pattern matches pkg: a path, or "x/..." for all packages
// below x, without x itself.
func covers(pattern, pkg string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(pkg, tree+"/")
	}
	return pattern == pkg
}
