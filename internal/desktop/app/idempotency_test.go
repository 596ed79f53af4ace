package app_test

import (
	"net/http"
	"strings"
	"testing"

	"vigil/internal/sim/estate"
)

// TestARequestWithAKeyIsCarriedOutOnce sends the same requests again, as a client
// does whose answers were lost.
func TestARequestWithAKeyIsCarriedOutOnce(t *testing.T) {
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
	again := send(201, "k1", "POST", rules, spec("one"))
	if string(again.body) != string(first.body) || first.header.Get("Idempotency-Replayed") != "" || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("answered %s, and then %s (replayed %q)", first.body, again.body, again.header.Get("Idempotency-Replayed"))
	}
	count := func(path, name string) int {
		return strings.Count(string(w.expect(200, "GET", path, token, nil).body), `"name":"`+name+`"`)
	}
	if n := count(rules, "one"); n != 1 {
		t.Errorf("%d rules", n)
	}
	send(409, "k1", "POST", rules, spec("two")) // another request with the same key
	if n := count(rules, "two"); n != 0 {
		t.Errorf("%d rules of the request that was refused", n)
	}
	send(400, "with space", "POST", rules, spec("two"))
	send(400, "k2", "POST", rules, object{"name": "x"}) // what failed changed nothing, and may be sent again
	send(201, "k2", "POST", rules, spec("two"))

	// The answer with a secret is not kept: the second is told that the first was carried out.
	send(201, "k3", "POST", keys, object{"name": "watcher"})
	if got := send(409, "k3", "POST", keys, object{"name": "watcher"}); strings.Contains(string(got.body), "vgl") {
		t.Errorf("the secret was kept: %s", got.body)
	}
	if n := count(keys, "watcher"); n != 1 {
		t.Errorf("%d keys", n)
	}

	// A removal is answered as it was, and without the key it is gone.
	path := rules + "/" + idOf(t, first)
	gone := send(204, "k4", "DELETE", path, nil)
	if again := send(204, "k4", "DELETE", path, nil); again.header.Get("Idempotency-Replayed") != "true" || gone.header.Get("Idempotency-Replayed") != "" {
		t.Error("the removal was not replayed")
	}
	send(404, "k5", "DELETE", path, nil)
}
