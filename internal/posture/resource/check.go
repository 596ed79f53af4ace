package resource

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture"
)

// check validates a declaration and binds the functions that it names.
func (t *Type) check(functions Functions) error {
	if t.Scope == "" && t.Type.Provider() != posture.AWS {
		t.Scope = PerAccount // Azure and Google Cloud list all locations at once
	}
	switch {
	case t.Type.Provider() == "":
		return t.withLine("type", fmt.Errorf("type %q must begin with the name of a cloud", t.Type))
	case t.Doc == "" || !strings.HasSuffix(t.Doc, "."):
		return t.withLine("doc", errors.New("doc must be a sentence"))
	case t.Scope != PerAccount && t.Scope != PerRegion:
		return t.withLine("scope", fmt.Errorf("scope %q must be account or region", t.Scope))
	case len(t.List) == 0 && t.ARM == "" && len(t.Google) == 0:
		return t.withLine("list", errors.New("one of list, arm (Azure) and google (Google Cloud) is required to list resources"))
	case len(t.Name) == 0 && t.ARM == "" && len(t.Google) == 0:
		return t.withLine("name", errors.New("name is required: the path of a resource's name in responses"))
	case strings.Contains(t.ARM, "$"):
		return t.withLine("arm", fmt.Errorf("arm %q cannot contain variables", t.ARM))
	case t.Place != "" && t.Place != posture.Global:
		return t.withLine("place", fmt.Errorf("place %q must be global", t.Place))
	}
	if err := t.checkMembers(); err != nil {
		return err
	}
	for i := range t.List {
		if err := t.List[i].check(i, functions); err != nil {
			return t.withLine(fmt.Sprintf("list[%d]", i), fmt.Errorf("list stage %d: %w", i+1, err))
		}
	}
	if t.Get != nil {
		if err := t.Get.checkGet(functions); err != nil {
			return t.withLine("get", fmt.Errorf("get: %w", err))
		}
	}
	if err := t.Answer.bind(functions); err != nil {
		return t.withLine("derive", err)
	}
	for i := range t.Calls {
		if err := t.checkCall(i, functions); err != nil {
			return t.withLine(fmt.Sprintf("calls[%d]", i), err)
		}
	}
	return nil
}

// checkCall validates one of the calls that complete an item.
func (t *Type) checkCall(i int, functions Functions) error {
	c := &t.Calls[i]
	if (c.Call == "") == (c.Function == "") {
		return fmt.Errorf("calls[%d] must have either a call or a function", i)
	}
	if _, known := functions.Answer[c.Function]; c.Function != "" && !known {
		return fmt.Errorf("there is no answer function %s", c.Function)
	}
	if !c.validCall() {
		return fmt.Errorf("call %q is not a valid template", c.Call)
	}
	if err := c.bind(functions); err != nil {
		return fmt.Errorf("%s: %w", c.Key(), err)
	}
	for _, m := range []Meaning{c.NotFound, c.NotEnabled, c.NotOffered} {
		if m != MeansUnknown && m != MeansAbsent && m != MeansDeleted {
			return fmt.Errorf("%s: the meaning %q of an error must be absent or deleted", c.Call, m)
		}
	}
	if c.NotEnabledMessage != "" && c.NotEnabled == MeansUnknown {
		return fmt.Errorf("%s has a notEnabledMessage, so it must have notEnabled", c.Call)
	}
	if c.Needs != "" && !slices.ContainsFunc(t.Calls[:i], func(o Call) bool { return o.Key() == c.Needs }) {
		return fmt.Errorf("%s needs %s, which must be called before it", c.Call, c.Needs)
	}
	return nil
}

