package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// An Identity is what a user, group or role may do: the statements of all policies
// that apply to it, inline, attached and of its groups, and its permissions
// boundary.
type Identity struct {
	Policies []Policy
	Boundary *Policy // nil when there is none
	// Unread says why a policy, or the boundary, could not be read; "" when all
	// were.
	Unread string
}

// grants are the actions by which an identity can give itself any permission, on
// the resource that they are about.
var grants = []string{
	"iam:putuserpolicy", "iam:putgrouppolicy", "iam:putrolepolicy", "iam:attachuserpolicy", "iam:attachgrouppolicy", "iam:attachrolepolicy",
	"iam:createpolicyversion",
}

// Admin answers whether an identity may do everything to everything: a statement
// allows every action, or all but some that leave the permission to grant more, on
// every resource, and no Deny and no boundary takes the permission to grant away.
//
// Conditions on the caller, such as a second factor, do not make an administrator
// less of one. Conditions on the resource or the request do: then it is not
// everything.
func (i Identity) Admin() predicate.Answer {
	allowed := i.allows(Statement.isBroad, grants)
	return i.complete(allowed)
}

// complete takes into account what was not read: an unread policy may allow more,
// or deny, and an unread boundary may allow less.
func (i Identity) complete(a predicate.Answer) predicate.Answer {
	if i.Unread != "" {
		return predicate.NotKnown(i.Unread)
	}
	return a
}

// isBroad reports whether a statement is about every action, or about all but
// some, on every resource.
func (s Statement) isBroad() bool {
	return (s.Actions.isAll() || s.Actions.Except) && s.onEverything()
}

// onEverything reports whether a statement is about every resource, or all but
// some.
func (s Statement) onEverything() bool {
	return s.Resources.isAll() || s.Resources.Except && !slices.ContainsFunc(s.Resources.List, func(p string) bool { return covers(p, "*") })
}

// allows answers whether a statement of a certain kind allows one of the actions
// on every resource, and nothing takes it away.
func (i Identity) allows(kind func(Statement) bool, actions []string) predicate.Answer {
	var all []predicate.Answer
	for _, p := range i.Policies {
		for _, s := range p.Statements {
			if !s.Allow || !kind(s) {
				continue
			}
			for _, action := range actions {
				if s.Actions.has(action) {
					all = append(all, predicate.And(s.atWill(), i.leaves(action)))
				}
			}
		}
	}
	return predicate.Or(all...)
}

// callerKeys are the condition keys, or what they begin with, that are about the
// caller and its session, which the holder of the permission can see to.
var callerKeys = []string{
	"aws:multifactorauth", "aws:principal", "aws:userid", "aws:username", "aws:sourceip", "aws:sourcevpc", "aws:vpcsourceip", "aws:vpce", "aws:securetransport",
	"aws:useragent", "aws:referer", "aws:currenttime", "aws:epochtime", "aws:tokenissuetime", "aws:federatedprovider", "aws:sourceidentity",
	"aws:requestedregion", "aws:ec2instancesource", "saml:", "cognito-identity.amazonaws.com:",
}

func isCallerKey(key string) bool {
	return slices.ContainsFunc(callerKeys, func(k string) bool { return strings.HasPrefix(key, k) })
}

// atWill answers whether the holder of a permission can use it for everything: its
// conditions are about the holder, not about what is done to what.
func (s Statement) atWill() predicate.Answer {
	for _, c := range s.Conditions {
		switch t := c.test(); {
		case t.kind == unknownTest:
			return predicate.NotKnown("the condition operator " + c.Operator + " is not known")
		case !isCallerKey(c.Key):
			return predicate.Of(false, "")
		case len(c.Values) == 0 && !t.negated && !t.ifExists && !t.forAll:
			return predicate.Of(false, "") // nobody meets it
		}
	}
	return predicate.Of(true, "a statement allows it on every resource")
}

// leaves answers whether an action on every resource is left over by Deny
// statements and by the boundary.
func (i Identity) leaves(action string) predicate.Answer {
	out := predicate.Of(true, "")
	for _, p := range i.Policies {
		out = predicate.And(out, p.leaves(action))
	}
	if i.Boundary != nil {
		out = predicate.And(out, i.Boundary.leaves(action), i.Boundary.bounds(action))
	}
	return out
}

// leaves answers whether the Deny statements of a policy leave an action. One with
// a condition leaves it: the holder can see to it that the condition is not met.
func (p Policy) leaves(action string) predicate.Answer {
	out := predicate.Of(true, "")
	for _, d := range p.Statements {
		if d.Allow || !d.Actions.has(action) || !d.onEverything() {
			continue
		}
		if len(d.Conditions) == 0 {
			return predicate.Of(false, "")
		}
		for _, c := range d.Conditions {
			if c.test().kind == unknownTest {
				out = predicate.NotKnown("the condition operator " + c.Operator + " is not known")
			}
		}
	}
	return out
}

// bounds answers whether a boundary allows an action on every resource.
func (p Policy) bounds(action string) predicate.Answer {
	var all []predicate.Answer
	for _, s := range p.Statements {
		if s.Allow && s.Actions.has(action) && s.onEverything() {
			all = append(all, s.atWill())
		}
	}
	return predicate.Or(all...)
}
