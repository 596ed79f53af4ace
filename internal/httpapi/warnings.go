package httpapi

import (
	"fmt"
	"reflect"
	"strings"
)

// Warnings are messages about unknown members in a request's body, which were
// ignored. A field of this type in the input struct receives them. Unknown
// members at the top level cause no warning: clients send members of other
// versions of an operation. Nested ones are filters, sorts and the like, where
// a misspelt name changes the result.
type Warnings []string

// maxWarnings limits the warnings in one response.
const maxWarnings = 20

// warnIgnored adds a warning about an unknown member. The current path ends with its name;
// the plan has the known members of the same object.
func (d *decoder) warnIgnored(name string, p *plan) {
	if len(d.path) < 2 || len(d.warnings) >= maxWarnings {
		return
	}
	warning := fmt.Sprintf("%s is not known and was ignored", d.where())
	if nearest := p.nearest(name); nearest != "" {
		object := textOf(d.path[:len(d.path)-1])
		warning += fmt.Sprintf("; the nearest known member is %s.%s", object, nearest)
	}
	d.warnings = append(d.warnings, warning+".")
}

// setWarnings stores the warnings in the struct's field of type Warnings, if it
// has one.
func (d *decoder) setWarnings(v reflect.Value) {
	if len(d.warnings) == 0 || v.Kind() != reflect.Struct {
		return
	}
	if p := planOf(v.Type()); p.warnings != nil {
		v.FieldByIndex(p.warnings).Set(reflect.ValueOf(d.warnings))
	}
}

// nearest returns the member whose name has the smallest edit distance to a
// name.
func (p *plan) nearest(name string) string {
	best, least := "", 1<<30
	name = strings.ToLower(short(name))
	for _, m := range p.members {
		known := strings.ToLower(m.name)
		distance := editDistance(name, known)
		if strings.Contains(known, name) || strings.Contains(name, known) {
			distance /= 2 // a substring counts half: "account" is nearer to cloudAccountIds than to a short word
		}
		if distance < least {
			best, least = m.name, distance
		}
	}
	return best
}

// editDistance returns the Levenshtein distance of two texts in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
