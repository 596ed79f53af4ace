package tinkerpop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Scenario is a query and its expected results. The struct tags are the member
// names in a file of scenarios, which has one JSON object per line.
type Scenario struct {
	ID          string      `json:"id"`
	Tags        []string    `json:"tags"`
	Graph       string      `json:"graph"`
	Setup       string      `json:"setup"`
	Params      [][2]string `json:"params"`      // names and values
	SideEffects [][2]string `json:"sideEffects"` // names and values
	Gremlin     string      `json:"gremlin"`
	When        string      `json:"when"` // ToList or Next
	Expect      Expectation `json:"expect"`

	// LeftOut is the reason why the scenario does not apply to a read-only engine, or
	// empty.
	LeftOut string `json:"-"`
}

// An Expectation describes the results of a scenario. Kind says which of the other members
// have a value; see forms.
type Expectation struct {
	Kind    string        `json:"kind"`
	Header  string        `json:"header"` // first row of a table
	Values  []string      `json:"values"` // other rows of a table, or lines of a tree
	Count   int           `json:"count"`
	Match   string        `json:"match"` // containing, starting or ending: where the text of the error has Message
	Message string        `json:"message"`
	Also    []Expectation `json:"also"` // further expectations
}

// The two ways in which a scenario takes its results.
const (
	ToList = "iterated to list"
	Next   = "iterated next"
)

// ReadScenarios reads a scenario file with one JSON object per line.
func ReadScenarios(r io.Reader) ([]Scenario, error) {
	var all []Scenario
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var s Scenario
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("read scenario of line %d: %w", n, err)
		}
		if s.When != ToList && s.When != Next {
			return nil, fmt.Errorf("read scenario of line %d: unknown \"when\" %q", n, s.When)
		}
		all = append(all, s)
	}
	return all, lines.Err()
}

// Mentions reports whether the id, a tag or the query contains text.
func (s Scenario) Mentions(text string) bool {
	return strings.Contains(s.ID, text) || strings.Contains(s.Gremlin, text) ||
		slices.ContainsFunc(s.Tags, func(t string) bool { return strings.Contains(t, text) })
}

// String describes the expectation in one line.
func (e Expectation) String() string {
	switch e.Kind {
	case "error":
		return fmt.Sprintf("an error %s %q", e.Match, e.Message)
	case "empty":
		return "nothing"
	case "count":
		return fmt.Sprintf("%d results", e.Count)
	case "tree":
		return "a tree\n        " + strings.Join(e.Values, "\n        ")
	}
	return e.Kind + " " + Brief(e.Values)
}

// Brief joins texts in one line and truncates long lists.
func Brief(texts []string) string {
	const maxLength = 60
	if len(texts) > maxLength {
		return strings.Join(texts[:maxLength], " | ") + fmt.Sprintf(" | and %d more", len(texts)-maxLength)
	}
	return strings.Join(texts, " | ")
}
