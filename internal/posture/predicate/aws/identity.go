package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// An Identity holds the permissions of a user, group or role: the statements of
// all policies that apply to it (inline, attached and of its groups) and its
// permissions boundary.
type Identity struct {
	ARN      string // of the user, group or role; "" when it is not known
	Policies []Policy
	Boundary *Policy // nil when there is none
	// Unread is the reason why a policy or the boundary could not be read, "" when all were
	// read.
	Unread string
}

// grants are the actions by which an identity can give itself any permission on
// the resource of the action.
var grants = []string{
	"iam:putuserpolicy", "iam:putgrouppolicy", "iam:putrolepolicy", "iam:attachuserpolicy", "iam:attachgrouppolicy", "iam:attachrolepolicy",
	"iam:createpolicyversion",
}

// Admin decides whether an identity may do everything: a statement allows every
// action, or all except some that do not prevent granting further permissions,
// on every resource, and neither a Deny nor the boundary prevents granting.
//
// Conditions on the caller, such as a second factor, are ignored. With
// conditions on the resource or the request, the identity is not an
// administrator.
func (i Identity) Admin() predicate.Answer {
	allowed := i.allows(Statement.isBroad, grants)
	return i.complete(allowed)
}

// complete takes unread policies into account: an unread policy may allow or
// deny more, and an unread boundary may allow less.
func (i Identity) complete(a predicate.Answer) predicate.Answer {
	if i.Unread != "" {
		return predicate.NotKnown(i.Unread)
	}
	return a
}

// isBroad reports whether a statement covers every action, or all except some, on every resource.
func (s Statement) isBroad() bool {
	return (s.Actions.isAll() || s.Actions.Except) && s.onEverything()
}

// onEverything reports whether a statement covers every resource, or all except some.
func (s Statement) onEverything() bool {
	return s.Resources.isAll() || s.Resources.Except && !slices.ContainsFunc(s.Resources.List, func(p string) bool { return covers(p, "*") })
}

// allows decides whether a statement for which kind returns true allows one of the
// actions without conditions on the resource or the request, and neither a Deny for
// every resource nor the boundary prevents it.
func (i Identity) allows(kind func(Statement) bool, actions []string) predicate.Answer {
	return i.allowsIf(kind, actions, Statement.unrestricted)
}

// allowsIf is allows with another decision about the conditions of a statement.
func (i Identity) allowsIf(kind func(Statement) bool, actions []string, conditions func(Statement) predicate.Answer) predicate.Answer {
	var all []predicate.Answer
	for _, p := range i.Policies {
		for _, s := range p.Statements {
			if !s.Allow || !kind(s) {
				continue
			}
			for _, action := range actions {
				if s.Actions.has(action) {
					all = append(all, predicate.And(conditions(s), i.leavesAllowed(action)))
				}
			}
		}
	}
	return predicate.Or(all...)
}

// callerKeys are the condition keys, or prefixes of them, that concern the
// caller and its session. The holder of the permission can meet conditions on
// them.
var callerKeys = []string{
	"aws:multifactorauth", "aws:principal", "aws:userid", "aws:username", "aws:sourceip", "aws:sourcevpc", "aws:vpcsourceip", "aws:vpce", "aws:securetransport",
	"aws:useragent", "aws:referer", "aws:currenttime", "aws:epochtime", "aws:tokenissuetime", "aws:federatedprovider", "aws:sourceidentity",
	"aws:requestedregion", "aws:ec2instancesource", "saml:", "cognito-identity.amazonaws.com:",
}

func isCallerKey(key string) bool {
	return slices.ContainsFunc(callerKeys, func(k string) bool { return strings.HasPrefix(key, k) })
}

// unrestricted decides whether the holder of a permission can use it for everything:
// its conditions concern only the holder, not the resource or the request.
func (s Statement) unrestricted() predicate.Answer {
	for _, c := range s.Conditions {
		switch t := c.test(); {
		case t.kind == unknownTest:
			return predicate.NotKnown("the condition operator " + c.Operator + " is not supported")
		case !isCallerKey(c.Key):
			return predicate.Of(false, "")
		case len(c.Values) == 0 && !t.negated && !t.ifExists && !t.forAll:
			return predicate.Of(false, "") // no caller meets it
		}
	}
	return predicate.Of(true, "a statement allows it on every resource")
}

// leavesAllowed decides whether Deny statements and the boundary leave an action
// allowed on every resource.
func (i Identity) leavesAllowed(action string) predicate.Answer {
	out := predicate.Of(true, "")
	for _, p := range i.Policies {
		out = predicate.And(out, p.leavesAllowed(action))
	}
	if i.Boundary != nil {
		out = predicate.And(out, i.Boundary.leavesAllowed(action), i.Boundary.boundaryAllows(action))
	}
	return out
}

// leavesAllowed decides whether the Deny statements of a policy leave an action
// allowed. A Deny with a condition leaves it allowed: the holder can avoid meeting
// the condition.
func (p Policy) leavesAllowed(action string) predicate.Answer {
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
				out = predicate.NotKnown("the condition operator " + c.Operator + " is not supported")
			}
		}
	}
	return out
}

// boundaryAllows decides whether a boundary allows an action on every resource.
func (p Policy) boundaryAllows(action string) predicate.Answer {
	var all []predicate.Answer
	for _, s := range p.Statements {
		if s.Allow && s.Actions.has(action) && s.onEverything() {
			all = append(all, s.unrestricted())
		}
	}
	return predicate.Or(all...)
}
