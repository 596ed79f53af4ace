package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// familyFile is the suffix of files that contain one rule for each member of a table,
// such as ports or operations.
const familyFile = "-family.yaml"

// loadFamily reads a file of two documents: a table of members, and a template of a rule.
// Each member is a map of values, and yields a rule: the template, in which ${key} is
// replaced by the member's value for that key.
func (in *folder) loadFamily(file string) ([]Entry, error) {
	text, err := fs.ReadFile(in.files, file)
	if err != nil {
		return nil, err
	}
	head, template, found := bytes.Cut(text, []byte("\n---\n"))
	if !found {
		return nil, errors.New("a family is a table of members, a line with --- and a rule")
	}
	var table struct {
		Members []map[string]string `yaml:"members"`
	}
	if err := decodeText(head, &table); err != nil {
		return nil, err
	}
	if len(table.Members) == 0 {
		return nil, errors.New("a family must list its members")
	}
	linesBefore := bytes.Count(head, []byte("\n")) + 2 // the last line of head, and ---
	template = in.ruleText(template)
	var all []Entry
	var bad []error
	for _, member := range table.Members {
		e, err := in.familyRule(string(template), linesBefore, member, file)
		if err != nil {
			bad = append(bad, fmt.Errorf("member %s: %w", member["name"], err))
		}
		all = append(all, e)
	}
	return all, errors.Join(bad...)
}

// familyRule returns the rule of one member. The template begins after some lines of the file.
func (in *folder) familyRule(template string, linesBefore int, member map[string]string, file string) (Entry, error) {
	if member["name"] == "" {
		return Entry{File: file}, errors.New("it has no name")
	}
	pairs := make([]string, 0, 2*len(member))
	for name, value := range member {
		pairs = append(pairs, "${"+name+"}", value)
	}
	text := []byte(strings.NewReplacer(pairs...).Replace(template))
	f := ruleFile{in: in, line: func(member string) int { return linesBefore + memberLine(text, member) }}
	if err := decodeText(text, &f); err != nil {
		return Entry{File: file}, err
	}
	if !strings.HasSuffix(f.ID, "-"+member["name"]) {
		return Entry{File: file}, fmt.Errorf("id %s does not end with the name of the member", f.ID)
	}
	if err := f.checkWritten(); err != nil {
		return Entry{File: file}, err
	}
	return f.entry(file)
}
