package azure

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/resource"
)

// A method is a GET of Azure Resource Manager.
type method struct {
	module  *module
	name    string // client and method
	path    string
	version string
	query   []model.Member
}

// Modules are the typed modules.
type Modules struct {
	methods []*method
	mu      sync.Mutex // guards the shapes of the modules, which are converted on first use
}

// Open downloads the modules of modules.txt, unless the module cache has them, and
// reads their source.
func Open() (*Modules, error) {
	dirs, err := download("modules.txt")
	if err != nil {
		return nil, err
	}
	parsed := make([]*module, len(dirs))
	var group errgroup.Group
	for i, dir := range dirs {
		group.Go(func() (err error) {
			parsed[i], err = parseModule(dir)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := new(Modules)
	for _, m := range parsed {
		for name, d := range m.requests {
			if r := readRequest(d); r != nil {
				r.module, r.name = m, name
				all.methods = append(all.methods, r)
			}
		}
	}
	slices.SortFunc(all.methods, func(a, b *method) int { return strings.Compare(a.module.name+a.name, b.module.name+b.name) })
	return all, nil
}

// readRequest returns the path, version and query of the request that a generated function
// creates, or nil when it is not a GET.
func readRequest(d *ast.FuncDecl) *method {
	m, get := &method{}, false
	optional := 0
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt: // sets parameters that are optional
			optional++
			ast.Inspect(n.Body, visit)
			optional--
			return false
		case *ast.AssignStmt:
			if name, ok := n.Lhs[0].(*ast.Ident); ok && name.Name == "urlPath" && m.path == "" {
				path, _ := text(n.Rhs[0])
				m.path = strings.TrimSuffix(path, "/") // lists of deployments end with it
			}
		case *ast.SelectorExpr:
			get = get || n.Sel.Name == "MethodGet"
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "Set" || len(n.Args) != 2 {
				break
			}
			name, ok := text(n.Args[0])
			if ok {
				m.query = append(m.query, model.Member{Name: name, Shape: &model.Shape{Type: model.String}, Required: optional == 0})
			}
			if name == "api-version" {
				m.version, _ = text(n.Args[1])
			}
		}
		return true
	}
	ast.Inspect(d.Body, visit)
	if !get || m.path == "" || strings.Contains(m.path, "/providers/{") { // reads a resource of any provider: the response has no shape
		return nil
	}
	return m
}

// earlier maps versions of APIs that no typed module has to the versions that the modules do have.
// Calls in such a version are compared with a method that reads the path in any version.
var earlier = map[string]string{
	"Microsoft.Sql 2021-11-01":                 "the typed module has previews up to 2021-11-01-preview, and then only newer previews",
	"Microsoft.OperationalInsights 2022-10-01": "the typed modules have 2021-06-01 and 2025-07-01",
}

// Describe returns the input and output of a call according to the typed modules. If the path
// of the call begins with the id of a resource, owner is the type of that resource.
func (ms *Modules) Describe(r *resource.Request, owner string) (input, output *model.Shape, err error) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	path, version := r.Path, ""
	if path == "" {
		path = r.Call
	}
	for _, m := range r.Input.Members() {
		if m.Names[0] == "api-version" {
			version = m.From.String()
		}
	}
	path, fromID := replaceVariables(path, owner)
	var others []string
	for _, m := range ms.methods {
		if !m.covers(path, fromID) {
			continue
		}
		_, anyVersion := earlier[namespace(path)+" "+version]
		if m.version == version || anyVersion || version == "" {
			return &model.Shape{Name: "query", Type: model.Structure, Members: m.query}, m.module.response(m.name), nil
		}
		others = append(others, m.version)
	}
	if len(others) > 0 {
		return nil, nil, fmt.Errorf("%s: the typed modules have it in version %s, not in %s", path, strings.Join(others, ", "), version)
	}
	return nil, nil, fmt.Errorf("no method of the typed modules reads %s", path)
}

// namespace returns the resource provider of a path.
func namespace(path string) string {
	i := strings.LastIndex(path, "/providers/")
	if i < 0 {
		return "Microsoft.Resources"
	}
	name, _, _ := strings.Cut(path[i+len("/providers/"):], "/")
	return name
}

var variables = regexp.MustCompile(`\$\{[^}]*\}|\$[a-z0-9]+|\{[^}]*\}`)

// replaceVariables returns a path in which every variable is {}, and whether the path begins
// with the id of a resource: the result then has only the part of the id from its provider on,
// because the resource may be in a subscription or in a resource group.
func replaceVariables(path, owner string) (string, bool) {
	for _, variable := range []string{"${id}", "$name"} {
		rest, ok := strings.CutPrefix(path, variable)
		if !ok {
			continue
		}
		id := ""
		for i, part := range strings.Split(owner, "/") {
			switch {
			case i == 0:
				id = "/providers/" + part
			default:
				id += "/" + part + "/{}"
			}
		}
		// The ids of subscriptions and resource groups have no provider.
		id = strings.TrimPrefix(id, "/providers/Microsoft.Resources")
		return id + variables.ReplaceAllString(rest, "{}"), true
	}
	return variables.ReplaceAllString(path, "{}"), false
}

// covers reports whether a method reads at a path. Parameters of the method stand for
// any name.
func (m *method) covers(path string, fromID bool) bool {
	own := variables.ReplaceAllString(m.path, "{}")
	// The part before the last provider is not compared if it is unknown: the path begins with an
	// id, or the method takes a scope.
	if strings.Contains(path, "/providers/") && (fromID || strings.HasPrefix(own, "/{}/")) {
		if !fromID && strings.Count(path, "/providers/") != strings.Count(own, "/providers/") {
			return false
		}
		own, path = fromProvider(own), fromProvider(path)
	}
	return slices.EqualFunc(strings.Split(own, "/"), strings.Split(path, "/"), func(x, y string) bool {
		return strings.EqualFold(x, y) || x == "{}" && y != "" || x == "default" && y == "{}" // resources that can only be named default
	})
}

// fromProvider returns a path from its last provider on.
func fromProvider(path string) string { return path[max(0, strings.LastIndex(path, "/providers/")):] }
