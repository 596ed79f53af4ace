// Package scripts holds what customers run in their own shell to let this server
// read their accounts and to have changes told to it, and to end that again:
// scripts, templates, policies and roles, filled in with where this server is.
//
// Nothing in them is secret. A script asks the server for what is, with the
// caller's own API token, which it takes from its environment.
package scripts

import (
	"bytes"
	"embed"
	"encoding/json"
	"path"
	"strings"

	"vigil/internal/posture"
)

//go:embed aws azure gcp part
var files embed.FS

// MaxAccounts is how many accounts one run takes.
const MaxAccounts = 100

// Values are what is filled in.
type Values struct {
	URL       string   // of this server
	Accounts  []string // that the script is for when it is told no others
	Principal string   // what this server is to AWS; "" when it is not known
}

// kinds are the content types of files.
var kinds = map[string]string{
	".sh":   "text/x-shellscript; charset=utf-8",
	".yaml": "application/yaml",
	".json": "application/json",
	".txt":  "text/plain; charset=utf-8",
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
	for _, part := range []string{"library", "linking", "become"} {
		text = bytes.ReplaceAll(text, []byte("# @"+part+"@\n"), file("part/"+part+".sh"))
	}
	var policy bytes.Buffer
	if err := json.Compact(&policy, file("aws/policy.json")); err != nil {
		panic(err) // it is made from declarations, and tested
	}
	return fillIn(text, v, policy.String()), kind, true
}

// NamesPrincipal reports whether a file of AWS names what this server is to AWS.
func NamesPrincipal(name string) bool { return name == "link.sh" || name == "role.yaml" }

// fillIn puts values where their names stand.
func fillIn(text []byte, v Values, policy string) []byte {
	scopes := []string{"@scopes@"} // which the script fills in
	for i, id := range v.Accounts {
		scopes = append(scopes[:i], "/subscriptions/"+id)
	}
	return []byte(strings.NewReplacer(
		"'@url@'", quote(v.URL), "@url@", plain(v.URL),
		"'@principal@'", quote(v.Principal), "@principal@", plain(v.Principal),
		"'@accounts@'", quote(strings.Join(v.Accounts, " ")),
		"\"@scopes@\"", "\""+strings.Join(scopes, "\", \"")+"\"",
		"@policy@", policy,
	).Replace(string(text)))
}

// file returns an embedded file.
func file(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return text
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
