package httpapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"vigil/internal/httpapi"
)

func TestUnknownProxyIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := mux(t, httpapi.Options{Log: slog.New(slog.NewTextHandler(&out, nil)), Proxies: httpapi.Proxies{netip.MustParsePrefix("192.0.2.0/24")}},
		public("GET /x", httpapi.JSON(func(context.Context, httpapi.None) (string, error) { return "", nil })))
	request := func(remote, forward string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/x", nil)
		r.RemoteAddr = remote + ":5"
		if forward != "" {
			r.Header.Set("X-Forwarded-For", forward)
		}
		m.ServeHTTP(httptest.NewRecorder(), r)
	}
	request("192.0.2.1", "198.51.100.7")
	request("203.0.113.8", "")
	if strings.Contains(out.String(), "level=WARN") {
		t.Errorf("warned of a trusted proxy or a client: %s", &out)
	}
	request("203.0.113.9", "198.51.100.7")
	request("203.0.113.9", "198.51.100.8")
	if strings.Count(out.String(), "level=WARN") != 1 || !strings.Contains(out.String(), "sender=203.0.113.9") {
		t.Errorf("no warning of 203.0.113.9, or several: %s", &out)
	}
}
