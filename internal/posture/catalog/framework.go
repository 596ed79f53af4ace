package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// frameworkFile is a framework as written in its file.
type frameworkFile struct {
	ID          string   `yaml:"id"`
	Name        string   `yaml:"name"`
	Version     string   `yaml:"version"`
	Published   string   `yaml:"published"`
	Author      string   `yaml:"author"`
	Description string   `yaml:"description"`
	URL         string   `yaml:"url"`
	Source      string   `yaml:"source"`
	Follows     string   `yaml:"follows"` // the edition that "was" refers to
	Manual      []string `yaml:"manual"`  // controls that a person has to look at
	Sections    []struct {
		Title    string   `yaml:"title"`
		Controls controls `yaml:"controls"`
	} `yaml:"sections"`
}

// controls are the controls of one section, in the order of the file.
type controls []control

// A control is written as its title, or as an object if the framework, not the files of
// the rules, assigns its rules.
type control struct {
	ID    string   `yaml:"-"`
	Title string   `yaml:"title"`
	Was   string   `yaml:"was"`   // id of the same control in the edition that Follows names
	Rules []string `yaml:"rules"` // ids of rules that check it
}

// UnmarshalYAML reads a mapping without losing its order.
func (c *controls) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: controls are written as id: title", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		one := control{ID: n.Content[i].Value, Title: n.Content[i+1].Value}
		if value := n.Content[i+1]; value.Kind == yaml.MappingNode {
			if err := strict(value, "title", "was", "rules"); err != nil {
				return err
			}
			if err := value.Decode(&one); err != nil {
				return err
			}
		}
		*c = append(*c, one)
	}
	return nil
}

// strict refuses unknown keys of an object. KnownFields does not apply to objects that
// are decoded separately.
func strict(n *yaml.Node, known ...string) error {
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i].Value; !slices.Contains(known, key) {
			return fmt.Errorf("line %d: a control has no member %s", n.Content[i].Line, key)
		}
	}
	return nil
}

// An assignment lists the rules of a control, in addition to those whose files refer to
// the control.
type assignment struct {
	control  string   // <framework id>_<control id>
	formerID string   // the predecessor of control, whose rules it inherits; may be empty
	rules    []string // ids of rules that check control
}

func loadFramework(files fs.FS, file string) (posture.Framework, []assignment, error) {
	var f frameworkFile
	if err := decode(files, file, &f); err != nil {
		return posture.Framework{}, nil, err
	}
	out := posture.Framework{
		ID: f.ID, Name: f.Name, Version: f.Version, Published: f.Published, Author: f.Author, Source: oneLine(f.Source),
		Description: oneLine(f.Description), URL: f.URL, Created: released, Updated: released,
	}
	if f.ID+".yaml" != file {
		return out, nil, fmt.Errorf("id %s is not the name of the file", f.ID)
	}
	if f.Name == "" || f.Version == "" || f.Author == "" || f.Description == "" || f.URL == "" {
		return out, nil, errors.New("name, version, author, description and url are required")
	}
	if _, err := time.Parse(time.DateOnly, f.Published); err != nil {
		return out, nil, fmt.Errorf("published %q is not a date", f.Published)
	}
	manual := map[string]bool{}
	for _, id := range f.Manual {
		manual[id] = true
	}
	var assigned []assignment
	seen := map[string]bool{}
	for _, section := range f.Sections {
		for _, c := range section.Controls {
			if c.ID == "" || c.Title == "" || section.Title == "" || seen[c.ID] {
				return out, nil, fmt.Errorf("control %q has no title or section, or is listed twice", c.ID)
			}
			seen[c.ID] = true
			out.Controls = append(out.Controls, posture.Control{ID: c.ID, Title: c.Title, Section: section.Title, Manual: manual[c.ID]})
			a := assignment{control: out.ControlID(c.ID), rules: c.Rules}
			if c.Was != "" {
				if f.Follows == "" {
					return out, nil, fmt.Errorf("control %s has a predecessor, but the member follows (the previous edition) is missing", c.ID)
				}
				a.formerID = f.Follows + "_" + c.Was
			}
			if a.formerID != "" || len(a.rules) > 0 {
				assigned = append(assigned, a)
			}
			delete(manual, c.ID)
		}
	}
	if len(manual) > 0 { // controls that exist were deleted from the map above
		return out, nil, fmt.Errorf("control %s is manual, but does not exist", slices.Min(slices.Collect(maps.Keys(manual))))
	}
	if len(out.Controls) == 0 {
		return out, nil, errors.New("there are no controls")
	}
	if len(assigned) > 0 && out.Source == "" {
		return out, nil, errors.New("source is required: the origin of the rules of controls")
	}
	return out, assigned, nil
}

// assign adds to rules the controls that frameworks assign to them. A control inherits
// the rules of its predecessor in the previous edition. assign repeats until nothing is
// added, because that edition may have a predecessor too.
func (c *Catalog) assign(all []assignment) error {
	known := c.Controls()
	indexes := map[string]int{}
	for i, e := range c.Rules {
		indexes[string(e.ID)] = i
	}
	var bad []error
	for _, a := range all {
		if a.formerID != "" && !known[a.formerID] {
			bad = append(bad, fmt.Errorf("control %s was %s, which does not exist", a.control, a.formerID))
		}
		for _, id := range a.rules {
			i, ok := indexes[id]
			if !ok {
				bad = append(bad, fmt.Errorf("control %s names the rule %s, which does not exist", a.control, id))
				continue
			}
			c.Rules[i].add(a.control)
		}
	}
	for changed := true; changed && len(bad) == 0; {
		changed = false
		for _, a := range all {
			for i := range c.Rules {
				if a.formerID != "" && slices.Contains(c.Rules[i].Controls, a.formerID) && c.Rules[i].add(a.control) {
					changed = true
				}
			}
		}
	}
	return errors.Join(bad...)
}

// add adds a control to the sorted controls of the rule, and reports whether it is new.
func (e *Entry) add(control string) bool {
	i, exists := slices.BinarySearch(e.Controls, control)
	if !exists {
		e.Controls = slices.Insert(e.Controls, i, control)
	}
	return !exists
}
