package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// A Trust is a principal that a trust policy allows.
type Trust struct {
	Principal  string
	Restricted predicate.Truth // a condition requires more than the identity of the principal
}

// Trusts returns the sorted distinct principals that a trust policy allows,
// except those that an unconditional Deny excludes.
func (p Policy) Trusts() []Trust {
	var all []Trust
	for _, s := range p.Statements {
		if !s.Allow {
			continue
		}
		for _, principal := range p.admitted(s) {
			t := Trust{principal, s.restricted()}
			if i := slices.IndexFunc(all, func(o Trust) bool { return o.Principal == principal }); i < 0 {
				all = append(all, t)
			} else if all[i].Restricted != predicate.No && t.Restricted != predicate.Yes {
				// The least restrictive statement decides: No overrides Unknown, and Unknown overrides Yes.
				all[i].Restricted = t.Restricted
			}
		}
	}
	slices.SortFunc(all, func(a, b Trust) int { return strings.Compare(a.Principal, b.Principal) })
	return all
}

// admitted returns the principals that an Allow statement names and no unconditional Deny
// excludes. A Deny with NotPrincipal excludes "*", but not the principals that it names.
func (p Policy) admitted(s Statement) []string {
	names := slices.Clone(s.Principals.Names)
	if s.Principals.Except {
		names = []string{"*"}
	}
	denies := p.denied(s.Actions)
	if slices.Contains(names, "*") {
		for _, denied := range denies {
			if denied.Except {
				names = append(names, denied.Names...)
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return s.Principals.Except && slices.Contains(s.Principals.Names, name) || excludes(denies, name)
	})
}

// excludes reports whether one of the Deny statements that [Policy.denied] returned excludes a principal.
func excludes(denies []Principals, principal string) bool {
	return slices.ContainsFunc(denies, func(denied Principals) bool {
		named := slices.Contains(denied.Names, principal) || slices.Contains(denied.Names, "*")
		return named != denied.Except // a Deny with NotPrincipal applies to those that it does not name
	})
}

// denied returns the principals of every Deny without conditions that covers all of the actions.
func (p Policy) denied(actions Patterns) []Principals {
	var all []Principals
	for _, d := range p.Statements {
		if !d.Allow && d.Principals.Given && len(d.Conditions) == 0 && d.Actions.contains(actions) {
			all = append(all, d.Principals)
		}
	}
	return all
}

// restricted decides whether the conditions of a statement require more of a
// caller than its identity: an external id, a second factor, an organisation, an
// address.
func (s Statement) restricted() predicate.Truth {
	out := predicate.No
	for _, c := range s.Conditions {
		switch c.restricts().Truth {
		case predicate.Yes:
			return predicate.Yes
		case predicate.Unknown:
			out = predicate.Unknown
		}
	}
	return out
}

// restricts decides for one condition what restricted decides for a statement.
func (c Condition) restricts() predicate.Answer {
	t := c.test()
	if t.kind == unknownTest {
		return predicate.NotKnown(c.Operator)
	}
	switch c.Key {
	case "sts:externalid":
		demands := (t.kind == exactTest || t.kind == likeTest) && !t.negated && !t.ifExists && !t.forAll
		// A value that is empty, or a pattern of wildcards only, accepts any external id.
		acceptsAny := func(v string) bool { return v == "" || t.kind == likeTest && strings.Trim(v, "*?") == "" }
		return predicate.Of(demands && !slices.ContainsFunc(c.Values, acceptsAny), "")
	case "aws:multifactorauthpresent":
		readsFlag := t.kind == boolTest || t.kind == exactTest || t.kind == likeTest
		return predicate.Of(readsFlag && c.demandsFlag(t), "")
	case "aws:multifactorauthage":
		// NumericLessThan and NumericLessThanEquals demand a recent second factor. ForAllValues is
		// also true without one.
		operator := strings.TrimPrefix(strings.ToLower(c.Operator), "foranyvalue:")
		return predicate.Of(!t.ifExists && strings.HasPrefix(operator, "numericless"), "")
	}
	return predicate.Not(c.admits()) // any other condition restricts if strangers cannot meet it
}
