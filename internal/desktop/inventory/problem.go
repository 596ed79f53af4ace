package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/fault"
)

// A Problem is one error in an inventory.
type Problem struct {
	Line    int
	Path    string // "domains[0].dns_name"; empty for the file as a whole
	Message string // follows the path: "must be a DNS name"
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d: %s", p.Line, strings.TrimSpace(p.Path+" "+p.Message))
}

// Problems are all errors of an inventory, ordered by line.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, each := range p {
		lines[i] = each.String()
	}
	return "\n" + strings.Join(lines, "\n")
}

// fault returns the problems as a fault, or nil when there are none.
func (p Problems) fault() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	details := make([]fault.Detail, len(p))
	for i, each := range p {
		details[i] = fault.Detail{Path: each.Path, Message: fmt.Sprintf("%s (line %d)", each.Message, each.Line)}
	}
	return &fault.Error{Kind: fault.Invalid, Message: "the inventory has errors", Details: details, Err: p}
}
