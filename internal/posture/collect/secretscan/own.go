package secretscan

import (
	"regexp"
	"strings"
)

// passwordKind is the kind of a value that only the name of its variable marks as a password.
const passwordKind = "password"

// placeholder matches values that stand for a secret: references, templates, masks and the words
// that examples use.
const placeholder = `(?i)^(?:\$.*|<.*>|\[.*\]|\{.*\}|%.*%|@microsoft\.keyvault\(.*|\*+|x+|\.+|change[-_]?(?:me|it)|replace[-_]?me|your[-_].*|example|placeholder|redacted|dummy|none|null|nil|true|false|undefined)$`

// ownRules are the rules that gitleaks lacks. Configurations have connection strings more often
// than source code does.
var ownRules = []rule{
	{
		ID: "url-password", Keywords: []string{"://"},
		Regex: lazy(`\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@'"<>]{0,128}:([^\s:/@'"<>]{3,256})@[A-Za-z0-9\[_-]`),
		Allow: []allowlist{{Target: "secret", Regexes: []pattern{lazy(placeholder)}}},
	},
	{
		ID: "azure-account-key", Keywords: []string{"accountkey", "sharedaccesskey"},
		Regex: lazy(`(?i)\b(?:AccountKey|SharedAccessKey)\s*=\s*([A-Za-z0-9+/]{42,90}={0,2})`), Entropy: 3,
	},
	{
		ID: "connection-string-password", Keywords: []string{"password", "pwd"},
		Regex: lazy(`(?i);\s*(?:password|pwd)\s*=\s*([^;'"\s]{4,128})`),
		Allow: []allowlist{{Target: "secret", Regexes: []pattern{lazy(placeholder)}}},
	},
}

var (
	// passwordName matches the name of a variable that holds a password or another secret. It ends
	// with the word for the secret, so that it does not match variables that hold the name or the
	// place of a secret: DB_PASSWORD_ARN, TOKEN_URL.
	passwordName = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:[a-z0-9]*(?:password|passwd|passphrase)|pwd|pass|secret|client[_.-]?secret|secret[_.-]?(?:access[_.-]?)?key|api[_.-]?key|access[_.-]?key|private[_.-]?key|auth[_.-]?token|access[_.-]?token|bearer[_.-]?token)$`)
	camelCase    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	// reference matches values that are not secrets: an ARN, a path, a URL, words joined by
	// punctuation such as the name of a secret, a number, a version or an IPv4 address.
	reference     = regexp.MustCompile(`(?i)^(?:arn:.*|[a-z][a-z0-9+.-]*://.*|[~./].*|projects/.*|(?:ssm|vault|secretsmanager|sm|resolve|env|file)[:/].*|[a-z]+(?:[-_./][a-z]+)+|\d+|\d+(?:\.\d+)+)$`)
	isPlaceholder = regexp.MustCompile(placeholder)
	// assignment matches a line that sets a variable in a shell script, an .env file, YAML, JSON or a
	// Dockerfile.
	assignment = regexp.MustCompile(`(?m)^[ \t]*(?:(?:export|set|setx|env|ENV|declare -x|-?[ \t]*-e)[ \t]+)?["']?(\$?[A-Za-z_][A-Za-z0-9_.-]{0,80})["']?[ \t]*(?:=|:)[ \t]*["']?([^\s"'#;,]{6,256})["']?[ \t]*[,;]?[ \t]*(?:#.*)?\r?$`)
)

// isPassword reports whether the name of a variable says that its value is a password or key, and
// the value is one rather than a reference to it.
func isPassword(name, value string) bool {
	value = strings.TrimSpace(value)
	return len(value) >= 6 && len(value) <= 256 && !strings.ContainsAny(value, " \t\r\n") &&
		passwordName.MatchString(camelCase.ReplaceAllString(name, "${1}_$2")) && !reference.MatchString(value) && !isPlaceholder.MatchString(value)
}

// scanAssignments returns the assignments of passwords in a text.
func scanAssignments(text string) (all []found) {
	for _, at := range assignment.FindAllStringSubmatchIndex(text, -1) {
		name, value := text[at[2]:at[3]], text[at[4]:at[5]]
		if isPassword(name, value) {
			all = append(all, found{Match{passwordKind, 1 + strings.Count(text[:at[4]], "\n")}, value})
		}
	}
	return all
}
