package httpapi_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/httpapi"
)

// pipeListener is a listener in memory: connections over a network do not have the
// clock of synctest.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
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
	l := &pipeListener{make(chan net.Conn), make(chan struct{})}
	s.SetListener(l)
	ctx, stop := context.WithCancel(t.Context())
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
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return time.Since(began)
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
			t.Errorf("the stop ended after %s, the handler had finished: %t", took, finished.Load())
		}
	})
}

func TestStopDoesNotWaitForeverForHandlers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		if took := stopDuring(t, time.Minute, func(*http.Request) { <-release }); took > 2*time.Minute {
			t.Errorf("the stop took %s", took)
		}
		close(release)
	})
}
