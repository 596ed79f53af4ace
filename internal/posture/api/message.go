package api

import (
	"fmt"
	"strings"
)

// index returns the path of the i-th item of an array.
func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// join formats values for an error message.
func join[T ~string](set []T) string {
	parts := make([]string, len(set))
	for i, v := range set {
		parts[i] = string(v)
	}
	return strings.Join(parts, ", ")
}
