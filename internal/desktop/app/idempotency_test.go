package app_test

import (
	"net/http"
	"strings"
	"testing"

	"vigil/internal/sim/estate"
)

// TestRequestWithIdempotencyKeyIsExecutedOnce repeats requests like a client
// whose responses were lost.
func TestRequestWithIdempotencyKeyIsExecutedOnce(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	token := w.login().Access
	send := func(want int, key, method, path string, body any) answer {
		t.Helper()
		got := w.callWith(http.Header{"Idempotency-Key": {key}}, method, path, token, body)
		if got.status != want {
			t.Fatalf("%s %s = %d %s, want %d", method, path, got.status, got.body, want)
		}
		return got
	}
	const rules, keys = "/rest/config/v1/alert-rules", "/rest/config/v1/monitoring-keys"
	spec := func(name string) object {
		return object{
			"name": name, "condition": object{"type": "STATUS", "kind": "COMPOSER", "statuses": []string{"ERROR"}},
			"channels": []object{{"type": "MAIL", "to": []string{"ops@corp.example"}}},
		}
	}
	first := send(201, "k1", "POST", rules, spec("one"))
	second := send(201, "k1", "POST", rules, spec("one"))
	if string(second.body) != string(first.body) || first.header.Get("Idempotency-Replayed") != "" || second.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("first response %s, second %s (replayed %q)", first.body, second.body, second.header.Get("Idempotency-Replayed"))
	}
	count := func(path, name string) int {
		return strings.Count(string(w.expect(200, "GET", path, token, nil).body), `"name":"`+name+`"`)
	}
	if n := count(rules, "one"); n != 1 {
		t.Errorf("the request and its repetition created %d rules, want 1", n)
	}
	send(409, "k1", "POST", rules, spec("two")) // another request with the same key
	if n := count(rules, "two"); n != 0 {
		t.Errorf("the refused request created %d rules, want none", n)
	}
	send(400, "with space", "POST", rules, spec("two"))
	send(400, "k2", "POST", rules, object{"name": "x"}) // a failed request changed nothing and may be repeated
	send(201, "k2", "POST", rules, spec("two"))

	// A response with a secret is not stored: the repeated request gets a conflict.
	send(201, "k3", "POST", keys, object{"name": "watcher"})
	if got := send(409, "k3", "POST", keys, object{"name": "watcher"}); strings.Contains(string(got.body), "vgl") {
		t.Errorf("the secret was stored: %s", got.body)
	}
	if n := count(keys, "watcher"); n != 1 {
		t.Errorf("the request and its repetition created %d keys, want 1", n)
	}

	// A repeated removal gets the stored response; with another key it is 404.
	path := rules + "/" + idOf(t, first)
	deleted := send(204, "k4", "DELETE", path, nil)
	if second := send(204, "k4", "DELETE", path, nil); second.header.Get("Idempotency-Replayed") != "true" || deleted.header.Get("Idempotency-Replayed") != "" {
		t.Error("the removal was not replayed")
	}
	send(404, "k5", "DELETE", path, nil)
}
