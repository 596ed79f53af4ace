// Package azure answers what rules ask of network security groups, conditional
// access policies, role assignments and network settings of Azure. docs/predicates.md
// says in words what the answers mean.
package azure

import (
	"strings"

	"github.com/tidwall/gjson"
)

// texts returns the strings of a value that may be one, a list, or lists in it.
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

// has reports whether a list has a string, without regard to case.
func has(list []string, value string) bool {
	for _, v := range list {
		if strings.EqualFold(v, value) {
			return true
		}
	}
	return false
}

// hasAny reports whether a value is a list or object with anything in it, or
// another value than null.
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
	return v.Exists() && v.Type != gjson.Null && v.String() != ""
}
