// Package rules holds the rules that come with the product. A rule has a file of its
// own, <provider>/<service>/<name>.yaml, or shares one with similar rules: settings.yaml
// of a service, or a <name>-family.yaml of a service or of a provider. The file of a rule
// contains its query, its texts (title, reason and fix), the controls of frameworks that
// it checks, and test cases.
package rules

import "embed"

// Files contains the rules and, in tables/, the version tables (end of support) that
// rules refer to.
//
//go:embed */*.yaml */*/*.yaml
var Files embed.FS
