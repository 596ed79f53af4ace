// Package resources holds the declarations of resource types, one file per type:
// <cloud>/<service>/<noun>.yaml. docs/resource-types.md describes their form.
package resources

import "embed"

// Files are the declarations.
//
//go:embed */*/*.yaml
var Files embed.FS
