// Package gcp implements the predicates of Google Cloud, on firewalls and IAM
// policies. docs/predicates.md defines them in words.
package gcp

import "github.com/tidwall/gjson"

// texts returns the strings of a list.
func texts(v gjson.Result) (all []string) {
	for _, e := range v.Array() {
		all = append(all, e.String())
	}
	return all
}
