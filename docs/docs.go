// Package docs holds the documents, so that the servers can show them.
package docs

import "embed"

// Files are the documents, by their paths in this folder.
//
//go:embed *.md resources/*.md
var Files embed.FS
