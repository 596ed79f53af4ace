// Package frameworks holds the compliance frameworks whose controls rules check: one
// file each, with control numbers and titles in our own words.
package frameworks

import "embed"

// Files are the frameworks.
//
//go:embed *.yaml
var Files embed.FS
