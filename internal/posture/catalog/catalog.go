// Package catalog reads the rules and frameworks that come with the product.
//
// They are data files that a person can read and change. A file with an unknown
// key, in the wrong folder, with a query that does not compile or a control that
// does not exist is an error that names the file. The file of a rule contains cases,
// which [Case.Build] converts to entities; tests evaluate the rule for them. Queries and
// cases may only use what collectors declare, see [Schema].
package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
	"vigil/internal/posture/evaluate"
)

// A Catalog contains the rules and frameworks that were read.
type Catalog struct {
	Rules      []Entry                 // by id
	Tables     []*posture.VersionTable // by name
	Frameworks []posture.Framework
}

// released is the creation time of the rules and frameworks that come with Vigil.
var released = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// Load reads rules from one folder, frameworks from another, and custom rules of an
// organisation from further folders. It reports all mistakes, with the file and, where
// it is known, the line.
func Load(rules, frameworks fs.FS, customRules ...fs.FS) (*Catalog, error) {
	c := new(Catalog)
	var bad []error
	files, err := fs.Glob(frameworks, "*.yaml")
	if err != nil {
		return nil, err
	}
	var assigned []assignment
	for _, file := range files {
		f, more, err := loadFramework(frameworks, file)
		bad = append(bad, wrap(file, err))
		c.Frameworks = append(c.Frameworks, f)
		assigned = append(assigned, more...)
	}
	known := c.Controls()
	tables := map[string]*posture.VersionTable{}
	for i, root := range append([]fs.FS{rules}, customRules...) {
		more, err := loadTables(root)
		bad = append(bad, err)
		maps.Copy(tables, more)
		in := &folder{root, i > 0, tables}
		err = fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(file) != ".yaml" || path.Dir(file) == tablesFolder {
				return err
			}
			entries, err := in.loadFile(file)
			if located, ok := root.(interface{ Path(file string) string }); ok {
				file = located.Path(file)
			}
			bad = append(bad, wrap(file, err))
			for _, e := range entries {
				e.File = file
				if err == nil {
					bad = append(bad, wrap(file, checkControls(e, known)))
				}
				c.Rules = append(c.Rules, e)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		c.Tables = append(c.Tables, tables[name])
	}
	slices.SortFunc(c.Rules, func(a, b Entry) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for i := 1; i < len(c.Rules); i++ {
		if c.Rules[i].ID == c.Rules[i-1].ID {
			bad = append(bad, fmt.Errorf("%s and %s have the same id", c.Rules[i-1].File, c.Rules[i].File))
		}
	}
	bad = append(bad, c.assign(assigned))
	return c, errors.Join(bad...)
}

// A folder is a directory from which rules are read.
type folder struct {
	files  fs.FS
	custom bool                             // it is an organisation's own
	tables map[string]*posture.VersionTable // its own, and those that come with the product
}

// loadFile reads the rules of a file.
func (in *folder) loadFile(file string) ([]Entry, error) {
	if path.Base(file) == settingsFile {
		return in.loadSettings(file)
	}
	if strings.HasSuffix(file, familyFile) {
		return in.loadFamily(file)
	}
	e, err := in.loadRule(file)
	return []Entry{e}, err
}

func wrap(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", file, err)
}

// CheckOwn checks the custom rules of an organisation against what can be read.
func (c *Catalog) CheckOwn(s *evaluate.Schema) error {
	var bad []error
	for _, e := range c.Rules {
		if !e.Own {
			continue
		}
		for _, what := range e.Undeclared(s) {
			bad = append(bad, fmt.Errorf("%s: line %d: there is no %s", e.File, e.queryLine, what))
		}
	}
	return errors.Join(bad...)
}

// Controls returns the ids of the controls of all frameworks, as rules refer to them.
func (c *Catalog) Controls() map[string]bool {
	known := map[string]bool{}
	for _, f := range c.Frameworks {
		for _, control := range f.Controls {
			known[f.ControlID(control.ID)] = true
		}
	}
	return known
}

func checkControls(e Entry, known map[string]bool) error {
	for _, id := range e.Controls {
		if !known[id] {
			return fmt.Errorf("control %s does not exist", id)
		}
	}
	for _, id := range e.Unconfirmed {
		if !slices.Contains(e.Controls, id) {
			return fmt.Errorf("control %s is unconfirmed but not among the controls", id)
		}
	}
	return nil
}

// decode reads a file strictly.
func decode(files fs.FS, file string, target any) error {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	return dec.Decode(target)
}

// oneLine joins the lines of a paragraph.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
