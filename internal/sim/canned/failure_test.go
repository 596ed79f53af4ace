package canned

import (
	"net/http"
	"testing"
)

// TestFailuresHaveKnownNames reads words of cases. The last two are misspelt.
func TestFailuresHaveKnownNames(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]failure{
		"denied":            {http.StatusForbidden, "AccessDenied", "not authorized"},
		"denied by a guard": {http.StatusForbidden, "AccessDenied", "by a guard"},
		"code NoSuchBucket": {http.StatusNotFound, "NoSuchBucket", "not found"},
		"gnoe":              {http.StatusBadRequest, "ValidationException", `unknown error response "gnoe"`},
		"codeNoSuchBucket":  {http.StatusBadRequest, "ValidationException", `unknown error response "codeNoSuchBucket"`},
	} {
		if got := failureOf(word); got != want {
			t.Errorf("%s: %+v, want %+v", word, got, want)
		}
	}
}
