package app_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"vigil/internal/auth"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestIdempotencyKeys repeats requests with the same key, as a client does that lost
// the responses.
func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		c, _, admin := newOrg(t, in, base, "org")
		const header = "Idempotency-Key"
		first := c.want(201, "POST", credentials, awsCredential(), header, "k1")
		// The second client has another token of the same user.
		second := newClient(t, in, base, admin, auth.Admin).want(201, "POST", credentials, awsCredential(), header, "k1")
		if second.text != first.text || second.header.Get("Location") != first.header.Get("Location") || second.header.Get("ETag") != first.header.Get("ETag") {
			t.Errorf("responses %s, then %s", first.text, second.text)
		}
		if first.header.Get("Idempotency-Replayed") != "" || second.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("replayed: %q, %q", first.header.Get("Idempotency-Replayed"), second.header.Get("Idempotency-Replayed"))
		}
		count := func() int {
			got := c.want(200, "POST", "/v1/cloud-credentials/query", object{})
			n, _ := got.body["totalCount"].(float64)
			return int(n)
		}
		if count() != 1 {
			t.Errorf("%d credentials after a replay, want 1", count())
		}
		c.want(409, "POST", credentials, object{"properties": []object{textProperty("RoleArn", "arn:aws:iam::111111111111:role/other")}}, header, "k1")
		c.want(400, "POST", credentials, awsCredential(), header, strings.Repeat("x", 256))
		c.want(400, "POST", credentials, awsCredential(), header, "with space")

		// A failed request changed nothing and may be repeated.
		c.want(400, "POST", credentials, object{"properties": []object{}}, header, "k2")
		c.want(201, "POST", credentials, awsCredential(), header, "k2")

		// A user of another organisation may choose the same key.
		other, _, _ := newOrg(t, in, base, "other")
		if got := other.want(201, "POST", accounts, awsAccount("222222222222"), header, "k1"); got.header.Get("Idempotency-Replayed") != "" {
			t.Error("another organisation's response was replayed")
		}

		// The response of a removal is replayed.
		path := first.header.Get("Location")
		deleted := c.want(200, "DELETE", path, nil, header, "k3")
		if second := c.want(200, "DELETE", path, nil, header, "k3"); second.text != deleted.text {
			t.Errorf("responses %s, then %s", deleted.text, second.text)
		}
		c.want(404, "DELETE", path, nil, header, "k4")

		// A response with a secret is not stored, and the secret is not created twice.
		token := c.want(201, "POST", "/v1/api-tokens", object{"name": "once"}, header, "k5").member("token")
		refused := c.want(409, "POST", "/v1/api-tokens", object{"name": "once"}, header, "k5")
		if token == "" || strings.Contains(refused.text, token) || !strings.Contains(refused.text, "was executed") {
			t.Errorf("the repeated request for a token: %s", refused.text)
		}
		stream := "/v1/cloud-accounts/222222222222/event-stream"
		secret := other.want(201, "POST", stream, nil, header, "k7").member("secret")
		refused = other.want(409, "POST", stream, nil, header, "k7")
		if secret == "" || strings.Contains(refused.text, secret) {
			t.Errorf("the repeated request for a stream: %s", refused.text)
		}

		// Of many concurrent requests, one is executed.
		before := count()
		statuses := make([]int, 20)
		var wait sync.WaitGroup
		for i := range statuses {
			wait.Go(func() { statuses[i] = c.do("POST", credentials, awsCredential(), header, "k6").status })
		}
		wait.Wait()
		if count() != before+1 {
			t.Errorf("%d credentials more after 20 requests with one key: %v", count()-before, statuses)
		}
		for _, s := range statuses {
			if s != http.StatusCreated && s != http.StatusConflict {
				t.Errorf("statuses %v", statuses)
				break
			}
		}
	})
}
