package resource

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// A Catalog is an immutable set of declared types.
type Catalog struct {
	types     []*Type // in the order of their names
	byType    map[posture.EntityType]*Type
	functions Functions
	calls     map[string]int           // number of types that make each call
	uses      map[*Type]map[string]int // see Uses
	rates     map[string]float64       // limits of calls that have their own
}

// Load reads the declarations below the given roots, each
// <cloud>/<service>/<noun>.yaml, and checks them. The error names every mistake
// with its file and line. If a root has a method Path(file string) string, error
// messages name a file by the result of Path, otherwise by its path below the root.
func Load(functions Functions, roots ...fs.FS) (*Catalog, error) {
	return loadRoots(functions, nil, roots)
}

// LoadReplacing is Load with one more file. The type that it declares replaces the
// type of the same name in the roots.
func LoadReplacing(functions Functions, file string, text []byte, roots ...fs.FS) (*Catalog, *Type, error) {
	replacement, err := parse(text, functions)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	replacement.file, replacement.where, replacement.root = file, file, len(roots)
	c, err := loadRoots(functions, replacement, roots)
	return c, replacement, err
}

func loadRoots(functions Functions, replacement *Type, roots []fs.FS) (*Catalog, error) {
	c := &Catalog{byType: map[posture.EntityType]*Type{}, functions: functions}
	if replacement != nil {
		c.types, c.byType[replacement.Type] = append(c.types, replacement), replacement
	}
	var errs []error
	for i, root := range roots {
		err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path.Ext(file) != ".yaml" {
				return err
			}
			text, err := fs.ReadFile(root, file)
			if err != nil {
				return err
			}
			t, err := parse(text, functions)
			if err == nil && replacement != nil && t.Type == replacement.Type {
				return nil
			}
			where := file
			if located, ok := root.(interface{ Path(file string) string }); ok {
				where = located.Path(file)
			}
			if err == nil && c.byType[t.Type] != nil {
				err = t.withLine("type", fmt.Errorf("%s is already declared in %s", t.Type, c.byType[t.Type].where))
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", where, err))
				return nil
			}
			t.file, t.where, t.root = file, where, i
			c.types, c.byType[t.Type] = append(c.types, t), t
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	errs = append(errs, c.connect()...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// connect expands and checks the parts of each type that depend on other types.
func (c *Catalog) connect() (errs []error) {
	slices.SortFunc(c.types, func(a, b *Type) int { return strings.Compare(string(a.Type), string(b.Type)) })
	for _, t := range c.types {
		err := errors.Join(c.expandAzure(t), c.expandGoogle(t))
		if err == nil {
			err = errors.Join(t.checkInherited(), t.checkUnique())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.where, t.withLine("arm", err)))
		}
	}
	for _, t := range c.types {
		if err := c.checkReferences(t); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.where, t.withLine("list", err)))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	c.countCalls()
	c.countUses()
	errs = append(errs, c.collectRates()...)
	for _, t := range c.types {
		for i := range t.List {
			t.List[i].Shared = t.List[i].Call != "" && c.Shared(t.List[i].Call)
		}
	}
	return errs
}

// parse reads one declaration: the first document of a file. The second document
// holds test cases, which only tests and "vigil catalog check" read.
func parse(text []byte, functions Functions) (*Type, error) {
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errors.New("the file is empty")
	}
	t := &Type{lines: linesOf(document.Content[0])}
	if err := strict(document.Content[0], t); err != nil {
		return nil, withLine(document.Content[0], err)
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

// GetStage returns the stage that reads one resource. A get with neither a call nor a
// function makes the call of the last stage of the list, and has the Items and Where
// of that stage unless it declares its own.
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

// ListFunction returns the list function of a name. Load has checked that it exists.
func (c *Catalog) ListFunction(name string) ListFunction { return c.functions.List[name] }

// AnswerFunction returns the answer function of a name. Load has checked that it
// exists.
func (c *Catalog) AnswerFunction(name string) AnswerFunction { return c.functions.Answer[name] }

// Shared reports whether more than one type makes a call.
func (c *Catalog) Shared(call string) bool { return c.calls[call] > 1 }

// Rate returns the limit of a call that has its own, in calls per second, or 0.
func (c *Catalog) Rate(call string) float64 { return c.rates[call] }

// collectRates collects the limits of calls. Declarations that make the same call state
// the same limit, or leave it out.
func (c *Catalog) collectRates() (errs []error) {
	c.rates = map[string]float64{}
	for _, t := range c.types {
		for r := range c.Requests(t) {
			stated := c.rates[r.Call]
			switch {
			case r.Rate == 0:
			case r.Rate < 0 || t.Type.Provider() != posture.AWS:
				errs = append(errs, fmt.Errorf("%s: the rate of %s must be positive, and of a call of AWS", t.where, r.Call))
			case stated != 0 && stated != r.Rate:
				errs = append(errs, fmt.Errorf("%s: another type states %v as the rate of %s", t.where, stated, r.Call))
			default:
				c.rates[r.Call] = r.Rate
			}
		}
	}
	return errs
}

// Uses returns the calls that reading a type makes, with counts for collect.Answers: 1 if
// only one stage of the list makes the call, at least 2 if functions or the calls for items
// may make it too. A call with the count 1 needs no cache.
func (c *Catalog) Uses(t *Type) map[string]int { return c.uses[t] }

// countUses counts the calls of each type for Uses.
func (c *Catalog) countUses() {
	c.uses = map[*Type]map[string]int{}
	for _, t := range c.types {
		uses := map[string]int{}
		countRepeated := func(calls ...string) { // calls that may be made more than once
			for _, call := range calls {
				uses[call] += 2
			}
		}
		countLists := func(types []posture.EntityType) {
			for _, other := range types {
				for r := range c.listRequests(c.byType[other]) {
					countRepeated(r.Call)
				}
			}
		}
		for _, s := range c.expand(t.List) {
			uses[s.Call]++
			countRepeated(c.functions.List[s.Function].Calls...)
			countLists(c.functions.List[s.Function].Reads)
		}
		for i := range t.Calls {
			countRepeated(t.Calls[i].Call)
			countRepeated(c.functions.Answer[t.Calls[i].Function].Calls...)
		}
		countLists(t.referencedTypes())
		delete(uses, "")
		c.uses[t] = uses
	}
}

// countCalls counts how many types make each call.
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

// callsOf adds the calls that list a type to the set.
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

// ListCalls returns the calls that list a type, and those that list the types that its
// functions read.
func (c *Catalog) ListCalls(typ posture.EntityType) []string {
	t, calls := c.byType[typ], map[string]bool{}
	if t == nil {
		return nil
	}
	c.callsOf(t, calls)
	for a := range t.Answers() {
		for _, d := range a.Derive {
			c.callsOfAll(d.function.Reads, calls)
		}
	}
	delete(calls, "")
	return slices.Sorted(maps.Keys(calls))
}

// expand replaces the first stage, if it is a from stage, by the stages of the type that
// it names.
func (c *Catalog) expand(stages []Stage) []Stage {
	if len(stages) == 0 || stages[0].From == "" || c.byType[stages[0].From] == nil {
		return stages
	}
	return slices.Concat(c.expand(c.byType[stages[0].From].List), stages[1:])
}
