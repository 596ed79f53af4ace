// Package catalog reads the rules and frameworks that come with the product.
//
// They are data files that a person can read and change. A file with an unknown
// key, in the wrong folder, with a query that does not compile or a control that
// does not exist is an error that names the file.
package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"vigil/gremlin"
	"vigil/internal/posture"
)

// A Catalog is everything that was read.
type Catalog struct {
	Rules      []Entry // by id
	Frameworks []posture.Framework
}

// An Entry is a rule with what its file says beyond it.
type Entry struct {
	posture.Rule
	File        string
	Plan        *gremlin.Plan
	Unconfirmed []string // controls assigned by class, without a second source
	Cases       []Case
}

// A Case shows what a rule does with a few entities of one account.
type Case struct {
	Name     string   `yaml:"name"`
	Entities []Entity `yaml:"entities"`
	Violates []string `yaml:"violates"` // keys of entities
	Unknown  []string `yaml:"unknown"`
}

// An Entity is an entity as a case describes it.
type Entity struct {
	Key        string             `yaml:"key"` // by which the case names it; its name when left out
	Type       posture.EntityType `yaml:"type"`
	Name       string             `yaml:"name"`
	Region     string             `yaml:"region"`
	Properties map[string]any     `yaml:"properties"`
	Unknown    []string           `yaml:"unknown"` // properties that could not be read
	Tags       map[string]string  `yaml:"tags"`
	Edges      []Edge             `yaml:"edges"`
}

// An Edge leads to another entity of the case by its key.
type Edge struct {
	Label      string         `yaml:"label"`
	To         string         `yaml:"to"`
	Properties map[string]any `yaml:"properties"`
}

// ruleFile is a rule as its file has it.
type ruleFile struct {
	ID          string              `yaml:"id"`
	Title       string              `yaml:"title"`
	Level       posture.RuleLevel   `yaml:"level"`
	Category    string              `yaml:"category"`
	Why         string              `yaml:"why"`
	Fix         string              `yaml:"fix"`
	Link        string              `yaml:"link"`
	Query       string              `yaml:"query"`
	Show        string              `yaml:"show"`
	Controls    map[string][]string `yaml:"controls"`
	Unconfirmed []string            `yaml:"unconfirmed"`
	Events      map[string][]string `yaml:"events"`
	Cases       []Case              `yaml:"cases"`
}

