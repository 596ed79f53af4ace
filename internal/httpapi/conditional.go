package httpapi

import (
	"net/http"
	"strconv"
	"strings"
)

// NotModified reports whether the request's If-None-Match header contains one
// of the given entity tags.
func NotModified(r *http.Request, etags ...string) bool {
	for _, value := range r.Header.Values("If-None-Match") {
		for part := range strings.SplitSeq(value, ",") {
			if strings.TrimSpace(part) == "*" { // quoted, it is an ordinary tag
				return true
			}
			tag := bareTag(part)
			for _, etag := range etags {
				if tag != "" && tag == bareTag(etag) {
					return true
				}
			}
		}
	}
	return false
}

// AcceptsGzip reports whether the caller accepts a response compressed with
// gzip. An asterisk stands for gzip only if the header does not name gzip.
func AcceptsGzip(r *http.Request) bool {
	others := false
	for _, value := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(value, ",") {
			coding, params, _ := strings.Cut(part, ";")
			coding = strings.TrimSpace(coding)
			if !strings.EqualFold(coding, "gzip") && coding != "*" {
				continue
			}
			q, found := strings.CutPrefix(strings.ToLower(strings.TrimSpace(params)), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			accepted := !found || err != nil || weight != 0 // a missing or invalid weight counts as 1
			if coding != "*" {
				return accepted
			}
			others = accepted
		}
	}
	return others
}
