package tinkerpop

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A parsedScenario is a scenario of a feature file, before its steps are interpreted.
type parsedScenario struct {
	name  string
	tags  []string // tags of the feature and of the scenario
	steps []step
}

// A step is one line that begins with Given, When, Then or And, with its quoted text and table.
type step struct {
	text string     // without the first word
	doc  []string   // lines between triple quotes, without their common indentation
	rows [][]string // cells of a table, header first
}

// parse parses a feature file: the part of the Gherkin language that TinkerPop
// uses, without outlines and backgrounds.
func parse(r io.Reader) ([]parsedScenario, error) {
	p := parser{lines: bufio.NewScanner(r)}
	for p.lines.Scan() {
		p.line++
		if err := p.read(p.lines.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	if p.quoted {
		return nil, fmt.Errorf("line %d: unterminated quoted text", p.line)
	}
	return p.scenarios, p.lines.Err()
}

type parser struct {
	lines *bufio.Scanner
	line  int

	feature   []string // tags of the feature
	tags      []string // tags since the last scenario
	scenarios []parsedScenario

	quoted bool
	indent int // indentation of the quotes
}

func (p *parser) read(line string) error {
	text := strings.TrimSpace(line)
	if p.quoted {
		return p.quote(line, text)
	}
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "" || strings.HasPrefix(text, "#"):
	case strings.HasPrefix(text, "@"):
		p.tags = append(p.tags, strings.Fields(text)...)
	case word == "Feature:":
		p.feature, p.tags = p.tags, nil
	case word == "Scenario:":
		p.scenarios = append(p.scenarios, parsedScenario{name: strings.TrimSpace(rest), tags: slices.Concat(p.feature, p.tags)})
		p.tags = nil
	case slices.Contains([]string{"Given", "When", "Then", "And"}, word) && len(p.scenarios) > 0:
		s := &p.scenarios[len(p.scenarios)-1]
		s.steps = append(s.steps, step{text: strings.TrimSpace(rest)})
	case text == `"""`:
		p.quoted, p.indent = true, strings.Index(line, `"`)
	case strings.HasPrefix(text, "|") && strings.HasSuffix(text, "|") && p.step() != nil:
		p.step().rows = append(p.step().rows, cells(text))
	default:
		return fmt.Errorf("unexpected line %q", text)
	}
	return nil
}

// quote reads a line of quoted text.
func (p *parser) quote(line, text string) error {
	s := p.step()
	if s == nil {
		return fmt.Errorf("quoted text without a step")
	}
	if text == `"""` {
		p.quoted = false
		return nil
	}
	indent := min(p.indent, len(line)-len(strings.TrimLeft(line, " ")))
	s.doc = append(s.doc, strings.TrimRight(line[indent:], " "))
	return nil
}

// step returns the current step, or nil.
func (p *parser) step() *step {
	if len(p.scenarios) == 0 {
		return nil
	}
	steps := p.scenarios[len(p.scenarios)-1].steps
	if len(steps) == 0 {
		return nil
	}
	return &steps[len(steps)-1]
}

// cells parses a line of a table, in which backslashes are doubled.
func cells(text string) []string {
	parts := strings.Split(strings.Trim(text, "|"), "|")
	for i := range parts {
		parts[i] = strings.ReplaceAll(strings.TrimSpace(parts[i]), `\\`, `\`)
	}
	return parts
}
