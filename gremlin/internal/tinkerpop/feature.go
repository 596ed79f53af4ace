package tinkerpop

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// readFeature parses the scenarios of a feature file. Their ids begin with its name.
func readFeature(name string, r io.Reader) ([]Scenario, error) {
	parsed, err := parse(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var all []Scenario
	for _, p := range parsed {
		s := Scenario{ID: name + "#" + p.name, Tags: p.tags}
		for _, step := range p.steps {
			if err := s.add(step); err != nil {
				return nil, fmt.Errorf("read %s: %s: %s: %w", name, p.name, step.text, err)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// A form is the syntax of a step and its effect.
type form struct {
	pattern *regexp.Regexp
	add     func(s *Scenario, words []string, step step) error
}

// forms lists every step of TinkerPop's feature files. Any other step is an
// error, so that no assertion is lost.
var forms = []form{
	{regexp.MustCompile(`^the (\w+) graph$`), func(s *Scenario, words []string, _ step) error {
		s.Graph = words[1]
		return nil
	}},
	{regexp.MustCompile(`^an unsupported test$`), func(s *Scenario, _ []string, _ step) error {
		s.LeftOut = "TinkerPop has no traversal for it"
		return nil
	}},
	{regexp.MustCompile(`^the graph initializer of$`), func(s *Scenario, _ []string, step step) error {
		s.Setup = strings.Join(step.doc, "\n")
		return nil
	}},
	{regexp.MustCompile(`^using the (parameter|side effect) (\w+) defined as "(.*)"$`), func(s *Scenario, words []string, _ step) error {
		pair := [2]string{words[2], unescape(words[3])}
		if words[1] == "parameter" {
			s.Params = append(s.Params, pair)
		} else {
			s.SideEffects = append(s.SideEffects, pair)
		}
		return nil
	}},
	{regexp.MustCompile(`^the traversal of$`), func(s *Scenario, _ []string, step step) error {
		s.Gremlin = strings.Join(step.doc, "\n")
		return nil
	}},
	{regexp.MustCompile(`^(iterated to list|iterated next)$`), func(s *Scenario, words []string, _ step) error {
		s.When = words[1]
		return nil
	}},
	{regexp.MustCompile(`^the result should be (unordered|ordered|of)$`), func(s *Scenario, words []string, step step) error {
		return s.expectTable(words[1], step)
	}},
	{regexp.MustCompile(`^the result should be a (subgraph) with the following$`), func(s *Scenario, words []string, step step) error {
		return s.expectTable(words[1], step)
	}},
	{regexp.MustCompile(`^the result should be a (tree) with a structure of$`), func(s *Scenario, words []string, step step) error {
		s.expect(Expectation{Kind: words[1], Values: step.doc})
		return nil
	}},
	{regexp.MustCompile(`^the result should be (empty)$`), func(s *Scenario, words []string, _ step) error {
		s.expect(Expectation{Kind: words[1]})
		return nil
	}},
	{regexp.MustCompile(`^the result should have a (count) of (\d+)$`), func(s *Scenario, words []string, _ step) error {
		n, err := strconv.Atoi(words[2])
		s.expect(Expectation{Kind: words[1], Count: n})
		return err
	}},
	{regexp.MustCompile(`^the traversal will raise an (error)(?: with message (containing|starting|ending) text of "(.*)")?$`), func(s *Scenario, words []string, _ step) error {
		s.expect(Expectation{Kind: words[1], Match: words[2], Message: unescape(words[3])})
		return nil
	}},
	{regexp.MustCompile(`^the graph should return (\d+) for count of "(.*)"$`), func(s *Scenario, _ []string, _ step) error {
		s.LeftOut = "it changes the graph"
		return nil
	}},
	{regexp.MustCompile(`^nothing should happen because$`), func(*Scenario, []string, step) error {
		return nil
	}},
}

func (s *Scenario) add(step step) error {
	for _, f := range forms {
		if words := f.pattern.FindStringSubmatch(step.text); words != nil {
			return f.add(s, words, step)
		}
	}
	return fmt.Errorf("the step has no known form; add it to forms")
}

// expectTable expects the values of a table of one column.
func (s *Scenario) expectTable(kind string, step step) error {
	if len(step.rows) == 0 {
		return fmt.Errorf("the step has no table")
	}
	e := Expectation{Kind: kind, Header: step.rows[0][0]}
	for _, row := range step.rows[1:] {
		if len(row) != 1 {
			return fmt.Errorf("%d cells in a row", len(row))
		}
		e.Values = append(e.Values, row[0])
	}
	s.expect(e)
	return nil
}

// expect adds an expectation: the first is the main one, all must be met.
func (s *Scenario) expect(e Expectation) {
	if s.Expect.Kind == "" {
		s.Expect = e
		return
	}
	s.Expect.Also = append(s.Expect.Also, e)
}

// unescape decodes a quoted text.
func unescape(text string) string { return strings.ReplaceAll(text, `\"`, `"`) }
