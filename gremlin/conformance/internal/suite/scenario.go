package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Scenario is one line of a scenario file.
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
	whenList = "iterated to list"
	whenNext = "iterated next"
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
		if s.When != whenList && s.When != whenNext {
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
