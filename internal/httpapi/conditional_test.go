package httpapi_test

import (
	"net/http"
	"testing"

	"vigil/internal/httpapi"
)

func TestNotModified(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		``:         false,
		`"a"`:      true,
		`W/"a"`:    true, // a weak tag
		`"b", "a"`: true,
		`"a-gzip"`: true, // the tag of another coding
		`"b"`:      false,
		`*`:        true,
		`""`:       false,
		`a`:        true,  // without quotes
		`"*"`:      false, // in quotes it is an ordinary tag
	} {
		r := &http.Request{Header: http.Header{"If-None-Match": {value}}}
		if got := httpapi.NotModified(r, `"a"`, `"a-gzip"`); got != want {
			t.Errorf("If-None-Match: %s: %v, want %v", value, got, want)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"": false, "gzip": true, "br, gzip;q=0.5": true, "*": true, "gzip;q=0": false, "br": false, "GZIP": true, "gzip;Q=0": false, "gzip; q=0.0": false,
		"gzip;q=0, *": false, "*, gzip;q=0": false, "*;q=0": false, "*;q=0, gzip": true, "identity, *;q=0.5": true,
	} {
		r := &http.Request{Header: http.Header{"Accept-Encoding": {value}}}
		if got := httpapi.AcceptsGzip(r); got != want {
			t.Errorf("Accept-Encoding: %s: %v, want %v", value, got, want)
		}
	}
}