// released is when native rules came to be, as far as their records say.
var released = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// Load reads rules from one folder and frameworks from another. It reports
// everything that is wrong.
func Load(rules, frameworks fs.FS) (*Catalog, error) {
	c := new(Catalog)
	var bad []error
	files, err := fs.Glob(frameworks, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		f, err := loadFramework(frameworks, file)
		bad = append(bad, wrap(file, err))
		c.Frameworks = append(c.Frameworks, f)
	}
	known := c.Controls()
	err = fs.WalkDir(rules, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".yaml" {
			return err
		}
		e, err := loadRule(rules, file)
		if err == nil {
			err = checkControls(e.Controls, known)
		}
		bad = append(bad, wrap(file, err))
		c.Rules = append(c.Rules, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(c.Rules, func(a, b Entry) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for i := 1; i < len(c.Rules); i++ {
		if c.Rules[i].ID == c.Rules[i-1].ID {
			bad = append(bad, fmt.Errorf("%s and %s have the same id", c.Rules[i-1].File, c.Rules[i].File))
		}
	}
	return c, errors.Join(bad...)
}

func wrap(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", file, err)
}

// Controls returns the ids by which rules name the controls of all frameworks.
func (c *Catalog) Controls() map[string]bool {
	known := map[string]bool{}
	for _, f := range c.Frameworks {
		for _, control := range f.Controls {
			known[f.ControlID(control.ID)] = true
		}
	}
	return known
}

func checkControls(ids []string, known map[string]bool) error {
	for _, id := range ids {
		if !known[id] {
			return fmt.Errorf("control %s does not exist", id)
		}
	}
	return nil
}

func loadRule(files fs.FS, file string) (Entry, error) {
	e := Entry{File: file}
	var f ruleFile
	if err := decode(files, file, &f); err != nil {
		return e, err
	}
	parts := strings.Split(file, "/")
	provider, ok := posture.ParseProvider(parts[0])
	if !ok || len(parts) != 3 {
		return e, errors.New("it must be in <provider>/<service>/")
	}
	if want := strings.TrimSuffix(path.Base(file), ".yaml"); !strings.HasSuffix(f.ID, strings.ReplaceAll(want, "_", "-")) {
		return e, fmt.Errorf("id %s does not end with the name of the file", f.ID)
	}
	e.Unconfirmed, e.Cases = f.Unconfirmed, f.Cases
	e.Rule = posture.Rule{
		ID: posture.RuleID(f.ID), Name: f.Title, DisplayName: f.ID, Description: oneLine(f.Why), SuggestedAction: oneLine(f.Fix),
		DocumentationLink: f.Link, Status: posture.RuleEnabled, Source: posture.Native, Category: f.Category, Provider: provider,
		Level: f.Level, Query: posture.RuleQuery{Language: posture.GraphQuery, Text: strings.TrimSpace(f.Query)},
		Visualization: posture.RuleQuery{Language: posture.GraphQuery, Text: strings.TrimSpace(f.Show)},
		Controls:      controlIDs(f.Controls), Triggers: f.Events, InventoryProvider: string(provider),
		Version: 1, ETag: "native-1", Created: released, Updated: released,
	}
	if e.Category == "" {
		e.Category = "Security"
	}
	if e.Visualization.Text == "" {
		e.Visualization.Text = "g.V()." + posture.EntityClause + ".optional(__.both()).path()"
	}
	e.Service = parts[1]
	if !slices.Contains(posture.RuleLevels, e.Level) {
		return e, fmt.Errorf("level %q is not High, Med or Low", e.Level)
	}
	if f.Why == "" || f.Fix == "" {
		return e, errors.New("why and fix must be said")
	}
	var err error
	if e.Plan, err = gremlin.Compile(e.Query.Text, gremlin.CompileOptions{Budget: gremlin.RuleBudget}); err != nil {
		return e, fmt.Errorf("query: %w", err)
	}
	return e, e.Rule.Validate()
}

// oneLine joins the lines of a paragraph.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// controlIDs joins framework and control.
func controlIDs(by map[string][]string) []string {
	var ids []string
	for framework, controls := range by {
		for _, c := range controls {
			ids = append(ids, framework+"_"+c)
		}
	}
	slices.Sort(ids)
	return ids
}

// frameworkFile is a framework as its file has it.
type frameworkFile struct {
	ID          string `yaml:"id"`
	Name        string `yaml:"name"`
	Version     string `yaml:"version"`
	Published   string `yaml:"published"`
	Author      string `yaml:"author"`
	Description string `yaml:"description"`
	URL         string `yaml:"url"`
	Controls    []struct {
		ID      string `yaml:"id"`
		Title   string `yaml:"title"`
		Section string `yaml:"section"`
	} `yaml:"controls"`
}

func loadFramework(files fs.FS, file string) (posture.Framework, error) {
	var f frameworkFile
	if err := decode(files, file, &f); err != nil {
		return posture.Framework{}, err
	}
	out := posture.Framework{
		ID: f.ID, Name: f.Name, Version: f.Version, Published: f.Published, Author: f.Author,
		Description: oneLine(f.Description), URL: f.URL, Created: released, Updated: released,
	}
	if f.ID+".yaml" != file {
		return out, fmt.Errorf("id %s is not the name of the file", f.ID)
	}
	if _, err := time.Parse(time.DateOnly, f.Published); err != nil {
		return out, fmt.Errorf("published %q is not a date", f.Published)
	}
	seen := map[string]bool{}
	for _, c := range f.Controls {
		if c.ID == "" || c.Title == "" || c.Section == "" || seen[c.ID] {
			return out, fmt.Errorf("control %q has no title or section, or is there twice", c.ID)
		}
		seen[c.ID] = true
		out.Controls = append(out.Controls, posture.Control{ID: c.ID, Title: c.Title, Section: c.Section})
	}
	return out, nil
}

// decode reads a file strictly.
func decode(files fs.FS, file string, into any) error {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	return dec.Decode(into)
}
