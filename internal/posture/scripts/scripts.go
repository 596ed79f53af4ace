// Package scripts holds what customers run in their own shell to set up an event
// stream and to tear it down again: scripts and templates, filled in with where
// this server is.
//
// Nothing in them is secret. A script asks the server for what is, with the
// caller's own API token, which it takes from its environment.
package scripts

import (
	"bytes"
	"embed"
	"path"
	"strings"

	"vigil/internal/posture"
)

//go:embed aws azure gcp library.sh
var files embed.FS

// MaxAccounts is how many accounts one run takes.
const MaxAccounts = 100

// Values are what is filled in.
type Values struct {
	URL      string   // of this server
	Accounts []string // that the script is for when it is told no others
}

// kinds are the content types of files.
var kinds = map[string]string{
	".sh":   "text/x-shellscript; charset=utf-8",
	".yaml": "application/yaml",
	".json": "application/json",
}

// Fill returns a script or template with its values, and its content type. It
// reports false when there is none of this name.
func Fill(p posture.Provider, name string, v Values) (text []byte, kind string, ok bool) {
	kind, ok = kinds[path.Ext(name)]
	if !ok || strings.ContainsAny(name, "/\\") {
		return nil, "", false
	}
	text, err := files.ReadFile(string(p) + "/" + name)
	if err != nil {
		return nil, "", false
	}
	library, err := files.ReadFile("library.sh")
	if err != nil {
		return nil, "", false
	}
	text = bytes.ReplaceAll(text, []byte("# @library@\n"), library)
	text = bytes.ReplaceAll(text, []byte("'@url@'"), []byte(quote(v.URL)))
	text = bytes.ReplaceAll(text, []byte("'@accounts@'"), []byte(quote(strings.Join(v.Accounts, " "))))
	text = bytes.ReplaceAll(text, []byte("@url@"), []byte(plain(v.URL)))
	return text, kind, true
}

// quote makes a text one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// plain leaves of a text what means nothing in comments, YAML and JSON.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'\\`$\n\r", r) {
			return -1
		}
		return r
	}, s)
}
