package resource

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// A Catalog is a set of declared types. It does not change once it is loaded.
type Catalog struct {
	types     []*Type // in the order of their names
	byType    map[posture.EntityType]*Type
	functions Functions
	calls     map[string]int // by how many types each call is made
}

// Load reads the declarations below the given roots, each
// <cloud>/<service>/<noun>.yaml, and checks them. The error names every mistake
// with its file and line.
func Load(functions Functions, roots ...fs.FS) (*Catalog, error) {
	c := &Catalog{byType: map[posture.EntityType]*Type{}, functions: functions}
	var wrong []error
	for _, root := range roots {
		err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path.Ext(file) != ".yaml" {
				return err
			}
			text, err := fs.ReadFile(root, file)
			if err != nil {
				return err
			}
			t, err := parse(text, functions)
			if err == nil && c.byType[t.Type] != nil {
				err = fmt.Errorf("%s is declared in %s already", t.Type, c.byType[t.Type].file)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", file, err))
				return nil
			}
			t.file = file
			c.types, c.byType[t.Type] = append(c.types, t), t
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.types, func(a, b *Type) int { return strings.Compare(string(a.Type), string(b.Type)) })
	for _, t := range c.types {
		if err := c.expandAzure(t); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", t.file, err))
		}
	}
	for _, t := range c.types {
		if err := c.related(t); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", t.file, err))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	c.countCalls()
	for _, t := range c.types {
		for i := range t.List {
			t.List[i].Shared = t.List[i].Call != "" && c.Shared(t.List[i].Call)
		}
	}
	return c, nil
}

// parse reads one declaration: the first document of a file. Cases are in the
// second one, which is read by tests and by "vigil catalog check" alone.
func parse(text []byte, functions Functions) (*Type, error) {
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errors.New("there is nothing in it")
	}
	t := new(Type)
	if err := strict(document.Content[0], t); err != nil {
		return nil, err
	}
	return t, t.check(functions)
}

// Types returns all types in the order of their names.
func (c *Catalog) Types() []*Type { return c.types }

// Of returns the types of one cloud.
func (c *Catalog) Of(p posture.Provider) []*Type {
	return slices.DeleteFunc(slices.Clone(c.types), func(t *Type) bool { return t.Type.Provider() != p })
}

// Type returns the declaration of a type, or nil when there is none.
func (c *Catalog) Type(t posture.EntityType) *Type { return c.byType[t] }

// GetStage returns the call that reads one resource: what get does not say is as
// in the last stage of the list.
func (t *Type) GetStage() Stage {
	s := *t.Get
	if s.Call == "" && s.Function == "" && len(t.List) > 0 {
		last := t.List[len(t.List)-1]
		s.Call, s.Permission, s.Rate = last.Call, last.Permission, last.Rate
		if len(s.Items) == 0 {
			s.Items = last.Items
		}
		if len(s.Where) == 0 {
			s.Where = last.Where
		}
	}
	return s
}

// ListFunction returns the list function of a name, which the catalog has checked.
func (c *Catalog) ListFunction(name string) ListFunction { return c.functions.List[name] }

// AnswerFunction returns the answer function of a name, which the catalog has
// checked.
func (c *Catalog) AnswerFunction(name string) AnswerFunction { return c.functions.Answer[name] }

// Shared reports whether several types make a call.
func (c *Catalog) Shared(call string) bool { return c.calls[call] > 1 }

// countCalls counts by how many types a call is made.
func (c *Catalog) countCalls() {
	c.calls = map[string]int{}
	for _, t := range c.types {
		calls := map[string]bool{}
		c.callsOf(t, calls)
		for i := range t.Calls {
			calls[t.Calls[i].Call] = true
		}
		for a := range t.Answers() {
			for _, d := range a.Derive {
				c.callsOfAll(d.function.Reads, calls)
			}
		}
		for call := range calls {
			c.calls[call]++
		}
	}
}

// callsOf gathers the calls that list a type.
func (c *Catalog) callsOf(t *Type, calls map[string]bool) {
	for _, s := range c.expand(t.List) {
		calls[s.Call] = true
		c.callsOfAll(c.functions.List[s.Function].Reads, calls)
	}
}

func (c *Catalog) callsOfAll(types []posture.EntityType, calls map[string]bool) {
	for _, t := range types {
		if c.byType[t] != nil {
			c.callsOf(c.byType[t], calls)
		}
	}
}

// expand replaces from by the stages of the type that it names.
func (c *Catalog) expand(stages []Stage) []Stage {
	if len(stages) == 0 || stages[0].From == "" || c.byType[stages[0].From] == nil {
		return stages
	}
	return slices.Concat(c.expand(c.byType[stages[0].From].List), stages[1:])
}
