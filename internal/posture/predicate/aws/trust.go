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
// except those that an unconditional Deny names.
func (p Policy) Trusts() []Trust {
	var all []Trust
	for _, s := range p.Statements {
		if !s.Allow {
			continue
		}
		names := s.Principals.Names
		if s.Principals.Except {
			names = []string{"*"}
		}
		for _, principal := range names {
			if p.excludes(principal, s.Actions) {
				continue
			}
			t := Trust{principal, s.restricted()}
			if i := slices.IndexFunc(all, func(o Trust) bool { return o.Principal == principal }); i < 0 {
				all = append(all, t)
			} else if all[i].Restricted != predicate.No && t.Restricted != predicate.Yes {
				all[i].Restricted = t.Restricted // the least restrictive statement decides
			}
		}
	}
	slices.SortFunc(all, func(a, b Trust) int { return strings.Compare(a.Principal, b.Principal) })
	return all
}

// excludes reports whether a Deny without conditions excludes a principal.
func (p Policy) excludes(principal string, actions Patterns) bool {
	return slices.ContainsFunc(p.Statements, func(d Statement) bool {
		if d.Allow || len(d.Conditions) > 0 || !d.Actions.contains(actions) {
			return false
		}
		matches := slices.Contains(d.Principals.Names, principal) || slices.Contains(d.Principals.Names, "*")
		return matches != d.Principals.Except && d.Principals.Given
	})
}

// restricted decides whether the conditions of a statement require more of a
// caller than its identity: an external id, a second factor, an organisation, an
// address.
func (s Statement) restricted() predicate.Truth {
	out := predicate.No
	for _, c := range s.Conditions {
		switch one := c.restricts(); {
		case one.Truth == predicate.Yes:
			return predicate.Yes
		case one.Truth == predicate.Unknown:
			out = predicate.Unknown
		}
	}
	return out
}

// restricts decides for one condition what restricted decides for a statement.
func (c Condition) restricts() predicate.Answer {
	t := c.test()
	switch c.Key {
	case "sts:externalid":
		if t.kind == unknownTest {
			return predicate.NotKnown(c.Operator)
		}
		// A value that is empty, or a pattern of wildcards only, accepts any external id.
		demands := (t.kind == exactTest || t.kind == likeTest) && !t.negated && !t.ifExists && !t.forAll
		return predicate.Of(demands && !slices.ContainsFunc(c.Values, func(v string) bool {
			return v == "" || open(expand(v), t.kind == likeTest) && strings.Trim(v, "*?") == ""
		}), "")
	case "aws:multifactorauthpresent":
		yes := !slices.ContainsFunc(c.Values, func(v string) bool { return !strings.EqualFold(v, "true") })
		return predicate.Of(t.kind == boolTest && yes && !t.ifExists && !t.forAll, "")
	case "aws:multifactorauthage":
		return predicate.Of(!t.ifExists && strings.HasPrefix(strings.ToLower(c.Operator), "numericless"), "")
	}
	return predicate.Not(c.admits())
}
