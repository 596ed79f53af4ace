// Package telemetry creates a process's log, metrics registry and build
// information. It has no global state.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
)

// LogOptions configure a log.
type LogOptions struct {
	Format string // "json" or "text"; text when empty
	Level  string // "debug", "info", "warn" or "error"; info when empty
}

// NewLog returns a logger that writes lines to w. The value of an attribute
// whose key looks like that of a secret is redacted.
func NewLog(w io.Writer, o LogOptions) (*slog.Logger, error) {
	var level slog.Level
	if o.Level != "" {
		if err := level.UnmarshalText([]byte(o.Level)); err != nil {
			return nil, fmt.Errorf("log level %q is not debug, info, warn or error", o.Level)
		}
	}
	ho := &slog.HandlerOptions{Level: level, ReplaceAttr: redact}
	switch strings.ToLower(o.Format) {
	case "json":
		return slog.New(slog.NewJSONHandler(w, ho)), nil
	case "text", "":
		return slog.New(slog.NewTextHandler(w, ho)), nil
	}
	return nil, fmt.Errorf("log format %q is not json or text", o.Format)
}

// Redacted is written instead of a secret.
const Redacted = "[redacted]"

func redact(groups []string, a slog.Attr) slog.Attr {
	if Secret(a.Key) || slices.ContainsFunc(groups, Secret) {
		return slog.String(a.Key, Redacted)
	}
	return a
}

// secretWords are words that mark a key as secret, at any position in it.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", "token", "authorization", "cookie", "bearer", "apikey", "privatekey", "masterkey",
	"applicationkey", "serviceaccountkey", "accesskey", "signature",
}

// harmlessEndings are the last words of keys that refer to a secret without
// containing it.
var harmlessEndings = []string{"id", "ids", "count", "type", "name", "file", "kind", "expires", "expiry"}

// Secret reports whether a key looks like that of a secret: "db_password",
// "refreshToken". A key such as "token_id" or "password_file" does not.
func Secret(key string) bool {
	words := strings.FieldsFunc(split(key), func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' })
	if len(words) == 0 {
		return false
	}
	for _, ending := range harmlessEndings {
		if len(words) > 1 && words[len(words)-1] == ending {
			return false
		}
	}
	joined := strings.Join(words, "")
	for _, w := range secretWords {
		if strings.Contains(joined, w) {
			return true
		}
	}
	return false
}

// split separates the words of a camel-case key by spaces and converts it to
// lower case.
func split(key string) string {
	var b strings.Builder
	small := false
	for _, r := range key {
		if small && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		small = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}
