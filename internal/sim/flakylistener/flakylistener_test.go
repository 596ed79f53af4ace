package flakylistener_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"vigil/internal/sim/flakylistener"
)

func TestStates(t *testing.T) {
	t.Parallel()
	l := serveEcho(t)

	if got := send(l, time.Minute); got != "hello" {
		t.Errorf("a listener that is up: %q, want hello", got)
	}
	l.Set(flakylistener.Down)
	if got := send(l, time.Minute); got != "gone" {
		t.Errorf("a listener that is down: %q, want gone", got)
	}
	l.Set(flakylistener.Hung)
	if got := send(l, 100*time.Millisecond); got != "silence" {
		t.Errorf("a hung listener: %q, want silence", got)
	}
	l.Set(flakylistener.Up)
	if got := send(l, time.Minute); got != "hello" {
		t.Errorf("a listener that is up again: %q, want hello", got)
	}
}

func TestSetDropsOpenConnections(t *testing.T) {
	t.Parallel()
	l := serveEcho(t)
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := exchange(c); err != nil {
		t.Fatal(err)
	}
	l.Set(flakylistener.Down)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("an open connection was not reset")
	}
}

func serveEcho(t *testing.T) *flakylistener.Listener {
	l, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l
}

// exchange sends "hello" to an echo server and returns the answer.
func exchange(c net.Conn) (string, error) {
	answer := make([]byte, len("hello"))
	if _, err := c.Write([]byte("hello")); err != nil {
		return "", err
	}
	_, err := io.ReadFull(c, answer)
	return string(answer), err
}

// send connects to an echo server and returns its answer, "silence" if it does not answer in time, or
// "gone" if there is no connection.
func send(l *flakylistener.Listener, limit time.Duration) string {
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "gone"
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(limit))
	answer, err := exchange(c)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silence"
	case err != nil:
		return "gone"
	}
	return answer
}

// lateListener accepts one connection. Its Accept closes the channel accepted, and returns the
// connection when the test has closed the channel release.
type lateListener struct {
	net.Listener
	accepted, release chan struct{}
}

func (l *lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	close(l.accepted)
	<-l.release
	return c, nil
}

// TestCloseResetsConnectionsThatAreBeingAccepted closes a listener between the moment in which
// the system accepts a connection and the moment in which the listener knows it.
func TestCloseResetsConnectionsThatAreBeingAccepted(t *testing.T) {
	t.Parallel()
	l, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	late := &lateListener{l.Listener, make(chan struct{}), make(chan struct{})}
	l.Listener = late
	result := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			defer c.Close()
		}
		result <- err
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	<-late.accepted
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	close(late.release)
	if err := <-result; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept returns %v after Close, want %v", err, net.ErrClosed)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection was not reset: %v", err)
	}
}
