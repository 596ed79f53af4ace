package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// source is a value that a feed sends.
type source struct {
	value, reads atomic.Int64
	err          atomic.Pointer[fault.Error]
}

// routes returns a route that streams the value, and one that answers at once.
func (s *source) routes() []httpapi.Route {
	feed := httpapi.NewFeed("count", time.Second, func(context.Context, string) (int64, error) {
		s.reads.Add(1)
		if err := s.err.Load(); err != nil {
			return 0, err
		}
		return s.value.Load(), nil
	})
	key := func(context.Context) string { return "" }
	show := func(_ context.Context, n int64) any { return map[string]int64{"n": n} }
	return []httpapi.Route{
		{Pattern: "GET /stream", Need: "viewer", Operation: "stream", Events: true, Limits: httpapi.StreamLimits, Handler: feed.Stream(key, show)},
		{Pattern: "GET /now", Need: "viewer", Operation: "now", Handler: httpapi.JSON(func(context.Context, httpapi.None) (int, error) { return 1, nil })},
	}
}

// writer is a response that a test reads while it is written.
type writer struct {
	mu sync.Mutex
	*httptest.ResponseRecorder
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ResponseRecorder.Write(p)
}

func (w *writer) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Body.String()
}

func streamRequest(ctx context.Context) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/stream", nil)
	r.Header.Set("Authorization", "Bearer viewer")
	return r
}

func TestFeedSendsEachChangeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := new(source)
		m, err := httpapi.NewMux(s.routes(), httpapi.Options{Guard: guard})
		if err != nil {
			t.Fatal(err)
		}
		const streams = 3
		all := make([]*writer, streams)
		var group sync.WaitGroup
		for i := range all {
			all[i] = &writer{ResponseRecorder: httptest.NewRecorder()}
			group.Go(func() { m.ServeHTTP(all[i], streamRequest(t.Context())) })
		}
		start := time.Now()
		for n := range 3 {
			s.value.Store(int64(n))
			time.Sleep(5 * time.Second)
		}
		synctest.Wait()
		want := "retry: 1000\n\nevent: count\ndata: {\"n\":0}\n\nevent: count\ndata: {\"n\":1}\n\nevent: count\ndata: {\"n\":2}\n\n"
		for _, w := range all {
			if got := strings.ReplaceAll(w.text(), ": connected\n\n", ""); got != want {
				t.Errorf("sent %q, want %q", got, want)
			}
			if kind := w.Header().Get("Content-Type"); kind != "text/event-stream" {
				t.Errorf("Content-Type %q", kind)
			}
		}
		// One read at the start and one per second; two streams that start at once may both read the first value.
		if got := s.reads.Load(); got > 3*5+2 {
			t.Errorf("%d streams read the value %d times in 15 s, want it read once a second for all of them", streams, got)
		}
		group.Wait()
		if took := time.Since(start); took != httpapi.StreamLimits.Timeout {
			t.Errorf("the streams ended after %s, want %s", took, httpapi.StreamLimits.Timeout)
		}
		if got := strings.Count(all[0].text(), ": connected\n\n"); got != 3 {
			t.Errorf("%d heartbeats in 50 s, want 3", got)
		}
	})
}

func TestFeedEndsWhenTheValueCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := new(source)
		m, err := httpapi.NewMux(s.routes(), httpapi.Options{Guard: guard})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(10*time.Second, func() { s.err.Store(&fault.Error{Kind: fault.Unavailable, Message: "the database is down"}) })
		w, start := httptest.NewRecorder(), time.Now()
		m.ServeHTTP(w, streamRequest(t.Context()))
		if took := time.Since(start); w.Code != http.StatusOK || took > 12*time.Second {
			t.Errorf("status %d, ended after %s; want 200, ended soon after the 10 s in which the value could be read", w.Code, took)
		}
		time.Sleep(time.Minute)
		w = httptest.NewRecorder()
		m.ServeHTTP(w, streamRequest(t.Context()))
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the database is down") {
			t.Errorf("a new stream: status %d %s, want 503 with the reason", w.Code, w.Body)
		}
	})
}

func TestStreamsHaveTheirOwnLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := new(source)
		m, err := httpapi.NewMux(s.routes(), httpapi.Options{
			Guard: func(r *http.Request, need string) (context.Context, error) {
				user, org, _ := strings.Cut(r.Header.Get("Authorization"), "@")
				httpapi.SetCaller(r.Context(), httpapi.Caller{ID: user, Org: org})
				return r.Context(), nil
			},
			Admit: httpapi.Admission{Reads: 1, Shared: 1, CallerStreams: 2, OrgStreams: 3, AllStreams: 4},
		})
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		open := func(caller string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := streamRequest(t.Context())
			r.Header.Set("Authorization", caller)
			group.Go(func() { m.ServeHTTP(w, r) })
			synctest.Wait()
			return w
		}
		get := func() int {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/now", nil)
			r.Header.Set("Authorization", "ann@one")
			m.ServeHTTP(w, r)
			return w.Code
		}
		for i, tt := range []struct {
			caller string
			status int
			why    string
		}{
			{"ann@one", 200, ""},
			{"ann@one", 200, ""},
			{"ann@one", 429, "you reached the limit of 2 open event streams"},
			{"bob@one", 200, ""},
			{"eve@one", 429, "your organisation reached the limit of 3 open event streams"},
			{"ann@two", 200, ""},
			{"bob@two", 503, "too many open event streams"},
		} {
			w := open(tt.caller)
			if tt.status == 200 {
				continue // stays open and counts against the limits of the next rows
			}
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.why) || w.Header().Get("Retry-After") == "" {
				t.Errorf("stream %d, of %s: status %d %s, want %d: %s", i, tt.caller, w.Code, w.Body, tt.status, tt.why)
			}
		}
		if got := get(); got != http.StatusOK {
			t.Errorf("a request beside open streams: %d", got)
		}
		group.Wait()
		if w := open("ann@one"); w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("after all streams ended: %d %s", w.Code, w.Body)
		}
		group.Wait()
	})
}

// TestStreamsEndWhenTheServerStops opens a stream on a real server: the stop must not
// wait for the stream's own end.
func TestStreamsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	m, err := httpapi.NewMux(new(source).routes(), httpapi.Options{Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	url, stop := start(t, httpapi.ServerOptions{Handler: m, Grace: 10 * time.Minute})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer viewer")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
	}
	began := time.Now()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > httpapi.StreamLimits.Timeout/2 {
		t.Errorf("the stop took %s", took)
	}
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil {
		t.Error(fmt.Errorf("the stream did not end cleanly: %w", err))
	}
}
