package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Prefix is the prefix of environment variables.
const Prefix = "VIGIL_"

// A Source contains the settings of a file and the environment.
type Source struct {
	path string
	file map[string]string // by flag name
	env  map[string]string // by flag name
}

// Flag returns the command-line spelling of a setting's name in the file.
func Flag(key string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(key) }

// EnvName returns the environment variable of a flag.
func EnvName(flag string) string { return Prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }

// Read reads the file, unless path is empty, and the environment (as returned
// by [os.Environ]). reserved are variables that are not settings.
func Read(path string, environ []string, reserved ...string) (*Source, error) {
	s := &Source{path: path, file: map[string]string{}, env: map[string]string{}}
	if path != "" {
		if err := s.readFile(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	names := Names()
	var unknown []error
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, Prefix) || slices.Contains(reserved, name) {
			continue
		}
		i := slices.IndexFunc(names, func(n string) bool { return EnvName(Flag(n)) == name })
		if i < 0 {
			unknown = append(unknown, fmt.Errorf("environment variable %s is not a setting", name))
			continue
		}
		s.env[Flag(names[i])] = value
	}
	return s, errors.Join(unknown...)
}

// Lookup returns the value of a flag in the environment, or else in the file,
// and its source.
func (s *Source) Lookup(flag string) (value, from string, ok bool) {
	if v, ok := s.env[flag]; ok {
		return v, EnvName(flag), true
	}
	v, ok := s.file[flag]
	return v, s.path, ok
}

func (s *Source) readFile() error {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	var decoded Config
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true) // reports an unknown key with its line
	if err := strict.Decode(&decoded); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return err
	}
	present := map[string]bool{}
	flatten(tree, "", present)
	for name, v := range settings(reflect.ValueOf(decoded), "") {
		if present[name] {
			// Not the value in tree: 0123 is a number there, but the setting may be text.
			s.file[Flag(name)] = fmt.Sprint(v.Interface())
		}
	}
	return nil
}

// flatten adds the names of the settings in a YAML tree. A key without a value
// counts as not set.
func flatten(tree map[string]any, prefix string, present map[string]bool) {
	for key, v := range tree {
		switch v := v.(type) {
		case nil:
		case map[string]any:
			flatten(v, prefix+key+".", present)
		default:
			present[prefix+key] = true
		}
	}
}

// settings yields the settings of a struct by their names in the file.
func settings(v reflect.Value, prefix string) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for f, field := range v.Fields() {
			key, inline, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			nested := prefix + key + "."
			if inline == "inline" {
				nested = prefix
			}
			if field.Kind() != reflect.Struct {
				if !yield(prefix+key, field) {
					return
				}
				continue
			}
			for name, value := range settings(field, nested) {
				if !yield(name, value) {
					return
				}
			}
		}
	}
}
