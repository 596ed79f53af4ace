package catalog

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"vigil/internal/posture"
)

// parameter is a parameter as written in the file of a rule.
type parameter struct {
	Name        string                `yaml:"name"`
	Type        posture.ParameterType `yaml:"type"`
	Default     any                   `yaml:"default"`
	Minimum     *int64                `yaml:"minimum"`
	Maximum     *int64                `yaml:"maximum"`
	Pattern     string                `yaml:"pattern"`
	Description string                `yaml:"description"`
}

// bind adds the parameters and the table of a rule, and checks their values.
func (f *ruleFile) bind(e *Entry) error {
	for _, p := range f.Parameters {
		bound := posture.RuleParameter{
			Name: p.Name, Type: p.Type, Minimum: p.Minimum, Maximum: p.Maximum, Pattern: p.Pattern, Description: oneLine(p.Description), Default: p.Default,
		}
		if err := bound.Validate(); err != nil {
			return fmt.Errorf("line %d: parameter %s: %w", f.line("parameters"), p.Name, err)
		}
		bound.Default, _ = bound.Check(p.Default) // converts it; Validate has checked it
		e.Parameters = append(e.Parameters, bound)
	}
	if f.Table != "" {
		e.Table = f.in.tables[f.Table]
		if e.Table == nil {
			return fmt.Errorf("line %d: there is no table %s", f.line("table"), f.Table)
		}
	}
	// With inserts values into these texts, so keep them as they were written.
	e.texts = ruleTexts{e.Name, e.Description, e.SuggestedAction}
	for _, c := range e.Cases {
		for name, value := range c.Parameters {
			p, ok := e.Parameter(name)
			if !ok {
				return fmt.Errorf("case %q: there is no parameter %s", c.Name, name)
			}
			if _, err := p.Check(value); err != nil {
				return fmt.Errorf("case %q: parameter %s %w", c.Name, name, err)
			}
		}
	}
	e.Rule = e.With(nil)
	return nil
}

// tablesFolder contains the tables of versions, one file for each.
const tablesFolder = "tables"

// tableFile is a table of versions as written in its file.
type tableFile struct {
	Title  string `yaml:"title"`
	Source string `yaml:"source"`
	Read   string `yaml:"read"`
	Rows   []struct {
		Product      string `yaml:"product"`
		Version      string `yaml:"version"`
		EndOfSupport string `yaml:"endOfSupport"`
	} `yaml:"versions"`
}

// loadTables reads the tables of a folder.
func loadTables(files fs.FS) (map[string]*posture.VersionTable, error) {
	names, err := fs.Glob(files, tablesFolder+"/*.yaml")
	if err != nil {
		return nil, err
	}
	tables := map[string]*posture.VersionTable{}
	for _, file := range names {
		t, err := loadTable(files, file)
		if err != nil {
			return tables, wrap(file, err)
		}
		tables[t.Name] = t
	}
	return tables, nil
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func loadTable(files fs.FS, file string) (*posture.VersionTable, error) {
	var f tableFile
	if err := decode(files, file, &f); err != nil {
		return nil, err
	}
	name := path.Base(file)
	t := &posture.VersionTable{Name: name[:len(name)-len(".yaml")], Title: f.Title, Source: f.Source, Read: f.Read}
	if f.Title == "" || f.Source == "" || !isDate(f.Read) {
		return nil, fmt.Errorf("title, source and read (a date) are required")
	}
	for _, row := range f.Rows {
		switch {
		case row.Product == "" || row.Version == "":
			return nil, fmt.Errorf("version %q of product %q: both names are required", row.Version, row.Product)
		case row.EndOfSupport != "" && !isDate(row.EndOfSupport):
			return nil, fmt.Errorf("the end of support of version %s is %q, which is not a date", row.Version, row.EndOfSupport)
		case slices.ContainsFunc(t.Rows, func(r posture.VersionRow) bool { return r.Version == row.Version }):
			return nil, fmt.Errorf("version %s is listed twice", row.Version)
		}
		t.Rows = append(t.Rows, posture.VersionRow(row))
	}
	return t, nil
}
