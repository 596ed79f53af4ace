package main

import (
	"net"
	"path/filepath"
	"testing"
)

func TestNotifyReady(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := notifyReady(); err != nil {
		t.Errorf("without systemd: %v", err)
	}
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	if err := notifyReady(); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 64)
	n, err := conn.Read(message)
	if err != nil || string(message[:n]) != "READY=1" {
		t.Errorf("the message is %q, %v; want READY=1", message[:n], err)
	}
	t.Setenv("NOTIFY_SOCKET", path+".gone")
	if err := notifyReady(); err == nil {
		t.Error("notifying a missing socket succeeded")
	}
}
