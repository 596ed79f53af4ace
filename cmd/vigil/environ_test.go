package main

import (
	"os"
	"slices"
	"strings"
)

// environWithout returns the environment of the tests without the variables that begin with
// one of the prefixes. scripts/test exports variables VIGIL_TEST_*, which the program would
// reject as unknown settings.
func environWithout(prefixes ...string) []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(entry, prefix) })
	})
}
