package app_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// A cluster is several processes of the server on one database, and a client that sends
// a request to the next process if one does not answer.
type cluster struct {
	t     *testing.T
	host  *host
	token string

	mu       sync.Mutex
	nodes    []*client
	ends     []func(os.Signal) // each ends the process of the same index with a signal
	requests int
	retried  int // requests that the first process did not answer
	maxTries int // tries of one request
	slowest  time.Duration
}

// newCluster starts n processes.
func newCluster(t *testing.T, h *host, n int) *cluster {
	t.Helper()
	c := &cluster{t: t, host: h}
	for range n {
		node, end := h.spawn()
		if c.token == "" {
			c.token = node.exchange(h.apiToken)
		}
		node.token = c.token
		c.nodes, c.ends = append(c.nodes, node), append(c.ends, end)
	}
	return c
}

// replace ends a process with a signal and starts another one in its place.
func (c *cluster) replace(i int, signal os.Signal) {
	c.t.Helper()
	c.mu.Lock()
	endOld := c.ends[i]
	c.mu.Unlock()
	endOld(signal)
	node, endNew := c.host.spawn()
	node.token = c.token
	c.mu.Lock()
	c.nodes[i], c.ends[i] = node, endNew
	c.mu.Unlock()
}

// stop kills all processes.
func (c *cluster) stop() {
	for _, end := range c.ends {
		end(os.Kill)
	}
}

func (c *cluster) node(i int) *client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[i%len(c.nodes)]
}

// call sends a request to one process after the other until one answers it. An answer
// is any response but 503, 429 and the conflict with the same request that is still
// being executed. Each try has its own request id, key-0, key-1 and so on.
func (c *cluster) call(method, path string, body any, key string) answer {
	c.t.Helper()
	first, begin := rand.IntN(len(c.nodes)), time.Now()
	for try := 0; time.Since(begin) < 2*time.Minute; try++ {
		a, err := c.try(c.node(first+try), method, path, body, key, try)
		switch {
		case err != nil, a.status == http.StatusServiceUnavailable, a.status == http.StatusTooManyRequests:
		case a.status == http.StatusConflict && strings.Contains(a.text, "is being executed"):
		default:
			if a.status >= 500 {
				c.t.Errorf("%s %s = %d %s", method, path, a.status, a.text)
			}
			c.count(try, time.Since(begin))
			return a
		}
		if try >= len(c.nodes) {
			time.Sleep(20 * time.Millisecond)
		}
	}
	c.t.Errorf("no process answered %s %s", method, path)
	return answer{}
}

func (c *cluster) count(retries int, elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	if retries > 0 {
		c.retried++
	}
	c.maxTries, c.slowest = max(c.maxTries, retries+1), max(c.slowest, elapsed)
}

// try sends a request to one process.
func (c *cluster) try(node *client, method, path string, body any, key string, n int) (answer, error) {
	headers := []string{"X-Request-Id", fmt.Sprintf("%s-%d", key, n)}
	if method != http.MethodGet && !strings.HasSuffix(path, "query") {
		headers = append(headers, "Idempotency-Key", key)
	}
	r, err := node.request(method, path, body, headers...)
	if err != nil {
		c.t.Error(err)
		return answer{}, err
	}
	res, err := node.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, header: res.Header, text: string(text)}
	if a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") == "" {
		c.t.Errorf("%s %s: 503 without Retry-After", method, path)
	}
	return a, nil
}

// report logs how many requests were sent again.
func (c *cluster) report() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Logf("%d requests, %d of them sent to another process, at most %d tries and %s for one", c.requests, c.retried, c.maxTries, c.slowest.Round(time.Millisecond))
}
