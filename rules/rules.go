// Package rules holds the rules that come with the product: one file each, in
// <provider>/<service>/<name>.yaml, or a family of them in
// <provider>/<name>-family.yaml, with its query, its words, the controls it
// answers to and the cases that show what it does.
package rules

import "embed"

// Files are the rules.
//
//go:embed */*.yaml */*/*.yaml
var Files embed.FS
