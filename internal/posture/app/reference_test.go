package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/gcp"
)

// fromDeclarations returns every file that is generated from the declarations of
// collectors, by its path in the repository.
func fromDeclarations() map[string]string {
	all := map[string]string{
		"internal/posture/scripts/azure/role.json":  string(azure.Role("@scopes@")),
		"internal/posture/scripts/azure/graph.txt":  lines(azure.GraphPermissions()),
		"internal/posture/scripts/gcp/role.yaml":    string(gcp.Role()),
		"internal/posture/scripts/gcp/services.txt": lines(gcp.APIs()),
	}
	for i, policy := range aws.Policies(declared.Catalog()) {
		all[policyPath(i+1)] = string(policy)
	}
	var index strings.Builder
	index.WriteString("# Resource types\n\nThe resource types that Vigil reads, with the permissions that they need. Generated from the declarations by `go generate ./internal/posture/app`.\n")
	index.WriteString("`GET /v1/entities/schema` returns the same, with the rules that read each property.\n")
	for _, s := range []collect.Source{aws.New(aws.Options{}), azure.New(azure.Options{}), gcp.New(gcp.Options{})} {
		declarations := slices.SortedFunc(slices.Values(s.Declarations()), func(x, y collect.Declaration) int { return strings.Compare(string(x.Type), string(y.Type)) })
		p := string(s.Provider())
		fmt.Fprintf(&index, "\n## %s: [%d types](resources/%s.md)\n\n| Type | What it is | Permissions |\n|---|---|---|\n", title(p), len(declarations), p)
		var page strings.Builder
		fmt.Fprintf(&page, "# Resource types of %s\n\nGenerated from the declarations by `go generate ./internal/posture/app`.\n", title(p))
		for _, d := range declarations {
			fmt.Fprintf(&index, "| [%s](resources/%s.md#%s) | %s | %s |\n", d.Type, p, anchor(d.Type), d.Doc, code(d.Permissions))
			describe(&page, d)
		}
		all["docs/resources/"+p+".md"] = page.String()
	}
	all["docs/resources.md"] = index.String()
	all["docs/queries.md"] = queriesPage()
	return all
}

// queriesPage returns the text of docs/queries.md: the queries that the page Explore of the console offers.
func queriesPage() string {
	var questions []struct{ Text, Gremlin string }
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "web", "src", "posture", "explore", "questions.json"))
	if err == nil {
		err = json.Unmarshal(file, &questions)
	}
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	b.WriteString("# Ready queries\n\nQueries to begin with. The page Explore of the console offers them; `vigil query ACCOUNT QUERY` runs one in a shell. A test runs each of them on the accounts of\n")
	b.WriteString("the demo. [Resource types](resources.md) lists the properties and edges of each type. Generated from `web/src/posture/explore/questions.json` by `go generate ./internal/posture/app`.\n")
	for _, q := range questions {
		fmt.Fprintf(&b, "\n%s\n\n```groovy\n%s\n```\n", q.Text, q.Gremlin)
	}
	return b.String()
}

// policyPath returns the path of a managed policy of the AWS role.
func policyPath(number int) string {
	return fmt.Sprintf("internal/posture/scripts/aws/policy-%d.json", number)
}

// describe writes the section of a type.
func describe(b *strings.Builder, d collect.Declaration) {
	frequency := "once for an account"
	if d.Scope == collect.PerRegion {
		frequency = "in every enabled region"
	}
	fmt.Fprintf(b, "\n## %s\n\n%s Read %s. Permissions: %s.\n", d.Type, d.Doc, frequency, code(d.Permissions))
	if len(d.Properties) > 0 {
		b.WriteString("\n| Property | Type | |\n|---|---|---|\n")
	}
	for _, p := range d.Properties {
		kind := p.Kind
		if p.List {
			kind += ", many"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", p.Name, kind, p.Doc)
	}
	if len(d.Edges) > 0 {
		b.WriteString("\n| Edge | Leads to | |\n|---|---|---|\n")
	}
	for _, e := range d.Edges {
		to := make([]string, len(e.To))
		for i, t := range e.To {
			to[i] = fmt.Sprintf("[%s](#%s)", t, anchor(t))
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", e.Label, strings.Join(to, ", "), e.Doc)
	}
	if len(d.Events) > 0 {
		b.WriteString("\nRead again after:\n\n")
	}
	for _, e := range d.Events {
		fmt.Fprintf(b, "- %s: %s\n", e.Source, strings.Join(e.Names, ", "))
	}
}

func title(p string) string {
	return map[string]string{"aws": "AWS", "azure": "Azure", "gcp": "Google Cloud"}[p]
}

// anchor returns the Markdown anchor of a heading.
func anchor(t posture.EntityType) string {
	return strings.ToLower(strings.ReplaceAll(string(t), ".", ""))
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

func lines(names []string) string { return strings.Join(names, "\n") + "\n" }

// TestGeneratedFilesAreCurrent compares generated files with the declarations. It
// rewrites them if UPDATE is set.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	all := fromDeclarations()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path := filepath.Join("..", "..", "..", filepath.FromSlash(name))
		if os.Getenv("UPDATE") != "" {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(all[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		existing, err := os.ReadFile(path)
		if err != nil || string(existing) != all[name] {
			t.Errorf("%s is out of date: run go generate ./internal/posture/app (%v)", name, err)
		}
	}
	surplus := policyPath(len(aws.Policies(declared.Catalog())) + 1)
	if _, err := os.Stat(filepath.Join("..", "..", "..", filepath.FromSlash(surplus))); err == nil {
		t.Errorf("%s is no longer generated: delete it", surplus)
	}
}

// TestServicesHaveOneSpelling checks that no two services differ only in case, because
// filters ignore case.
func TestServicesHaveOneSpelling(t *testing.T) {
	t.Parallel()
	spelled := map[string]string{}
	for _, s := range []collect.Source{aws.New(aws.Options{}), azure.New(azure.Options{}), gcp.New(gcp.Options{})} {
		for _, d := range s.Declarations() {
			service := d.Type.Service()
			if other, ok := spelled[posture.Fold(service)]; ok && other != service {
				t.Errorf("%s and %s are the same to a filter", service, other)
			}
			spelled[posture.Fold(service)] = service
		}
	}
}
