package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/httpapi"
)

// pipeListener is a listener in memory: the clock of synctest does not advance while a
// goroutine waits for a network.
type pipeListener struct {
	conns  chan net.Conn
	fails  chan struct{} // makes Accept fail when it is closed
	closed chan struct{}
}

var errAccept = errors.New("too many open files")

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.fails:
		return nil, errAccept
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// stopDuring sends a request without the body that it announces, stops the server while
// the handler runs, and returns how long the stop took.
func stopDuring(t *testing.T, grace time.Duration, handle func(*http.Request)) time.Duration {
	t.Helper()
	end := func(_ *pipeListener, stop context.CancelFunc) { stop() }
	took, err := endDuring(t, grace, handle, end)
	if err != nil {
		t.Error(err)
	}
	return took
}

// endDuring sends a request without the body that it announces, and calls end while the
// handler runs. It returns how long the server took to return afterwards, and its error.
// net/http does not cancel a request whose body was not read when it closes the connection.
func endDuring(t *testing.T, grace time.Duration, handle func(*http.Request), end func(l *pipeListener, stop context.CancelFunc)) (time.Duration, error) {
	t.Helper()
	entered := make(chan struct{})
	s, err := httpapi.NewServer(httpapi.ServerOptions{
		Address: "127.0.0.1:0", Grace: grace,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(entered)
			handle(r)
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &pipeListener{make(chan net.Conn), make(chan struct{}), make(chan struct{})}
	s.SetListener(l)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	client, server := net.Pipe()
	defer client.Close()
	l.conns <- server
	if _, err := fmt.Fprint(client, "POST /x HTTP/1.1\r\nHost: vigil\r\nContent-Length: 1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-entered
	began := time.Now()
	end(l, stop)
	err = <-done
	return time.Since(began), err
}

func TestStopWaitsForHandlersThatItCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var finished atomic.Bool
		took := stopDuring(t, time.Minute, func(r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Hour):
				t.Error("the request was not cancelled")
			}
			<-time.After(time.Second) // such as the end of a transaction
			finished.Store(true)
		})
		if !finished.Load() || took < time.Minute {
			t.Errorf("the stop ended after %s, the handler had finished: %t; want it finished, after the grace period", took, finished.Load())
		}
	})
}

func TestFailedListenerCancelsAndAwaitsHandlers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var finished atomic.Bool
		handle := func(r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Hour):
				t.Error("the request was not cancelled")
			}
			<-time.After(time.Second)
			finished.Store(true)
		}
		_, err := endDuring(t, time.Minute, handle, func(l *pipeListener, _ context.CancelFunc) { close(l.fails) })
		if !errors.Is(err, errAccept) {
			t.Errorf("the server ends with %v, want %v", err, errAccept)
		}
		if !finished.Load() {
			t.Error("the server did not wait for the handler")
		}
	})
}

// TestRequestsThatAStopCancelsAreRecordedAsSuch checks that the log and the audit log do
// not say that the caller closed the connection.
func TestRequestsThatAStopCancelsAreRecordedAsSuch(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	hang := httpapi.JSON(func(ctx context.Context, _ httpapi.None) (any, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	var log strings.Builder
	records := &recordingAuditor{}
	handler := mux(t, httpapi.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Audit: records}, public("POST /hang", hang))
	finished := make(chan struct{})
	url, stop := start(t, httpapi.ServerOptions{Grace: 10 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(finished)
		handler.ServeHTTP(w, r)
	})})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if res, err := http.Post(url+"/hang", "application/json", nil); err == nil {
			res.Body.Close()
		}
	}()
	<-entered
	if err := stop(); err != nil {
		t.Error(err)
	}
	<-answered
	<-finished // stop waits for the handler for a limited time, which can be too short on a slow machine
	if got := log.String(); !strings.Contains(got, "status=503") || !strings.Contains(got, "level=INFO") {
		t.Errorf("the log has %s, want status 503 at level INFO", got)
	}
	if !slices.Equal(records.statuses, []int{http.StatusServiceUnavailable}) {
		t.Errorf("the audit records have the statuses %d, want one of 503", records.statuses)
	}
}

// recordingAuditor records the statuses of audit records.
type recordingAuditor struct{ statuses []int }

func (*recordingAuditor) Attach(ctx context.Context, _ httpapi.Pending) context.Context { return ctx }

func (a *recordingAuditor) Append(_ context.Context, e httpapi.Event) error {
	a.statuses = append(a.statuses, e.Status)
	return nil
}

func TestStopDoesNotWaitForeverForHandlers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		if took := stopDuring(t, time.Minute, func(*http.Request) { <-release }); took > 2*time.Minute {
			t.Errorf("the stop took %s, want at most two minutes", took)
		}
		close(release)
	})
}
