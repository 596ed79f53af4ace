package gcp

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

type roundTripper func(*http.Request) string

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(f(r)))}, nil
}

// TestListsThatRepeatPagesEnd reads lists whose page tokens lead back to a page that was read.
func TestListsThatRepeatPagesEnd(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]map[string]string{
		"the same token":     {"": "a", "a": "a"},
		"a cycle of two":     {"": "a", "a": "b", "b": "a"},
		"back to the second": {"": "a", "a": "b", "b": "c", "c": "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			src := &Source{options: Options{Attempts: 1, Timeout: time.Minute}, transport: roundTripper(func(r *http.Request) string {
				if requests++; requests > len(next) {
					t.Errorf("request %d is for page %q", requests, r.URL.Query().Get("pageToken"))
					return `{}`
				}
				return `{"nextPageToken":"` + next[r.URL.Query().Get("pageToken")] + `"}`
			})}
			s := &session{client: &client{src: src}}
			err := s.Pages(t.Context(), &resource.Request{}, "pubsub/v1/projects/p/topics", []byte(`{}`), func(gjson.Result) error { return nil })
			if err == nil || !strings.Contains(err.Error(), "twice") {
				t.Errorf("error %v", err)
			}
		})
	}
}
