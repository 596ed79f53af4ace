package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// Policy variables are replaced before values are compared. The owner controls
// those of the resource; the caller controls those of the request.
const (
	ownerMark  = "\x01" // a value that the owner controls
	callerMark = "\x02" // a value that the caller controls
	// literalMark stands for ${*} and ${?}, a star or question mark that is no wildcard. No value of
	// a request has this character, so a part with it matches nothing.
	literalMark = "\x03"
)

// expand replaces the variables in a value by marks.
func expand(value string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(value, "${")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			out.WriteString("${" + rest)
			return out.String()
		}
		name, _, _ = strings.Cut(strings.ToLower(name), ",") // the part after a comma is a default
		switch name {
		case "*", "?":
			out.WriteString(literalMark)
		case "$":
			out.WriteString(name)
		case "aws:resourceaccount", "aws:resourceorgid", "aws:resourceorgpaths":
			out.WriteString(ownerMark)
		default:
			out.WriteString(callerMark)
		}
		value = after
	}
}

// open reports whether strangers can match a part of a value: it has a wildcard,
// or a variable that the caller controls.
func open(part string, pattern bool) bool {
	return strings.Contains(part, callerMark) || pattern && strings.ContainsAny(part, "*?")
}

// fixes decides whether only callers that the owner of the policy chose can
// match a condition value. If values are compared exactly (pattern is false), a star
// is a literal character, which matches no caller.
func fixes(kind keyKind, value string, pattern bool) predicate.Answer {
	value = expand(value)
	switch kind {
	case accountKey, idKey:
		return predicate.Of(!open(value, pattern), "")
	case orgKey:
		id, _, _ := strings.Cut(value, "/")
		return predicate.Of(!open(id, pattern), "")
	case arnKey:
		return fixesARN(value, pattern)
	case providerKey:
		return fixesProvider(value, pattern)
	case userIDKey:
		id, _, _ := strings.Cut(value, ":")
		return predicate.Of(!open(id, pattern), "")
	case endpointKey:
		return fixesEndpoint(value, pattern)
	}
	return predicate.NotKnown("cannot decide who matches the value " + value)
}

// fixesARN is fixes for ARNs. An ARN contains an account id, or the name of a
// bucket, which is globally unique.
func fixesARN(value string, pattern bool) predicate.Answer {
	if !open(value, pattern) {
		return predicate.Of(true, "")
	}
	field := strings.SplitN(value, ":", 6)
	if len(field) >= 5 && field[0] == "arn" {
		account := field[4]
		// A wildcard after the 12 digits can match nothing more, because no account id is longer.
		if account == ownerMark || len(account) >= 12 && isAccount(account[:12]) {
			return predicate.Of(true, "")
		}
		if account == "" && len(field) == 6 && field[2] == "s3" {
			bucket, _, _ := strings.Cut(field[5], "/")
			return predicate.Of(!open(bucket, pattern), "")
		}
		if account == "" && len(field) == 6 && !open(strings.Join(field[:4], ""), pattern) {
			return predicate.NotKnown("the ARN " + value + " does not identify an account")
		}
		return predicate.Of(false, "")
	}
	for i := 0; i+12 <= len(value); i++ {
		if isAccount(value[i : i+12]) {
			return predicate.NotKnown("cannot decide whether " + value + " matches one account only")
		}
	}
	return predicate.Of(false, "")
}

// fixesProvider is fixes for identity providers. A provider that the owner created has an
// ARN. A provider that AWS knows by its name, such as accounts.google.com, issues identities to
// everybody.
func fixesProvider(value string, pattern bool) predicate.Answer {
	switch {
	case strings.HasPrefix(value, "arn:"), open(value, pattern):
		return fixesARN(value, pattern)
	case slices.Contains(consumerIssuers, strings.ToLower(value)):
		return predicate.Of(false, "")
	}
	return predicate.NotKnown("cannot decide whose identity provider " + value + " is")
}

// fixesEndpoint is fixes for targets of notifications: an address of a certain
// domain or host, or a resource of a certain account.
func fixesEndpoint(value string, pattern bool) predicate.Answer {
	if strings.HasPrefix(value, "arn:") {
		return fixesARN(value, pattern)
	}
	if _, host, ok := strings.Cut(value, "://"); ok {
		host, _, _ = strings.Cut(host, "/")
		return predicate.Of(!open(host, pattern), "")
	}
	if _, domain, ok := strings.Cut(value, "@"); ok {
		return predicate.Of(!open(domain, pattern) && domain != "", "")
	}
	return predicate.Of(!open(value, pattern), "")
}
