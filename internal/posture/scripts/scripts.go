// Package scripts holds the files that customers run in their own shell to give this
// server access to their accounts, to set up event streams, and to revoke both:
// scripts, templates, policies and roles. The address of this server is filled in.
//
// They contain no secrets. A script fetches secrets from the server with the caller's
// API token, which it reads from its environment.
package scripts

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"vigil/internal/posture"
)

//go:embed aws azure gcp part
var files embed.FS

// MaxAccounts limits the accounts of one run of a script.
const MaxAccounts = 100

// Values are the values to fill in.
type Values struct {
	URL       string   // of this server
	Accounts  []string // default accounts of the script
	Principal string   // ARN of this server's AWS identity; "" if unknown
}

// kinds maps file extensions to content types.
var kinds = map[string]string{
	".sh":   "text/x-shellscript; charset=utf-8",
	".yaml": "application/yaml",
	".json": "application/json",
	".txt":  "text/plain; charset=utf-8",
}

// Fill returns a file with the values filled in, and its content type. It returns false
// if there is no such file.
func Fill(p posture.Provider, name string, v Values) (text []byte, kind string, ok bool) {
	kind, ok = kinds[path.Ext(name)]
	if !ok || strings.ContainsAny(name, "/\\") {
		return nil, "", false
	}
	text, err := files.ReadFile(string(p) + "/" + name)
	if err != nil {
		return nil, "", false
	}
	for _, part := range []string{"library", "linking", "become", "policies"} {
		text = bytes.ReplaceAll(text, []byte("# @"+part+"@\n"), file("part/"+part+".sh"))
	}
	return fillIn(text, v), kind, true
}

// policyName returns the name of the file with one of the managed policies of the AWS
// role, which are numbered from 1.
func policyName(number int) string { return fmt.Sprintf("policy-%d.json", number) }

// policies returns the managed policies of the AWS role as compact JSON.
var policies = sync.OnceValue(func() (all []string) {
	for {
		text, err := files.ReadFile("aws/" + policyName(len(all)+1))
		if err != nil {
			return all
		}
		var small bytes.Buffer
		if err := json.Compact(&small, text); err != nil {
			panic(err) // it is generated from declarations, and tested
		}
		all = append(all, small.String())
	}
})

// policyResources returns the managed policies as resources of a CloudFormation template,
// and the list of references to them.
func policyResources() (resources, references string) {
	var out strings.Builder
	var names []string
	for i, policy := range policies() {
		fmt.Fprintf(&out, `  Policy%[1]d:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      ManagedPolicyName: !Sub "${RoleName}-%[1]d"
      Description: Vigil reads how resources are configured
      PolicyDocument: %[2]s
`, i+1, policy)
		names = append(names, fmt.Sprintf("!Ref Policy%d", i+1))
	}
	return out.String(), "[" + strings.Join(names, ", ") + "]"
}

// NamesPrincipal reports whether a file of AWS contains the principal of this server.
func NamesPrincipal(name string) bool { return name == "link.sh" || name == "role.yaml" }

// fillIn replaces the placeholders by values.
func fillIn(text []byte, v Values) []byte {
	resources, references := policyResources()
	var scopes []string
	for _, id := range v.Accounts {
		scopes = append(scopes, "/subscriptions/"+id)
	}
	if len(scopes) == 0 {
		scopes = []string{"@scopes@"} // filled in by the script
	}
	return []byte(strings.NewReplacer(
		"'@url@'", quote(v.URL), "@url@", withoutMarkup(v.URL),
		"'@principal@'", quote(v.Principal), "@principal@", withoutMarkup(v.Principal),
		"'@accounts@'", quote(strings.Join(v.Accounts, " ")),
		"\"@scopes@\"", "\""+strings.Join(scopes, "\", \"")+"\"",
		"@policyResources@", resources, "@policyReferences@", references,
		"@count@", strconv.Itoa(len(policies())),
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

// quote quotes a text for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// withoutMarkup removes the characters of a text that have a meaning in comments, YAML or JSON.
func withoutMarkup(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'\\`$\n\r", r) {
			return -1
		}
		return r
	}, s)
}
