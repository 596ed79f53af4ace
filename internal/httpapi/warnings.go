package httpapi

import (
	"fmt"
	"reflect"
	"strings"
)

// Warnings are sentences that name the members of a request's body that were
// ignored because nobody knows them. A field of this type, in the struct that a
// request fills, takes them. Members of the body itself are not among them:
// clients send what other versions of an operation take. Those further inside
// are filters, sorts and the like, where a misspelt name changes the answer.
type Warnings []string

// maxWarnings is how many ignored members one answer names.
const maxWarnings = 20

// ignored notes the member at the current path, which the plan does not have.
func (d *decoder) ignored(name string, p *plan) {
	if len(d.path) < 2 || len(d.warnings) >= maxWarnings {
		return
	}
	warning := fmt.Sprintf("%s is not known and was ignored", d.where())
	if nearest := p.nearest(name); nearest != "" {
		d.pop()
		warning += fmt.Sprintf("; the nearest known member is %s.%s", d.where(), nearest)
		d.push(name, 0)
	}
	d.warnings = append(d.warnings, warning+".")
}

// setWarnings puts what was noted into the field that takes it, if there is one.
func (d *decoder) setWarnings(v reflect.Value) {
	if len(d.warnings) == 0 || v.Kind() != reflect.Struct {
		return
	}
	if p := planOf(v.Type()); p.warnings != nil {
		v.FieldByIndex(p.warnings).Set(reflect.ValueOf(d.warnings))
	}
}

// nearest returns the member whose name differs least from a name.
func (p *plan) nearest(name string) string {
	best, least := "", 1<<30
	name = strings.ToLower(short(name))
	for _, m := range p.members {
		known := strings.ToLower(m.name)
		distance := editDistance(name, known)
		if strings.Contains(known, name) || strings.Contains(name, known) {
			distance /= 2 // "account" is nearer to cloudAccountIds than to a short word
		}
		if distance < least {
			best, least = m.name, distance
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements of bytes that
// make one text the other (Levenshtein).
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
