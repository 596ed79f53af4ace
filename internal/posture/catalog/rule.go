package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/gremlin"
	"vigil/internal/posture"
)

// An Entry is a rule with the further content of its file.
type Entry struct {
	posture.Rule
	File  string
	Type  posture.EntityType // of the entities that it checks
	Plan  *gremlin.Plan
	Cases []Case
	Own   bool // it is of an organisation's own folder

	queryLine int // line of the query in File; only of custom rules
	texts     ruleTexts
}

// ruleTexts are the texts of a rule that may contain names of parameters.
type ruleTexts struct{ name, description, fix string }

// With returns the rule with values of its parameters. Parameters without a value have
// their default.
func (e Entry) With(values map[string]any) posture.Rule {
	r := e.Rule
	r.Name, r.Description, r.SuggestedAction = e.texts.name, e.texts.description, e.texts.fix
	r.Values = values
	return r.Bind()
}

// ruleFile is a rule as written in its file.
type ruleFile struct {
	ID          string              `yaml:"id"`
	Title       string              `yaml:"title"`
	Type        posture.EntityType  `yaml:"type"`
	Level       posture.RuleLevel   `yaml:"level"`
	Category    string              `yaml:"category"`
	Why         string              `yaml:"why"`
	Fix         string              `yaml:"fix"`
	Link        string              `yaml:"link"`
	Query       string              `yaml:"query"`
	Parameters  []parameter         `yaml:"parameters"`
	Table       string              `yaml:"table"`
	Show        string              `yaml:"show"`
	Controls    map[string][]string `yaml:"controls"`
	Unconfirmed map[string][]string `yaml:"unconfirmed"`
	Cases       []Case              `yaml:"cases"`

	in   *folder
	line func(member string) int // nil where the file holds several rules
}

func (in *folder) loadRule(file string) (Entry, error) {
	text, err := fs.ReadFile(in.files, file)
	if err != nil {
		return Entry{File: file}, err
	}
	f := ruleFile{in: in}
	if err := decodeText(in.ruleText(text), &f); err != nil {
		return Entry{File: file}, err
	}
	if name := strings.TrimSuffix(path.Base(file), ".yaml"); !strings.HasSuffix(f.ID, "-"+name) {
		return Entry{File: file}, fmt.Errorf("id %s does not end with the name of the file", f.ID)
	}
	if err := f.checkWritten(); err != nil {
		return Entry{File: file}, err
	}
	f.line = func(member string) int { return memberLine(text, member) }
	return f.entry(file)
}

// checkWritten checks what every rule of the product needs, except those in settings
// files.
func (f *ruleFile) checkWritten() error {
	if len(f.Controls) == 0 && !f.in.custom {
		return errors.New("controls are required")
	}
	return nil
}

// entry compiles and checks a rule.
func (f ruleFile) entry(file string) (Entry, error) {
	e := Entry{File: file, Own: f.in.custom}
	if f.line == nil {
		f.line = func(string) int { return 1 }
	}
	if f.in.custom {
		e.queryLine = f.line("query")
	}
	provider := f.Type.Provider()
	e.Type, e.Cases = f.Type, f.Cases
	e.Rule = posture.Rule{
		ID: posture.RuleID(f.ID), Name: f.Title, DisplayName: f.ID, Description: oneLine(f.Why), SuggestedAction: oneLine(f.Fix),
		DocumentationLink: f.Link, Status: posture.RuleEnabled, Source: posture.Native, Category: f.Category, Provider: provider,
		Service: f.Type.Service(), Level: f.Level,
		Query:         posture.RuleQuery{Language: posture.GraphQuery, Text: strings.TrimSpace(f.Query)},
		Visualization: posture.RuleQuery{Language: posture.GraphQuery, Text: strings.TrimSpace(f.Show)},
		Controls:      controlIDs(f.Controls), Unconfirmed: controlIDs(f.Unconfirmed), InventoryProvider: string(provider),
		Version: 1, ETag: "native-1", Created: released, Updated: released,
	}
	if e.Category == "" {
		e.Category = "Security"
	}
	if err := f.check(file); err != nil {
		return e, err
	}
	if err := f.bind(&e); err != nil {
		return e, err
	}
	var err error
	if e.Plan, err = gremlin.Compile(e.Query.Text, gremlin.CompileOptions{Budget: gremlin.RuleBudget}); err != nil {
		return e, fmt.Errorf("line %d: query: %w", f.line("query"), err)
	}
	if err := e.CheckVariables(e.Plan.Variables()); err != nil {
		return e, fmt.Errorf("line %d: query: %w", f.line("query"), err)
	}
	query := strings.ReplaceAll(e.Visualization.Text, posture.EntityClause, posture.EntityClauseSample)
	if _, err := gremlin.Compile(query, gremlin.CompileOptions{}); err != nil {
		return e, fmt.Errorf("line %d: show: %w", f.line("show"), err)
	}
	return e, e.Validate()
}

// memberLine returns the line of a member of a file that could be decoded.
func memberLine(text []byte, member string) int {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return 1
	}
	members := document.Content[0].Content
	for i := 0; i+1 < len(members); i += 2 {
		if members[i].Value == member {
			return members[i].Line
		}
	}
	return 1
}

// check checks everything in a file except its queries.
func (f *ruleFile) check(file string) error {
	provider := string(f.Type.Provider())
	want := strings.ToLower(path.Join(provider, f.Type.Service()))
	acrossServices := strings.HasSuffix(file, familyFile) && path.Dir(file) == provider
	if path.Dir(file) != want && !acrossServices {
		return fmt.Errorf("a rule about %s must be in %s", f.Type, want)
	}
	switch {
	case !slices.Contains(posture.RuleLevels, f.Level):
		return fmt.Errorf("level %q is not High, Med or Low", f.Level)
	case f.Title == "" || f.Why == "" || f.Fix == "" || f.Show == "":
		return errors.New("title, why, fix and show are required")
	}
	if f.in.withCases {
		return f.checkCases()
	}
	return nil
}

// checkCases checks that there are cases of each kind.
func (f *ruleFile) checkCases() error {
	var violating, passing, unknown bool
	for _, c := range f.Cases {
		violating = violating || len(c.Violates) > 0
		unknown = unknown || len(c.Unknown) > 0
		passing = passing || len(c.Violates)+len(c.Unknown) == 0
	}
	if !violating || !passing || !unknown {
		return errors.New("there must be a violating, a passing and an unknown case")
	}
	return nil
}

// controlIDs joins framework and control.
func controlIDs(controls map[string][]string) []string {
	var ids []string
	for framework, controls := range controls {
		for _, c := range controls {
			ids = append(ids, framework+"_"+c)
		}
	}
	slices.Sort(ids)
	return ids
}
