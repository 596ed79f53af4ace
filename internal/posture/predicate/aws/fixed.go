package aws

import (
	"strings"

	"vigil/internal/posture/predicate"
)

// Policy variables are replaced before values are compared. Those of the resource
// are the owner's; those of the request are whatever the caller makes them.
const (
	ownerMark  = "\x01" // stands for a value that the owner fixes
	callerMark = "\x02" // stands for a value that the caller chooses
)

// expand replaces the variables of a value by marks.
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
		switch name, _, _ = strings.Cut(strings.ToLower(name), ","); name { // what follows a comma is a default
		case "*", "?", "$":
			out.WriteString(name)
		case "aws:resourceaccount", "aws:resourceorgid", "aws:resourceorgpaths":
			out.WriteString(ownerMark)
		default:
			out.WriteString(callerMark)
		}
		value = after
	}
}

// open reports whether a part of a value can be met by strangers: it has a
// wildcard, or a variable that the caller chooses.
func open(part string, like bool) bool {
	return strings.Contains(part, callerMark) || like && strings.ContainsAny(part, "*?")
}

// fixes answers whether a value of a condition is met only by those whom the owner
// of the policy chose. In values that are compared exactly, wildcards are plain
// characters, so that nobody meets them.
func fixes(kind keyKind, value string, like bool) predicate.Answer {
	value = expand(value)
	switch kind {
	case accountKey, idKey:
		return predicate.Of(!open(value, like), "")
	case orgKey:
		id, _, _ := strings.Cut(value, "/")
		return predicate.Of(!open(id, like), "")
	case arnKey:
		return fixesARN(value, like)
	case userIDKey:
		id, _, _ := strings.Cut(value, ":")
		return predicate.Of(!open(id, like), "")
	case endpointKey:
		return fixesEndpoint(value, like)
	}
	return predicate.NotKnown("it is not known what fixes the value " + value)
}

// fixesARN answers for ARNs, which name an account, or a bucket, whose name is
// unique in the world.
func fixesARN(value string, like bool) predicate.Answer {
	if !open(value, like) {
		return predicate.Of(true, "")
	}
	field := strings.SplitN(value, ":", 6)
	if len(field) >= 5 && field[0] == "arn" {
		account := field[4]
		if account == ownerMark || len(account) >= 12 && isAccount(account[:12]) {
			return predicate.Of(true, "")
		}
		if account == "" && len(field) == 6 && field[2] == "s3" {
			bucket, _, _ := strings.Cut(field[5], "/")
			return predicate.Of(!open(bucket, like), "")
		}
		if account == "" && len(field) == 6 && field[2] != "s3" && !open(strings.Join(field[:4], ""), like) {
			return predicate.NotKnown("whose ARN " + value + " is cannot be told from it")
		}
		return predicate.Of(false, "")
	}
	for i := 0; i+12 <= len(value); i++ {
		if isAccount(value[i : i+12]) {
			return predicate.NotKnown("whether " + value + " holds for one account alone cannot be told")
		}
	}
	return predicate.Of(false, "")
}

// fixesEndpoint answers for where notifications go: to an address of a certain
// domain or host, or to a resource of a certain account.
func fixesEndpoint(value string, like bool) predicate.Answer {
	if strings.HasPrefix(value, "arn:") {
		return fixesARN(value, like)
	}
	if _, host, ok := strings.Cut(value, "://"); ok {
		host, _, _ = strings.Cut(host, "/")
		return predicate.Of(!open(host, like), "")
	}
	if _, domain, ok := strings.Cut(value, "@"); ok {
		return predicate.Of(!open(domain, like) && domain != "", "")
	}
	return predicate.Of(!open(value, like), "")
}
