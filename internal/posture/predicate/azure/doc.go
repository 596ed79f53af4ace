// Package azure implements the predicates of Azure, on network security groups,
// conditional access policies, role assignments and network settings.
// docs/predicates.md defines them in words.
package azure

import (
	"strings"

	"github.com/tidwall/gjson"
)

// texts returns the strings of a value, which may be a string, a list or a nested list.
func texts(v gjson.Result) (all []string) {
	switch {
	case v.Type == gjson.String, v.Type == gjson.Number:
		return []string{v.String()}
	case v.IsArray():
		for _, e := range v.Array() {
			all = append(all, texts(e)...)
		}
	}
	return all
}

// has reports whether a list contains a string, ignoring case.
func has(list []string, value string) bool {
	for _, v := range list {
		if strings.EqualFold(v, value) {
			return true
		}
	}
	return false
}

// hasAny reports whether a value is a list that is not empty, an object that has such
// a member, or another value that is neither null nor "".
func hasAny(v gjson.Result) bool {
	switch {
	case v.IsArray():
		return len(v.Array()) > 0
	case v.IsObject():
		found := false
		v.ForEach(func(_, member gjson.Result) bool {
			found = hasAny(member)
			return !found
		})
		return found
	}
	return v.String() != ""
}
