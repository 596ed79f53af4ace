package catalog

import (
	"fmt"
	"io/fs"
	"time"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// frameworkFile is a framework as its file has it.
type frameworkFile struct {
	ID          string `yaml:"id"`
	Name        string `yaml:"name"`
	Version     string `yaml:"version"`
	Published   string `yaml:"published"`
	Author      string `yaml:"author"`
	Description string `yaml:"description"`
	URL         string `yaml:"url"`
	Sections    []struct {
		Title    string   `yaml:"title"`
		Controls controls `yaml:"controls"`
	} `yaml:"sections"`
}

// controls are ids with their titles, in the order of the file.
type controls []posture.Control

// UnmarshalYAML reads a mapping without losing its order.
func (c *controls) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: controls are written as id: title", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		*c = append(*c, posture.Control{ID: n.Content[i].Value, Title: n.Content[i+1].Value})
	}
	return nil
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
	if f.Name == "" || f.Version == "" || f.Author == "" || f.Description == "" || f.URL == "" {
		return out, fmt.Errorf("name, version, author, description and url must be said")
	}
	if _, err := time.Parse(time.DateOnly, f.Published); err != nil {
		return out, fmt.Errorf("published %q is not a date", f.Published)
	}
	seen := map[string]bool{}
	for _, section := range f.Sections {
		for _, c := range section.Controls {
			if c.ID == "" || c.Title == "" || section.Title == "" || seen[c.ID] {
				return out, fmt.Errorf("control %q has no title or section, or is there twice", c.ID)
			}
			seen[c.ID] = true
			c.Section = section.Title
			out.Controls = append(out.Controls, c)
		}
	}
	if len(out.Controls) == 0 {
		return out, fmt.Errorf("there are no controls")
	}
	return out, nil
}
