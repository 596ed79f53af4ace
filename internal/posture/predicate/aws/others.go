package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// Others decides whether the policy of an S3 bucket allows one of the actions to principals
// of accounts other than the owner's. A condition does not take the permission away from a
// named principal. Actions are in lower case.
func (p Policy) Others(owner, bucket string, actions []string) predicate.Answer {
	var all []predicate.Answer
	for _, s := range p.Statements {
		if !s.Allow {
			continue
		}
		for _, action := range actions {
			resource := "arn:aws:s3:::" + bucket
			if action == "s3:putobjectacl" {
				resource += "/*"
			}
			if !s.Actions.has(action) || !s.Resources.touches(resource) {
				continue
			}
			denies := func(principal string) bool {
				return slices.ContainsFunc(p.Statements, func(d Statement) bool {
					return !d.Allow && len(d.Conditions) == 0 && d.Actions.has(action) && d.Resources.inAnyPartition(resource) && d.Principals.include(principal, owner)
				})
			}
			all = append(all, s.admitsOthers(owner, denies))
		}
	}
	return predicate.Or(all...)
}

// touches reports whether the set contains one of the resources that a pattern matches, in
// any AWS partition.
func (p Patterns) touches(resource string) bool {
	if p.Except {
		return !Patterns{List: p.List}.inAnyPartition(resource)
	}
	return slices.ContainsFunc(partitions, func(partition string) bool {
		inPartition := partition + strings.TrimPrefix(resource, "arn:aws:")
		return slices.ContainsFunc(p.List, func(one string) bool { return overlaps(one, inPartition) })
	})
}

// include reports whether the set contains a principal; "*" stands for every principal of
// other accounts.
func (p Principals) include(principal, owner string) bool {
	if p.Except && principal == "*" { // everybody but p.Names: this includes all others unless one of p.Names is of another account
		return !slices.ContainsFunc(p.Names, func(name string) bool { return name == "*" || isOther(strings.TrimPrefix(name, "AWS:"), owner) })
	}
	matches := slices.Contains(p.Names, principal) || slices.Contains(p.Names, "*")
	return matches != p.Except
}

// admitsOthers decides whether a statement applies to principals of other accounts, except
// those to whom it is denied.
func (s Statement) admitsOthers(owner string, denied func(string) bool) predicate.Answer {
	if s.Principals.everybody() && !denied("*") {
		return s.admitsOthersOfEverybody(owner)
	}
	var all []predicate.Answer
	for _, name := range s.Principals.Names {
		switch kind, value, _ := strings.Cut(name, ":"); {
		case s.Principals.Except || denied(name):
		case kind == "AWS":
			all = append(all, predicate.Of(isOther(value, owner), "it allows "+value))
		case kind == "CanonicalUser":
			all = append(all, predicate.NotKnown("the account of the canonical user "+value+" is not known"))
		}
	}
	return predicate.Or(all...)
}

// admitsOthersOfEverybody is admitsOthers for a statement that applies to everybody, whose
// conditions may limit it to principals of the owner. Conditions that limit it to an
// organisation or a network do not tell to which accounts the principals belong.
func (s Statement) admitsOthersOfEverybody(owner string) predicate.Answer {
	if s.meets().Truth == predicate.Yes {
		return predicate.Of(true, "it allows everybody")
	}
	if slices.ContainsFunc(s.Conditions, func(c Condition) bool { return c.demandsOwner(owner) }) {
		return predicate.Of(false, "")
	}
	return predicate.NotKnown("a condition limits a statement that applies to everybody")
}

// demandsOwner reports whether only principals of the owner's account meet a condition.
func (c Condition) demandsOwner(owner string) bool {
	t := c.test()
	if t.negated || t.isMetWithoutKey() {
		return false
	}
	if t.kind != exactTest && t.kind != likeTest {
		return false
	}
	return !slices.ContainsFunc(c.Values, func(value string) bool {
		switch c.Key {
		case "aws:principalaccount":
			return value != owner
		case "aws:principalarn":
			return accountOf(value) != owner
		}
		return true // other keys do not tell the account
	})
}

// isOther reports whether a principal belongs to another account. A principal without an account
// id does not: it is a deleted user or role, or an origin access identity of CloudFront.
func isOther(principal, owner string) bool {
	account := accountOf(principal)
	return isAccount(account) && account != owner
}

// accountOf returns the account in an ARN, "" for any other text.
func accountOf(arn string) string {
	if field := strings.SplitN(arn, ":", 6); len(field) == 6 {
		return field[4]
	}
	return ""
}
