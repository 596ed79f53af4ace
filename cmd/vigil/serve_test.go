package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestPostureServerSurvivesSIGHUP sends the signal of "systemctl reload" to a server that has nothing to reload.
func TestPostureServerSurvivesSIGHUP(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "vigil", "serve")
	cmd.Env = append(environWithout("VIGIL_"), "VIGIL_DATA_DIR="+newInventory(t), "VIGIL_POSTURE_LISTEN=127.0.0.1:0", "VIGIL_DESKTOP_ENABLED=false")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); !strings.Contains(line, "posture API at") {
		t.Errorf("the first line is %q, %v; want the address of the posture API", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	logged := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); { // until the process ends
		if strings.Contains(lines.Text(), "nothing to reload") {
			logged = true
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !logged {
		t.Errorf("logged: %t, %v", logged, err)
	}
}

// A fakeServer serves until it is stopped.
type fakeServer struct {
	listenErr error
	running   chan struct{} // closed by Serve
	stopped   bool
}

func (s *fakeServer) Listen(context.Context) (string, error) { return "http://fake", s.listenErr }

func (s *fakeServer) Serve(ctx context.Context) error {
	close(s.running)
	<-ctx.Done()
	s.stopped = true
	return nil
}

func TestServersStopWhenAnotherCannotStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []string{"build", "listen"} {
		t.Run(tt, func(t *testing.T) {
			t.Parallel()
			first, wrong := &fakeServer{running: make(chan struct{})}, errors.New("wrong")
			err := runServers(t.Context(), io.Discard, []startable{
				{"first", func(context.Context) (server, error) { return first, nil }},
				{"second", func(context.Context) (server, error) {
					<-first.running
					if tt == "build" {
						return nil, wrong
					}
					return &fakeServer{listenErr: wrong}, nil
				}},
			}, func() { t.Error("ready with one server") })
			if !errors.Is(err, wrong) || !strings.Contains(err.Error(), "start the second server") || !first.stopped {
				t.Errorf("%v, stopped: %t", err, first.stopped)
			}
		})
	}
}
