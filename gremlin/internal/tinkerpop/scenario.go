package tinkerpop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Scenario is a query and what is expected of it. The tags are those by which a
// file of scenarios, one JSON object a line, names its members.
type Scenario struct {
	ID          string      `json:"id"`
	Tags        []string    `json:"tags"`
	Graph       string      `json:"graph"`
	Setup       string      `json:"setup"`
	Params      [][2]string `json:"params"`
	SideEffects [][2]string `json:"sideEffects"`
	Gremlin     string      `json:"gremlin"`
	When        string      `json:"when"`
	Expect      Expectation `json:"expect"`

	// LeftOut says why an engine that only reads is not held to the scenario. It is
	// empty when it is.
	LeftOut string `json:"-"`
}

// An Expectation says what the results of a scenario are. Also holds what is to
// be true besides.
type Expectation struct {
	Kind    string        `json:"kind"`
	Header  string        `json:"header"`
	Values  []string      `json:"values"`
	Count   int           `json:"count"`
	Match   string        `json:"match"`
	Message string        `json:"message"`
	Also    []Expectation `json:"also"`
}

// The two ways a scenario takes its results.
const (
	ToList = "iterated to list"
	Next   = "iterated next"
)

// ReadScenarios reads a scenario file: one JSON object a line.
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
			return nil, fmt.Errorf("read scenario of line %d: unknown %q", n, s.When)
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

// String writes what is expected in one line.
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

// Brief writes texts in one line, cut where there are very many.
func Brief(texts []string) string {
	const most = 60
	if len(texts) > most {
		return strings.Join(texts[:most], " | ") + fmt.Sprintf(" | and %d more", len(texts)-most)
	}
	return strings.Join(texts, " | ")
}
