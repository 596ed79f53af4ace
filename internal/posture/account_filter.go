package posture

import (
	"slices"
	"strings"
)

// AccountFilter selects accounts. Empty members do not filter.
type AccountFilter struct {
	Providers    []Provider
	Statuses     []AccountStatus
	Rollups      []RollupStatus
	Streams      []StreamStatus
	IDs          []string
	Environments []string
	Tags         map[string][]string // by name: the account must have one of the values, or any value if the list is empty
}

// Matches reports whether the filter selects the account.
func (f AccountFilter) Matches(a Account) bool {
	env := ""
	if a.Environment != nil {
		env = *a.Environment
	}
	if !isEmptyOrContains(f.Providers, a.Provider) || !isEmptyOrContains(f.Statuses, a.Status.Value) || !isEmptyOrContains(f.Rollups, a.Rollup.Value) ||
		!isEmptyOrContains(f.Streams, a.Stream.Value) || !isEmptyOrContains(f.IDs, string(a.ID)) || !isEmptyOrContains(f.Environments, env) {
		return false
	}
	for name, values := range f.Tags {
		if !slices.ContainsFunc(tagValues(a.Tags, name), func(v string) bool { return isEmptyOrContains(values, v) }) {
			return false
		}
	}
	return true
}

// isEmptyOrContains reports whether set is empty or contains v, ignoring case.
func isEmptyOrContains[T ~string](set []T, v T) bool {
	if len(set) == 0 {
		return true
	}
	_, ok := findFold(string(v), set)
	return ok
}

// tagValues returns the values of the tags with a name, ignoring case.
func tagValues(tags map[string]string, name string) []string {
	var values []string
	for k, v := range tags {
		if strings.EqualFold(k, name) {
			values = append(values, v)
		}
	}
	return values
}
