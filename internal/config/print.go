package config

import (
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// masked is printed instead of a secret.
const masked = "xxxxx"

// Print writes the settings as a YAML file, with secrets masked.
func Print(w io.Writer, c Config) error {
	mask(reflect.ValueOf(&c).Elem())
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(c); err != nil {
		return err
	}
	return enc.Close()
}

// mask masks the fields that are tagged as secrets: the whole value, the
// password of a URL, or a value that should be a reference to a secret but is
// not.
func mask(v reflect.Value) {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag.Get("secret")
		switch {
		case field.Kind() == reflect.Struct:
			mask(field)
		case tag == "reference" && isReference(field.String()):
			// A reference is not secret.
		case tag == "url":
			field.SetString(maskURL(field.String()))
		case tag != "" && field.String() != "":
			field.SetString(masked)
		}
	}
}

// isReference reports whether a value says where a secret is: file:PATH or env:NAME.
func isReference(s string) bool {
	kind, where, _ := strings.Cut(s, ":")
	return (kind == "file" || kind == "env") && where != ""
}

// notReference is the message about a value that must be a reference to a secret. It does not
// repeat the value, which may be the secret itself.
func notReference(secret string) string {
	return fmt.Sprintf("must be a reference to the %[1]s (file:PATH or env:NAME), not the %[1]s itself", secret)
}

// maskURL masks a URL's password, including PostgreSQL's password parameter. It
// masks the whole value if it is not a URL, or if a password may be elsewhere in
// it: postgres:user:password@host lacks the slashes.
func maskURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.User == nil && strings.Contains(s, "@") {
		return masked
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), masked)
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(strings.ToLower(name), "password") {
			q.Set(name, masked)
			u.RawQuery = q.Encode()
		}
	}
	return u.String()
}

// Names returns the names of all settings in the file.
func Names() []string {
	var all []string
	for name := range settings(reflect.ValueOf(Config{}), "") {
		all = append(all, name)
	}
	return all
}
