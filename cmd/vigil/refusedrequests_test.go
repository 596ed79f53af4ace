package main

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/posture/api"
	"vigil/internal/sqldb/dbtest"
)

// refusedBytes is the total number of bytes that rejected requests may write: only a
// sample of them is audited.
const refusedBytes = 8 << 20

// TestRefusedRequestsDoNotFillTheDisk sends invalid requests to every changing route
// over three connections, for twenty seconds if VIGIL_HOSTILE_CLIENT is set. Before sampling,
// that wrote 191 MB of audit records.
func TestRefusedRequestsDoNotFillTheDisk(t *testing.T) {
	length := time.Second
	if os.Getenv("VIGIL_HOSTILE_CLIENT") != "" {
		length = 20 * time.Second
	} else if testing.Short() {
		t.Skip("starts servers and sends requests to every changing route for a second: left out with -short")
	}
	var turn sync.Mutex
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		turn.Lock()
		defer turn.Unlock()
		f := startAttackedServer(t, dsn, nil)
		var routes [][2]string
		for _, route := range new(api.API).Routes() {
			method, path, _ := strings.Cut(route.Pattern, " ")
			if method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE" {
				routes = append(routes, [2]string{method, strings.NewReplacer("{", "", "}", "", "...", "").Replace(path)})
			}
		}
		before := f.diskUse()
		var sent, refused atomic.Int64
		var group sync.WaitGroup
		for _, token := range []string{"", "not a token", strings.Repeat("x", 4000)} {
			c := f.caller("")
			c.token = token
			group.Go(func() {
				for begin := time.Now(); time.Since(begin) < length; {
					for _, route := range routes {
						status := c.send(t.Context(), route[0], route[1], []byte(`{"x":"`+strings.Repeat("y", 500)+`"}`))
						sent.Add(1)
						if status >= 400 && status < 500 {
							refused.Add(1)
						}
					}
				}
			})
		}
		group.Wait()
		grown := f.diskUse() - before
		t.Logf("%d requests to %d routes in %v, %d refused: %d KB written", sent.Load(), len(routes), length, refused.Load(), grown>>10)
		if refused.Load() < int64(len(routes)) {
			t.Errorf("only %d requests were refused", refused.Load())
		}
		if grown > refusedBytes {
			t.Errorf("refused requests wrote %d KB, at most %d", grown>>10, refusedBytes>>10)
		}
		if len(f.problems) > 0 {
			t.Errorf("%d responses that no server may send, such as %s", len(f.problems), f.problems[0])
		}
	})
}
