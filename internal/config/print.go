package config

import (
	"io"
	"net/url"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// masked stands for a secret in what is printed.
const masked = "xxxxx"

// Print writes the settings as a file would have them, secrets masked.
func Print(w io.Writer, c Config) error {
	mask(reflect.ValueOf(&c).Elem())
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(c); err != nil {
		return err
	}
	return enc.Close()
}

// mask hides the fields that are tagged as secrets: whole, or the password of a
// URL, or what ought to be a reference to a secret and is not.
func mask(v reflect.Value) {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag.Get("secret")
		switch {
		case field.Kind() == reflect.Struct:
			mask(field)
		case tag == "reference" && isReference(field.String()):
			// It says where the secret is, and may be shown.
		case tag == "url":
			field.SetString(maskURL(field.String()))
		case tag != "" && field.String() != "":
			field.SetString(masked)
		}
	}
}

func isReference(s string) bool {
	return strings.HasPrefix(s, "file:") || strings.HasPrefix(s, "env:")
}

// maskURL hides a URL's password, also the one that PostgreSQL takes as a
// parameter. What cannot be read as a URL is hidden whole.
func maskURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
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

// Names lists every setting by its name in the file.
func Names() []string { return names(reflect.TypeFor[Config](), "") }

func names(t reflect.Type, prefix string) []string {
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		key, inline, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case inline == "inline":
			all = append(all, names(f.Type, prefix)...)
		case f.Type.Kind() == reflect.Struct:
			all = append(all, names(f.Type, prefix+key+".")...)
		default:
			all = append(all, prefix+key)
		}
	}
	return all
}
