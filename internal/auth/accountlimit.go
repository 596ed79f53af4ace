package auth

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"vigil/internal/fault"
)

// An AccountLimit restricts a user or an API token to some of the organisation's
// cloud accounts: those with one of the ids, and those with one of the tags. The
// zero value restricts nothing.
type AccountLimit struct {
	IDs  string // account ids, separated by commas
	Tags string // name=value, separated by line feeds
}

// Limits of an account limit.
const (
	maxLimitIDs  = 1000
	maxLimitTags = 1000 // values of all names together
)

// NewAccountLimit validates account ids and tags, which are lists of values by
// name, and returns the limit. It fails if there are neither ids nor tags: such
// a limit would allow no account.
func NewAccountLimit(ids []string, tags map[string][]string) (AccountLimit, error) {
	var accounts, pairs []string
	for _, id := range ids {
		id = strings.ToLower(strings.TrimSpace(id))
		if id == "" || len(id) > 64 || strings.ContainsFunc(id, func(c rune) bool {
			return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
		}) {
			return AccountLimit{}, fault.Field("limitedTo.cloudAccountIds", "must be ids of cloud accounts")
		}
		accounts = append(accounts, id)
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		for _, value := range tags[name] {
			if name == "" || strings.Contains(name, "=") || !printable(name, 128) || !printable(value, 256) {
				return AccountLimit{}, fault.Field("limitedTo.tags", "must be names of tags, each with a list of values")
			}
			pairs = append(pairs, name+"="+value)
		}
	}
	slices.Sort(accounts)
	slices.Sort(pairs)
	accounts, pairs = slices.Compact(accounts), slices.Compact(pairs)
	switch {
	case len(accounts) > maxLimitIDs:
		return AccountLimit{}, fault.Field("limitedTo.cloudAccountIds", "must have at most %d elements", maxLimitIDs)
	case len(pairs) > maxLimitTags:
		return AccountLimit{}, fault.Field("limitedTo.tags", "must have at most %d values", maxLimitTags)
	case len(accounts)+len(pairs) == 0:
		return AccountLimit{}, fault.Field("limitedTo", "must have account ids or tags")
	}
	return AccountLimit{strings.Join(accounts, ","), strings.Join(pairs, "\n")}, nil
}

func printable(s string, most int) bool {
	return len(s) <= most && !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) })
}

// IsZero reports whether the limit restricts nothing.
func (l AccountLimit) IsZero() bool { return l == AccountLimit{} }

// IDList returns the account ids, in lower case.
func (l AccountLimit) IDList() []string { return commaList(l.IDs) }

// TagLists returns the values by the names of tags.
func (l AccountLimit) TagLists() map[string][]string {
	out := map[string][]string{}
	if l.Tags == "" {
		return out
	}
	for pair := range strings.SplitSeq(l.Tags, "\n") {
		name, value, _ := strings.Cut(pair, "=")
		out[name] = append(out[name], value)
	}
	return out
}

// checkLimited returns an error for a limit of an admin, who manages the whole
// organisation.
func checkLimited(l AccountLimit, r Role) error {
	if !l.IsZero() && r == Admin {
		return fault.Field("limitedTo", "is for the roles viewer and analyst: an admin manages the whole organisation")
	}
	return nil
}
