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

	if got := send(t, l); got != "hello" {
		t.Errorf("a listener that is up: %q, want hello", got)
	}
	l.Set(flakylistener.Down)
	if got := send(t, l); got != "gone" {
		t.Errorf("a listener that is down: %q, want gone", got)
	}
	l.Set(flakylistener.Hung)
	if got := send(t, l); got != "silence" {
		t.Errorf("a hung listener: %q, want silence", got)
	}
	l.Set(flakylistener.Up)
	if got := send(t, l); got != "hello" {
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
	if _, err := io.ReadFull(write(t, c), make([]byte, 5)); err != nil {
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

func write(t *testing.T, c net.Conn) net.Conn {
	if _, err := c.Write([]byte("hello")); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Logf("write: %v", err)
	}
	return c
}

func send(t *testing.T, l *flakylistener.Listener) string {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "gone"
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
	answer := make([]byte, 5)
	if _, err := io.ReadFull(write(t, c), answer); errors.Is(err, os.ErrDeadlineExceeded) {
		return "silence"
	} else if err != nil {
		return "gone"
	}
	return string(answer)
}

// lateListener returns accepted connections only after it was closed.
type lateListener struct {
	net.Listener
	accepted, closed chan struct{}
}

func (l *lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	close(l.accepted)
	<-l.closed
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
	close(late.closed)
	if err := <-result; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept returns %v after Close, want %v", err, net.ErrClosed)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection was not reset: %v", err)
	}
}
