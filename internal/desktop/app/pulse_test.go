package app_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"vigil/internal/desktop"
)

func TestPulseStreamTellsChanges(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	const path = "/rest/monitor/pulse/stream"
	w.expect(401, "GET", path, "none", nil)
	r, err := http.NewRequestWithContext(t.Context(), "GET", w.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := w.anonymous.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); response.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("the stream answers %d, %s", response.StatusCode, kind)
	}
	lines := bufio.NewScanner(response.Body)
	next := func() (pulse struct{ Records, Statuses, Alerts, Configuration desktop.Millis }) {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &pulse); err != nil {
					t.Fatal(err)
				}
				return pulse
			}
		}
		t.Fatalf("the stream has ended: %v", lines.Err())
		return pulse
	}
	before := next()
	w.expect(201, "POST", "/rest/config/v1/monitoring-keys", token, object{"name": "x"})
	for next().Configuration == before.Configuration { // probes report other changes meanwhile
	}
}