// checkUnique checks that one answer alone declares each property, and the tags. Several
// answers may add edges of one label. The type must have been expanded, because that adds
// properties.
func (t *Type) checkUnique() error {
	seen := map[string]string{} // where a name is declared
	// check fails if the name is declared already. The member locates the line of the error.
	check := func(member, name, where string) error {
		before, exists := seen[name]
		if !exists {
			seen[name] = where
			return nil
		}
		if t.lines[member] == 0 { // the member follows from another one
			member = "property " + name
		}
		if before == where {
			return t.withLine(member, fmt.Errorf("%s is declared twice in %s", name, where))
		}
		return t.withLine(member, fmt.Errorf("%s is declared twice: in %s and in %s", name, before, where))
	}
	// checkAnswer checks what one answer declares. The member locates errors. It is "" for the list, whose
	// properties, tags and derive have lines of their own.
	checkAnswer := func(a *Answer, member, where string) error {
		for _, p := range a.Properties {
			if err := check(cmp.Or(member, "property "+p.Name), p.Name, where); err != nil {
				return err
			}
		}
		for _, d := range a.Derive {
			for _, p := range d.function.Properties {
				if err := check(cmp.Or(member, "derive"), p.Name, d.Name); err != nil {
					return err
				}
			}
		}
		if len(a.Tags) == 0 {
			return nil
		}
		return check(cmp.Or(member, "tags"), posture.TagsUnread, where)
	}
	if err := checkAnswer(&t.Answer, "", "the list"); err != nil {
		return err
	}
	for i := range t.Calls {
		if err := checkAnswer(&t.Calls[i].Answer, fmt.Sprintf("calls[%d]", i), t.Calls[i].Key()); err != nil {
			return err
		}
	}
	return nil
}

// check validates one stage of the list.
func (s *Stage) check(position int, functions Functions) error {
	sources := s.sources()
	switch {
	case sources == 0 && position > 0 && len(s.Items) > 0: // valid: the stage takes items from each item of the previous stage
	case s.NameOnly:
		return errors.New("only get may have nameOnly")
	case sources != 1:
		return errors.New("a stage must have exactly one of call, from, single and function")
	case (s.From != "" || s.Single) && position > 0:
		return errors.New("only the first stage may have from or single")
	}
	if s.Batch != nil && position == 0 {
		return errors.New("the first stage has no previous items for a batch")
	}
	return s.checkParts(functions)
}

// checkGet validates the stage that reads one resource. It may inherit its call from the
// list; see [Type.GetStage].
func (s *Stage) checkGet(functions Functions) error {
	switch {
	case s.From != "" || s.Single || s.Batch != nil:
		return errors.New("it reads one resource by its name, so it cannot have from, single or batch")
	case s.sources() > 1:
		return errors.New("it may have only one of call, nameOnly and function")
	}
	return s.checkParts(functions)
}

// sources counts the members that say where a stage has its items from.
func (s *Stage) sources() (n int) {
	for _, set := range []bool{s.Call != "", s.From != "", s.Single, s.NameOnly, s.Function != ""} {
		if set {
			n++
		}
	}
	return n
}

// checkParts validates the members that all stages can have.
func (s *Stage) checkParts(functions Functions) error {
	switch _, known := functions.List[s.Function]; {
	case s.Function != "" && !known:
		return fmt.Errorf("there is no list function %s", s.Function)
	case !s.validCall():
		return fmt.Errorf("call %q is not a valid template", s.Call)
	case s.Batch != nil && (s.Call == "" || s.Batch.Size < 1 || s.Batch.Of.IsZero()):
		return errors.New("a batch needs a call, size and of, a path to values in the items of the previous stage")
	}
	return nil
}

// checkInherited checks that a get without a call of its own has one from the list. The list
// must have been expanded.
func (t *Type) checkInherited() error {
	if t.Get == nil || t.Get.NameOnly {
		return nil
	}
	if s := t.GetStage(); s.Call == "" && s.Function == "" {
		return t.withLine("get", errors.New("get needs a call or function, because the last stage of the list has no call"))
	}
	return nil
}

// validCall reports whether a call is an operation name or a valid template.
func (r *Request) validCall() bool {
	_, err := TemplateExpr(r.Call)
	return err == nil
}

