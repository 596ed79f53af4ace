package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A client sends requests with a token of one organisation.
type client struct {
	base, token string
	http        *http.Client
}

// login exchanges an API token for an access token.
func login(ctx context.Context, base, apiToken string) (*client, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/csp/gateway/am/api/auth/api-tokens/authorize?"+url.Values{"refresh_token": {apiToken}}.Encode(), nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&granted); err != nil {
		return nil, fmt.Errorf("exchange the API token: %s, %w", res.Status, err)
	}
	if granted.AccessToken == "" {
		return nil, fmt.Errorf("exchange the API token: %s without an access token", res.Status)
	}
	return newClient(base, granted.AccessToken), nil
}

func newClient(base, token string) *client {
	return &client{base, token, &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
}

// A request is a query. Both organisations send the same ones, one after another.
type request struct{ path, body string }

var requests = []request{
	{"/v1/cloud-accounts/query", `{"paginationInfo":{"pageSize":50}}`},
	{"/v2/findings/query", `{"filters":{"levels":["High"]}}`},
	{"/v1/entities/query", `{"filters":{"regions":["us-east-1"]},"paginationInfo":{"pageSize":50}}`},
}

// count is a count by tag, which reads all entities of the organisation. Every twentieth
// request is one.
var count = request{"/v1/entities/aggregations-query", `{"aggregations":{"a":{"fieldName":"tag.env","aggregationType":"Terms"}}}`}

func nth(i int) request {
	if i%20 == 19 {
		return count
	}
	return requests[i%len(requests)]
}

// post sends a request and returns the status.
func (c *client) post(ctx context.Context, q request) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+q.path, bytes.NewReader([]byte(q.body)))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// latencies are the response times of requests.
type latencies struct {
	mu      sync.Mutex
	all     []time.Duration
	refused int // requests that got another status than 200, or no response
}

func (l *latencies) add(d time.Duration, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
	if status != http.StatusOK {
		l.refused++
	}
}

func (l *latencies) percentile(p float64) time.Duration {
	if len(l.all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l.all))
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*p/100))]
}

func (l *latencies) print(name string, cores float64) {
	round := func(p float64) time.Duration { return l.percentile(p).Round(10 * time.Microsecond) }
	fmt.Printf("%-26s %9d %9s %9s %9s  %7d  %12.2f\n", name, len(l.all), round(50), round(90), round(99), l.refused, cores)
}

// send sends requests at a rate, whether earlier ones were answered or not. It measures
// the time from when a request was due until its response.
func (c *client) send(ctx context.Context, perSecond float64, lasts time.Duration, into *latencies) {
	var running sync.WaitGroup
	begin := time.Now()
	for i := 0; ; i++ {
		due := begin.Add(time.Duration(float64(i) / perSecond * float64(time.Second)))
		if due.Sub(begin) >= lasts || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Until(due))
		running.Go(func() {
			status, err := c.post(ctx, nth(i))
			if err != nil {
				status = 0
			}
			into.add(time.Since(due), status)
		})
	}
	running.Wait()
}
