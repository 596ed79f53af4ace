// Package catalog reads the rules and frameworks that come with the product.
//
// They are data files that a person can read and change. Each of these is an error
// that names the file: an unknown key, the wrong folder, a query that does not
// compile, and a control that does not exist. The file of a rule contains cases,
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
	"runtime"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

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
//
// It does not parse the cases of the rules in the first folder, which are more than half
// of their text: [LoadWithCases] does.
func Load(rules, frameworks fs.FS, customRules ...fs.FS) (*Catalog, error) {
	return load(rules, frameworks, customRules, false)
}

// LoadWithCases is Load for tests, which evaluate the cases of all rules.
func LoadWithCases(rules, frameworks fs.FS, customRules ...fs.FS) (*Catalog, error) {
	return load(rules, frameworks, customRules, true)
}

func load(rules, frameworks fs.FS, customRules []fs.FS, withCases bool) (*Catalog, error) {
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
		for _, name := range slices.Sorted(maps.Keys(more)) {
			if tables[name] != nil {
				bad = append(bad, wrap(path.Join(tablesFolder, name+".yaml"), fmt.Errorf("table %s exists already; give the file another name", name)))
				continue
			}
			tables[name] = more[name]
		}
		isCustom := i > 0
		in := &folder{root, isCustom, isCustom || withCases, tables}
		loaded, err := in.loadAll()
		if err != nil {
			return nil, err
		}
		for _, l := range loaded {
			bad = append(bad, wrap(l.file, l.err))
			for _, e := range l.entries {
				e.File = l.file
				if l.err == nil {
					bad = append(bad, wrap(l.file, checkControls(e, known)))
				}
				c.Rules = append(c.Rules, e)
			}
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
	files     fs.FS
	custom    bool                             // it is an organisation's own
	withCases bool                             // the cases of its rules are parsed
	tables    map[string]*posture.VersionTable // its own, and those of the folders read before
}

// A loadedFile contains the rules of a file, or the error of reading it.
type loadedFile struct {
	file    string // as messages name it
	entries []Entry
	err     error
}

// loadAll reads all files of a folder, several at a time: parsing a thousand rules takes
// most of the time in which a command starts.
func (in *folder) loadAll() (all []*loadedFile, err error) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	err = fs.WalkDir(in.files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".yaml" || path.Dir(file) == tablesFolder {
			return err
		}
		l := &loadedFile{file: file}
		if located, ok := in.files.(interface{ Path(file string) string }); ok {
			l.file = located.Path(file)
		}
		all = append(all, l)
		group.Go(func() error {
			l.entries, l.err = in.loadFile(file)
			return nil
		})
		return nil
	})
	_ = group.Wait() // the errors are in the files
	return all, err
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

// CheckOwn checks that the custom rules of an organisation name only declared types,
// properties and edges.
func (c *Catalog) CheckOwn(s *evaluate.Schema) error {
	var bad []error
	for _, e := range c.Rules {
		if !e.Own {
			continue
		}
		for _, what := range e.Undeclared(s) {
			bad = append(bad, fmt.Errorf("%s: line %d: %s", e.File, e.queryLine, what))
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
	return decodeText(text, target)
}

// decodeText reads a document strictly.
func decodeText(text []byte, target any) error {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	return dec.Decode(target)
}

// ruleText returns the part of a rule's text that is parsed. Cases are the last member.
func (in *folder) ruleText(text []byte) []byte {
	if !in.withCases {
		text, _, _ = bytes.Cut(text, []byte("\ncases:\n"))
	}
	return text
}

// oneLine joins the lines of a paragraph.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
