// Package rules holds the rules that come with the product: one file each, in
// <provider>/<service>/<name>.yaml, with its query, its words, the controls it
// answers to and the cases that show what it does.
package rules

import "embed"

// Files are the rules.
//
//go:embed */*/*.yaml tables/*.yaml
var Files embed.FS
