// Package gcp answers what rules ask of firewalls and IAM policies of Google
// Cloud. docs/predicates.md says in words what the answers mean.
package gcp

import "github.com/tidwall/gjson"

// texts returns the strings of a list.
func texts(v gjson.Result) (all []string) {
	for _, e := range v.Array() {
		all = append(all, e.String())
	}
	return all
}
