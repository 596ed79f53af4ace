package app_test

import (
	"bufio"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"vigil/internal/auth"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

const pulseStream = "/console/pulse/stream"

// follow opens the stream of changes and returns a function that waits for the next
// event.
func (c *client) follow() (next func() object) {
	c.t.Helper()
	r, err := c.request("GET", pulseStream, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r) // the client of the tests would wait for the end of the body
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = res.Body.Close() })
	if kind := res.Header.Get("Content-Type"); res.StatusCode != 200 || kind != "text/event-stream" {
		c.t.Fatalf("the stream answers %d, %s", res.StatusCode, kind)
	}
	lines := bufio.NewScanner(res.Body)
	return func() object {
		c.t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var event object
				if err := json.Unmarshal([]byte(data), &event); err != nil {
					c.t.Fatal(err)
				}
				return event
			}
		}
		c.t.Fatalf("the stream has ended: %v", lines.Err())
		return nil
	}
}

func TestPulseStreamTellsChangesOfTheOwnOrganisationOnly(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		one, org, _ := newOrg(t, in, base, "one")
		two, _, _ := newOrg(t, in, base, "two")
		made := one.want(201, "POST", "/v1/users", object{"name": "limited", "role": "viewer", "limitedTo": object{"cloudAccountIds": []string{accountID(9)}}})
		limited := newClient(t, in, base, auth.User{ID: auth.UserID(made.member("id")), Org: org.ID}, auth.Viewer)

		nextOne, nextTwo, nextLimited := one.follow(), two.follow(), limited.follow()
		firstOne, firstTwo, _ := nextOne(), nextTwo(), nextLimited()
		if got := one.want(200, "GET", "/console/pulse", nil).body; !maps.Equal(got, firstOne) {
			t.Errorf("the stream tells %v, the pulse is %v", firstOne, got)
		}
		one.want(201, "POST", accounts, awsAccount(accountID(1)))
		if got := nextOne(); got["accounts"] == firstOne["accounts"] || got["lastChangeTime"] == nil {
			t.Errorf("after an account was added: %v, before %v", got, firstOne)
		}
		if got := nextLimited(); got["lastChangeTime"] != nil {
			t.Errorf("a limited caller is told %v", got)
		}
		// The next event of the other organisation is about its own change: it was not told of the account.
		two.want(201, "POST", "/v1/rules", object{"name": "Mine", "displayName": "mine", "provider": "aws", "level": "Low", "query": graphQuery("g.V().hasLabel('AWS.EC2.Vpc')")})
		if got := nextTwo(); got["accounts"] != firstTwo["accounts"] || got["rules"] == firstTwo["rules"] {
			t.Errorf("the other organisation is told %v, before %v", got, firstTwo)
		}
	})
}

func TestPulseStreamNeedsALogin(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base := serve(t, a)
	_, org, user := newOrg(t, in, base, "org")
	(&client{t: t, base: base, token: "none", http: document.Client(t, nil)}).want(401, "GET", pulseStream, nil)
	token, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(org.ID), auth.TokenEdit{Name: "x", User: user.ID, Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, base)
	b.want(200, "POST", "/console/session", object{"apiToken": text.Reveal()})
	cookies := b.http.Jar
	b.http = &http.Client{Jar: cookies}
	if _, err := in.Registry.RevokeToken(t.Context(), auth.Operator(org.ID), token.ID); err != nil {
		t.Fatal(err)
	}
	b.want(401, "GET", pulseStream, nil)
}
