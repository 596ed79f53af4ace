package app_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vigil/frameworks"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/posture/collect/gcp"
	"vigil/rules"
)

// TestRulesAreCounted compares docs/catalog.md, the list of rules and controls, with
// the catalog. It rewrites the file if UPDATE is set.
func TestRulesAreCounted(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		t.Fatal(err)
	}
	want, path := catalogPage(c), filepath.Join("..", "..", "..", "docs", "catalog.md")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	existing, err := os.ReadFile(path)
	if err != nil || string(existing) != want {
		t.Errorf("docs/catalog.md is out of date: run go generate ./internal/posture/app (%v)", err)
	}
}

// catalogPage returns the text of docs/catalog.md.
func catalogPage(c *catalog.Catalog) string {
	var b strings.Builder
	b.WriteString("# Rules and controls\n\nThe rules that come with Vigil, and the controls of frameworks that they answer. Generated from the catalog by `go generate ./internal/posture/app`.\n")
	b.WriteString("\n| | Rules | High | Medium | Low | Resource types |\n|---|---|---|---|---|---|\n")
	types := map[posture.Provider]int{}
	for _, s := range []collect.Source{aws.New(aws.Options{}), azure.New(azure.Options{}), gcp.New(gcp.Options{})} {
		types[s.Provider()] = len(s.Declarations())
	}
	clouds := []posture.Provider{posture.AWS, posture.Azure, posture.GCP}
	count := func(p posture.Provider, level posture.RuleLevel) (n int) {
		for _, e := range c.Rules {
			if e.Provider == p && (level == "" || e.Level == level) {
				n++
			}
		}
		return n
	}
	for _, p := range clouds {
		fmt.Fprintf(&b, "| [%s](#%s) | %d | %d | %d | %d | %d |\n", title(string(p)), strings.ReplaceAll(strings.ToLower(title(string(p))), " ", "-"),
			count(p, ""), count(p, posture.High), count(p, posture.Med), count(p, posture.Low), types[p])
	}
	b.WriteString("\n## Frameworks\n\nA control counts as answered when a rule names it. *Manual* controls are those that a person must assess, according to the publisher.\n")
	b.WriteString("\n| Framework | Controls | Answered by rules | Manual | Not answered |\n|---|---|---|---|---|\n")
	answered := map[string]bool{}
	for _, e := range c.Rules {
		for _, id := range e.Controls {
			answered[id] = true
		}
	}
	for _, f := range slices.SortedFunc(slices.Values(c.Frameworks), func(x, y posture.Framework) int { return cmp.Compare(x.ID, y.ID) }) {
		var byRule, manual int
		for _, control := range f.Controls {
			switch {
			case answered[f.ControlID(control.ID)]:
				byRule++
			case control.Manual:
				manual++
			}
		}
		fmt.Fprintf(&b, "| %s %s (`%s`) | %d | %d | %d | %d |\n", f.Name, f.Version, f.ID, len(f.Controls), byRule, manual, len(f.Controls)-byRule-manual)
	}
	for _, p := range clouds {
		fmt.Fprintf(&b, "\n## %s\n\n| Rule | What is wrong | Level | Resource type |\n|---|---|---|---|\n", title(string(p)))
		for _, e := range c.Rules {
			if e.Provider == p {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.ID, e.Name, e.Level, e.Type)
			}
		}
	}
	b.WriteString(parametersSection(c))
	b.WriteString("\n## Rules over relations\n\nThe number of rules whose verdict depends on neighbours in the graph: what faces the internet, which role or identity a workload has, whom a role trusts.\n\n")
	for _, p := range clouds {
		fmt.Fprintf(&b, "- %s: %d\n", title(string(p)), overRelations(c, p))
	}
	return b.String()
}

// edgeStep is a step of a query that follows edges.
var edgeStep = regexp.MustCompile(`\b(out|in|both|outE|inE|bothE)\(`)

// overRelations counts the rules of a provider whose queries follow edges.
func overRelations(c *catalog.Catalog, p posture.Provider) (n int) {
	for _, e := range c.Rules {
		if e.Provider == p && edgeStep.MatchString(e.Query.Text) {
			n++
		}
	}
	return n
}

// TestEveryCloudHasRulesOverRelations checks that the catalog has enough rules that only a graph can answer.
func TestEveryCloudHasRulesOverRelations(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[posture.Provider]int{posture.AWS: 150, posture.Azure: 60, posture.GCP: 30} {
		if got := overRelations(c, p); got < want {
			t.Errorf("%d rules of %s follow edges, want at least %d", got, p, want)
		}
	}
}

// parametersSection lists the parameters of rules and the tables of versions.
func parametersSection(c *catalog.Catalog) string {
	var b strings.Builder
	b.WriteString("\n## Parameters\n\nValues that an organisation may set, see [rules](rules.md#parameters).\n\n| Rule | Parameter | Default | Meaning |\n|---|---|---|---|\n")
	for _, e := range c.Rules {
		for _, p := range e.Parameters {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.ID, p.Name, posture.ParameterText(p.Default), p.Description)
		}
	}
	b.WriteString("\n## Tables of versions\n\nFor each version that rules ask about, the last day on which its publisher supports it.\n")
	for _, t := range c.Tables {
		fmt.Fprintf(&b, "\n### %s\n\n[Source](%s), read on %s.\n\n| Product | Version | Last day |\n|---|---|---|\n", t.Title, t.Source, t.Read)
		for _, row := range t.Rows {
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", row.Product, row.Version, cmp.Or(row.EndOfSupport, "not known"))
		}
	}
	return b.String()
}
