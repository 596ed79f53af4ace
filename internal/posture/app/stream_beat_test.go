package app_test

import (
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/posture/app"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestStreamWithoutHeartbeatIsDisconnected sends a heartbeat, which connects a stream,
// and then nothing for hours. The account must show the stream as disconnected.
func TestStreamWithoutHeartbeatIsDisconnected(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		var clockOffset atomic.Int64 // nanoseconds
		now := func() time.Time { return time.Now().Add(time.Duration(clockOffset.Load())) }
		logIn := serveWithClock(t, dsn, now)
		c := logIn()
		c.want(201, "POST", accounts, awsAccount(accountID(1)))
		token := c.want(201, "POST", "/v1/cloud-accounts/"+accountID(1)+"/event-stream", nil).member("secret")
		beat := func(id string) {
			c.want(200, "POST", "/events/aws", object{
				"id": id, "detail-type": "Scheduled Event", "source": "aws.events", "account": accountID(1), "time": now().UTC(), "region": "us-east-1", "detail": object{},
			}, "X-Event-Token", token)
		}
		begin := now()
		beat("first")
		c.wantStream("connected", begin)

		clockOffset.Store(int64(4 * time.Hour))
		c = logIn() // the access token has expired as well
		c.wantStream("disconnected", begin.Add(4*time.Hour))
		begin = now()
		beat("second")
		c.wantStream("connected", begin)
	})
}

// serveWithClock runs a server that uses the given clock, and returns a function that
// logs its admin in.
func serveWithClock(t *testing.T, dsn string, now func() time.Time) func() *client {
	t.Helper()
	in, base := launch(t, dsn, app.Options{Cloud: new(memcloud.Cloud), Now: now})
	_, _, admin := newOrg(t, in, base, "org")
	return func() *client { return newClient(t, in, base, admin, auth.Admin) }
}

// wantStream waits until the account shows the status of its event stream. It fails if
// the account says that the status changed before notBefore.
func (c *client) wantStream(status string, notBefore time.Time) {
	c.t.Helper()
	var got object
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		got, _ = c.want(200, "GET", accounts+"/"+accountID(1), nil).body["eventStreamStatus"].(object)
		if got["value"] != status {
			continue
		}
		text, _ := got["lastUpdateTime"].(string)
		if at, err := time.Parse(time.RFC3339, text); err != nil || at.Before(notBefore.Truncate(time.Second)) {
			c.t.Errorf("the stream became %s at %q, want %s or later: %v", status, text, notBefore, got)
		}
		return
	}
	c.t.Fatalf("the stream is %v, want %s", got, status)
}
