package aws

import (
	"strings"

	"vigil/internal/posture/predicate"
)

// Others decides whether a resource policy allows one of the actions to principals of
// accounts other than the owner's. A condition does not take the permission away from a
// named principal. For everybody, a condition may limit the statement to principals of the
// owner, so the answer is unknown. Actions are in lower case.
func (p Policy) Others(owner string, actions []string) predicate.Answer {
	var all []predicate.Answer
	for _, s := range p.Statements {
		if !s.Allow || !s.Principals.Given {
			continue
		}
		for _, action := range actions {
			if s.Actions.has(action) && !p.deniesEverybody(action) {
				all = append(all, s.admitsOthers(owner))
			}
		}
	}
	return predicate.Or(all...)
}

// admitsOthers decides whether a statement applies to principals of other accounts.
func (s Statement) admitsOthers(owner string) predicate.Answer {
	if s.Principals.everybody() || s.Principals.Except {
		if len(s.Conditions) > 0 {
			return predicate.NotKnown("a condition limits a statement that applies to everybody")
		}
		return predicate.Of(true, "it allows everybody")
	}
	var all []predicate.Answer
	for _, name := range s.Principals.Names {
		switch kind, value, _ := strings.Cut(name, ":"); kind {
		case "AWS":
			field := strings.SplitN(value, ":", 6)
			// Without an account, the principal is the unique id of a deleted user or role.
			all = append(all, predicate.Of(len(field) == 6 && field[4] != owner, "it allows "+value))
		case "CanonicalUser":
			all = append(all, predicate.NotKnown("the account of the canonical user "+value+" is not known"))
		}
	}
	return predicate.Or(all...)
}

// deniesEverybody reports whether a statement denies everybody the action on every resource.
func (p Policy) deniesEverybody(action string) bool {
	for _, s := range p.Statements {
		if !s.Allow && s.Principals.everybody() && len(s.Conditions) == 0 && s.Actions.has(action) && s.onEverything() {
			return true
		}
	}
	return false
}
