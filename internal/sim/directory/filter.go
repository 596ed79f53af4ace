package directory

import (
	"slices"
	"strconv"
	"strings"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"
)

// The directory's extensible matching rules.
const (
	ruleInChain = "1.2.840.113556.1.4.1941" // transitive membership
	ruleBitAnd  = "1.2.840.113556.1.4.803"
)

// truth is the value of a filter on an entry (RFC 4511, section 4.5.1.7).
type truth int

const (
	isFalse truth = iota
	undefined
	isTrue
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// matches reports whether an entry matches a filter.
func (d *domain) matches(f *ber.Packet, e *entry) bool { return d.evaluate(f, e) == isTrue }

// evaluate returns the value of a filter on an entry. Unsupported and malformed filters are undefined.
func (d *domain) evaluate(f *ber.Packet, e *entry) truth {
	switch f.Tag {
	case ldap.FilterAnd:
		all := isTrue
		for _, c := range f.Children {
			all = min(all, d.evaluate(c, e))
		}
		return all
	case ldap.FilterOr:
		some := isFalse
		for _, c := range f.Children {
			some = max(some, d.evaluate(c, e))
		}
		return some
	case ldap.FilterNot:
		if len(f.Children) != 1 {
			return undefined
		}
		return isTrue - d.evaluate(f.Children[0], e) // undefined stays undefined
	case ldap.FilterPresent:
		return truthOf(len(e.values(octets(f))) > 0)
	case ldap.FilterEqualityMatch, ldap.FilterApproxMatch:
		return matchComparison(f, e, strings.EqualFold)
	case ldap.FilterGreaterOrEqual:
		return matchComparison(f, e, func(value, want string) bool { return order(value, want) >= 0 })
	case ldap.FilterLessOrEqual:
		return matchComparison(f, e, func(value, want string) bool { return order(value, want) <= 0 })
	case ldap.FilterSubstrings:
		return hasSubstrings(f, e)
	case ldap.FilterExtensibleMatch:
		return d.matchExtensible(f, e)
	}
	return undefined
}

func matchComparison(f *ber.Packet, e *entry, test func(value, want string) bool) truth {
	if len(f.Children) != 2 {
		return undefined
	}
	name, want := octets(f.Children[0]), octets(f.Children[1])
	return truthOf(slices.ContainsFunc(e.values(name), func(value string) bool {
		// objectCategory is a distinguished name, but clients may also search for the
		// value of its first component.
		if strings.EqualFold(name, "objectCategory") {
			first, _, _ := strings.Cut(strings.TrimPrefix(value, "CN="), ",")
			return test(value, want) || test(first, want)
		}
		return test(value, want)
	}))
}

// order compares two values, as numbers if both are numbers.
func order(a, b string) int {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	if errX == nil && errY == nil {
		return int(min(1, max(-1, x-y)))
	}
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}

func hasSubstrings(f *ber.Packet, e *entry) truth {
	if len(f.Children) != 2 {
		return undefined
	}
	return truthOf(slices.ContainsFunc(e.values(octets(f.Children[0])), func(value string) bool {
		rest := strings.ToLower(value)
		for _, part := range f.Children[1].Children {
			want := strings.ToLower(octets(part))
			index := strings.Index(rest, want)
			switch {
			case index < 0, part.Tag == ldap.FilterSubstringsInitial && index > 0:
				return false
			case part.Tag == ldap.FilterSubstringsFinal:
				return strings.HasSuffix(rest, want)
			}
			rest = rest[index+len(want):]
		}
		return true
	}))
}

func (d *domain) matchExtensible(f *ber.Packet, e *entry) truth {
	var rule, name, value string
	for _, c := range f.Children {
		switch c.Tag {
		case ldap.MatchingRuleAssertionMatchingRule:
			rule = octets(c)
		case ldap.MatchingRuleAssertionType:
			name = octets(c)
		case ldap.MatchingRuleAssertionMatchValue:
			value = octets(c)
		}
	}
	switch {
	case rule == ruleInChain && strings.EqualFold(name, "memberOf"):
		direct := make([]string, 0, 4)
		for _, dn := range e.values("memberOf") {
			cn, _, _ := strings.Cut(strings.TrimPrefix(dn, "CN="), ",")
			direct = append(direct, cn)
		}
		return truthOf(slices.ContainsFunc(d.memberships(direct), func(g string) bool { return strings.EqualFold(d.groupDN(g), value) }))
	case rule == ruleBitAnd:
		want, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return undefined
		}
		return truthOf(slices.ContainsFunc(e.values(name), func(stored string) bool {
			n, err := strconv.ParseInt(stored, 10, 64)
			return err == nil && n&want == want
		}))
	case rule == "":
		return truthOf(slices.ContainsFunc(e.values(name), func(stored string) bool { return strings.EqualFold(stored, value) }))
	}
	return undefined
}
