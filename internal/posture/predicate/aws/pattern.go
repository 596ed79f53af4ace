package aws

import (
	"errors"
	"slices"
	"strings"
)

// Patterns are a set of actions or resources, as patterns: * matches any text, ? one
// character. The zero value is the empty set.
type Patterns struct {
	Except bool // the set is everything except what the patterns match
	List   []string
}

// newPatterns returns the set that a member of a statement declares: yes is the member, such as
// Action, and not is its Not counterpart. Without both, the set contains everything.
func newPatterns(yes, not *words, spell func(string) string) (Patterns, error) {
	var p Patterns
	switch {
	case yes != nil && not != nil:
		return p, errors.New("a member and its Not counterpart exclude each other")
	case yes == nil && not == nil:
		return Patterns{List: []string{"*"}}, nil
	case not != nil:
		p.Except, yes = true, not
	}
	for _, w := range *yes {
		p.List = append(p.List, spell(w))
	}
	return p, nil
}

// isAll reports whether the set contains everything.
func (p Patterns) isAll() bool {
	if p.Except {
		return len(p.List) == 0
	}
	return slices.ContainsFunc(p.List, func(one string) bool {
		one = anyNonEmpty.Replace(one)
		return covers(one, "*") || covers(one, "*:*")
	})
}

// anyNonEmpty replaces ?* and *?, which match any text that is not empty, by *. No action or
// resource is empty.
var anyNonEmpty = strings.NewReplacer("?*", "*", "*?", "*")

// has reports whether the set contains every text that a pattern matches.
func (p Patterns) has(pattern string) bool {
	if p.Except {
		return !slices.ContainsFunc(p.List, func(one string) bool { return overlaps(one, pattern) })
	}
	return slices.ContainsFunc(p.List, func(one string) bool { return covers(one, pattern) })
}

// contains reports whether the set contains another set. It also returns false if a pattern
// of the other set is covered only by several patterns together.
func (p Patterns) contains(o Patterns) bool {
	switch {
	case !o.Except:
		return !slices.ContainsFunc(o.List, func(pattern string) bool { return !p.has(pattern) })
	case !p.Except: // o is everything except some patterns
		return p.isAll()
	}
	// Both are complements: p contains o if o excepts everything that p excepts.
	for _, excepted := range p.List {
		if !slices.ContainsFunc(o.List, func(pattern string) bool { return covers(pattern, excepted) }) {
			return false
		}
	}
	return true
}

// pieces splits the set into sets of one pattern each. A complement is one piece.
func (p Patterns) pieces() []Patterns {
	if p.Except {
		return []Patterns{p}
	}
	all := make([]Patterns, len(p.List))
	for i, one := range p.List {
		all[i] = Patterns{List: []string{one}}
	}
	return all
}

// covers reports whether a pattern matches every text that the other pattern matches.
func covers(pattern, other string) bool {
	// Only a wildcard of pattern can cover a wildcard of other. So other is matched as a text in
	// which * is not a regular character: it is covered by a *, and by no ? alone.
	var retry bool // after a *: it can match one character more
	var retryPattern, retryOther string
	for pattern != "" || other != "" {
		if least, rest, ok := anyOfLength(pattern); ok {
			for ; least > 0; other = other[1:] {
				if other == "" {
					return false
				}
				if other[0] != '*' { // a * can match nothing
					least--
				}
			}
			pattern, retry, retryPattern, retryOther = rest, true, rest, other
			continue
		}
		switch {
		case pattern != "" && other != "" && other[0] != '*' && (pattern[0] == '?' || pattern[0] == other[0]):
			pattern, other = pattern[1:], other[1:]
		case retry && retryOther != "":
			retryOther = retryOther[1:]
			pattern, other = retryPattern, retryOther
		default:
			return false
		}
	}
	return true
}

// anyOfLength splits off the wildcards at the beginning of a pattern if one of them is a *. In
// whatever order they are, they match any text of at least as many characters as there are ?s.
func anyOfLength(pattern string) (least int, rest string, ok bool) {
	rest = strings.TrimLeft(pattern, "*?")
	wildcards := pattern[:len(pattern)-len(rest)]
	return strings.Count(wildcards, "?"), rest, strings.Contains(wildcards, "*")
}

// overlaps reports whether some text matches both patterns.
func overlaps(a, b string) bool {
	after := make([]bool, len(b)+1) // after[j]: some text matches both a[i+1:] and b[j:]; for i == len(a) all are false
	for i := len(a); i >= 0; i-- {
		here := make([]bool, len(b)+1) // the same for a[i:]
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				here[j] = true
			case i < len(a) && a[i] == '*':
				here[j] = after[j] || j < len(b) && here[j+1]
			case j < len(b) && b[j] == '*':
				here[j] = here[j+1] || after[j]
			case j < len(b): // if i == len(a), after[j+1] is false and a[i] is not evaluated
				here[j] = after[j+1] && (a[i] == b[j] || a[i] == '?' || b[j] == '?')
			}
		}
		after = here
	}
	return after[0]
}