// bind resolves the functions of an answer by name.
func (a *Answer) bind(functions Functions) error {
	for i := range a.Derive {
		f, ok := functions.Derive[a.Derive[i].Name]
		if !ok {
			return fmt.Errorf("there is no function %s", a.Derive[i].Name)
		}
		a.Derive[i].function = f
	}
	return nil
}

// checkReferences checks that the types whose lists a declaration reads are declared, and
// that its own list does not depend on itself: such a list could not be expanded.
func (c *Catalog) checkReferences(t *Type) error {
	for _, other := range append(t.referencedTypes(), c.listReads(t)...) {
		if c.byType[other] == nil {
			return fmt.Errorf("it reads the list of %s, which is not declared", other)
		}
	}
	way := c.wayTo(t.Type, t, map[*Type]bool{})
	if way == nil {
		return nil
	}
	member := "list"
	if way[0] == t.In {
		member = "in"
	}
	text := string(t.Type)
	for _, other := range way {
		text += ", " + string(other)
	}
	return t.withLine(member, fmt.Errorf("its list depends on itself: %s", text))
}

// listReads returns the types whose lists the list of a type reads.
func (c *Catalog) listReads(t *Type) (all []posture.EntityType) {
	for _, s := range t.List {
		if s.From != "" {
			all = append(all, s.From)
		}
		all = append(all, c.functions.List[s.Function].Reads...)
	}
	return all
}

// wayTo returns the chain of types over which the list of one type (from) depends on that of
// another (target). The chain ends with the target. It is nil if there is no dependency.
func (c *Catalog) wayTo(target posture.EntityType, from *Type, visited map[*Type]bool) []posture.EntityType {
	if from == nil || visited[from] { // nil: the type is not declared; checkReferences reports the types that read it
		return nil
	}
	visited[from] = true
	for _, other := range c.listReads(from) {
		if other == target {
			return []posture.EntityType{other}
		}
		if way := c.wayTo(target, c.byType[other], visited); way != nil {
			return append([]posture.EntityType{other}, way...)
		}
	}
	return nil
}

// checkMembers reports members that would have no effect: they are for another cloud, or need another
// member. It also reports names in readAllAfter that are not in events.
func (t *Type) checkMembers() error {
	isAzure, isGCP := t.Type.Provider() == posture.Azure, t.Type.Provider() == posture.GCP
	for _, m := range []struct {
		name      string
		set       bool
		effective bool
		needs     string
	}{
		{"arm", t.ARM != "", isAzure, "a type of Azure"},
		{"spelled", t.Spelled != "", t.ARM != "", "arm"},
		{"path", t.ListPath != "", t.ARM != "", "arm"},
		{"in", t.In != "", t.ARM != "", "arm"},
		{"of", len(t.Of) > 0, t.In != "", "a parent type (in)"},
		{"inside", len(t.Inside) > 0, t.In != "", "a parent type (in)"},
		{"has", len(t.Has) > 0, t.ARM != "", "arm"},
		{"identity", t.Identity, t.ARM != "", "arm"},
		{"query", len(t.Query.members) > 0, t.ARM != "" || len(t.Google) > 0, "arm or google"},
		{"permissions", len(t.Permissions) > 0, t.ARM != "" || len(t.Google) > 0, "arm or google"},
		{"google", len(t.Google) > 0, isGCP, "a type of Google Cloud"},
		{"granted", t.Granted != "", isGCP, "a type of Google Cloud"},
		{"eachLocation", t.EachLocation != "", len(t.Google) > 0, "google"},
		{"policy", t.Policy, len(t.Google) > 0, "google"},
		{"readAllAfter", len(t.ReadAllAfter) > 0, t.NamedInEvents != "", "namedInEvents"},
	} {
		if m.set && !m.effective {
			return t.withLine(m.name, fmt.Errorf("%s needs %s", m.name, m.needs))
		}
	}
	for _, name := range t.ReadAllAfter {
		if !slices.ContainsFunc(t.Events, func(e Event) bool { return slices.Contains(e.Names, name) }) {
			return t.withLine("readAllAfter", fmt.Errorf("readAllAfter: %s is not in events", name))
		}
	}
	return nil
}
