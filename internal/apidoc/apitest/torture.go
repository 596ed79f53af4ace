package apitest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/httpapi"
)

// Torture sends requests that are invalid in many ways. Request number i of a
// seed is always the same, in any order of sending.
type Torture struct {
	Document  *Document
	Handler   http.Handler // handles the requests; nil for a server that already runs
	Base      string       // URL of that server; not used if there is a Handler
	N         int          // number of requests
	Seed      uint64
	Workers   int                 // number of concurrent requests; 4 when zero
	Authorize func(h http.Header) // adds a token; not called for about one request in twenty
	Known     map[string][]string // existing values of parameters by name, so that requests get further than 404
	Skip      []string            // excluded operations, such as a logout that would end the test
	Slow      time.Duration       // a slower response is reported; a minute when zero
	Client    *http.Client

	operations []*operation
}

// A Report is the result of a run.
type Report struct {
	Requests int
	Accepted int // successful requests for a documented operation
	Statuses map[int]int
	Problems []string
}

// Run sends the requests. It fails the test for every problem, and when so many
// requests were refused that nothing was tested.
func (x Torture) Run(t testing.TB) Report {
	t.Helper()
	if x.Handler != nil {
		s := httptest.NewServer(x.Handler)
		defer s.Close()
		x.Base = s.URL
	}
	if x.Client == nil {
		x.Client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
		defer x.Client.CloseIdleConnections()
	}
	x.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, o := range x.Document.operations {
		if !slices.Contains(x.Skip, o.OperationID) {
			x.operations = append(x.operations, o)
		}
	}
	report := x.run(t.Context())
	for _, p := range report.Problems[:min(len(report.Problems), 20)] {
		t.Error(p)
	}
	if n := len(report.Problems); n > 20 {
		t.Errorf("and %d more problems", n-20)
	}
	if report.Accepted*100 < report.Requests {
		t.Errorf("only %d of %d requests succeeded: this tests nothing (statuses %v)", report.Accepted, report.Requests, report.Statuses)
	}
	if limited := report.Statuses[429]; limited*20 > report.Requests {
		t.Errorf("%d of %d requests were limited: lift the rate limits for this test", limited, report.Requests)
	}
	t.Logf("seed %d: %d requests, statuses %v", x.Seed, report.Requests, report.Statuses)
	return report
}

func (x *Torture) run(ctx context.Context) Report {
	workers := x.Workers
	if workers == 0 {
		workers = 4
	}
	report := Report{Statuses: make(map[int]int)}
	var mu sync.Mutex
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < uint64(x.N) && ctx.Err() == nil; i = next.Add(1) - 1 {
				a := x.one(ctx, i)
				mu.Lock()
				report.add(a)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(report.Problems)
	return report
}

func (r *Report) add(a answer) {
	r.Requests++
	r.Statuses[a.status]++
	if a.accepted {
		r.Accepted++
	}
	if a.problem != "" {
		r.Problems = append(r.Problems, a.problem)
	}
}

// answer is the result of one request.
type answer struct {
	status   int
	accepted bool
	problem  string
}

// one sends request number i and checks its response.
func (x *Torture) one(ctx context.Context, i uint64) answer {
	d := x.newDraft(x.Seed, i)
	if x.Authorize != nil && !d.chance(20) {
		x.Authorize(d.header)
	}
	d.corrupt()
	r := d.request(ctx, x.Base)
	if r == nil {
		return answer{}
	}
	a, err := x.send(r)
	if err != nil && a.status == 0 && (ctx.Err() != nil || len(d.body) > httpapi.DefaultBody) {
		return answer{} // a server may close the connection on a body that it refuses
	}
	if err != nil {
		a.problem = fmt.Sprintf("request %d of seed %d: %s %.200s: %v\nbody %.300q", i, x.Seed, r.Method, r.URL, err, d.body)
	}
	return a
}

// send sends a request and checks the response.
func (x *Torture) send(r *http.Request) (answer, error) {
	start := time.Now()
	res, err := x.Client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	o, _ := x.Document.find(r)
	a := answer{status: res.StatusCode, accepted: o != nil && res.StatusCode < 300}
	body, err := io.ReadAll(res.Body)
	if err == nil {
		body, err = decoded(res, body)
	}
	if err != nil {
		return a, fmt.Errorf("read answer: %w", err)
	}
	slow := x.Slow
	if slow == 0 {
		slow = time.Minute // a busy machine may stall for many seconds; a hanging server is found nevertheless
	}
	if elapsed := time.Since(start); elapsed > slow {
		return a, fmt.Errorf("answered %d after %s", a.status, elapsed)
	}
	if a.status >= 500 {
		return a, fmt.Errorf("answered %d\n%.300s", a.status, body)
	}
	if err := x.Document.Check(r, res, body); err != nil {
		return a, fmt.Errorf("answered %d: %w\n%.300s", a.status, err, body)
	}
	return a, nil
}
