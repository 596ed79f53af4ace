package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/fault"
)

// TestInterruptedCommands interrupts commands that wait for a server, which answers some
// requests (the first is for an access token) and then none. Their exit code must report a failure, unless the command is meant
// to run until it is interrupted.
func TestInterruptedCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		args    []string
		answers int
		code    int
		stderr  string
	}{
		{"login", []string{"accounts"}, 0, exitFailed, "vigil: interrupted\n"},
		{"list", []string{"accounts"}, 1, exitFailed, "vigil: interrupted\n"},
		{"follow, login", []string{"audit", "list", "--follow"}, 0, 0, ""},
		{"follow, first page", []string{"audit", "list", "--follow"}, 1, 0, ""},
		{"follow, later page", []string{"audit", "list", "--follow", "--interval", "1ms"}, 3, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			called := make(chan struct{}, 10)
			var requests atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the connection is not noticed
				if requests.Add(1) <= int64(tt.answers) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"access_token":"a","expires_in":1800,"results":[]}`)
					return
				}
				called <- struct{}{}
				<-r.Context().Done()
			}))
			t.Cleanup(s.Close)
			var stderr strings.Builder
			cmd := exec.CommandContext(t.Context(), "vigil", tt.args...)
			cmd.Env = append(environWithout("VIGIL_"), "VIGIL_URL="+s.URL, "VIGIL_TOKEN=token", "VIGIL_PROFILES="+t.TempDir()+"/profiles.yaml")
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-called:
			case <-time.After(2 * time.Minute):
				t.Errorf("the server was called %d times", requests.Load())
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != tt.code || stderr.String() != tt.stderr {
				t.Errorf("exit %d, want %d: %s", code, tt.code, stderr.String())
			}
		})
	}
}

func TestInterruptionDoesNotHideOtherErrors(t *testing.T) {
	t.Parallel()
	interrupted := fault.Wrap(fault.Unavailable, context.Canceled, "the server cannot be reached")
	broken := errors.New("the database cannot be closed")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, tt := range []struct {
		ctx       context.Context
		err, want error
	}{
		{stopped, nil, nil},
		{stopped, interrupted, nil},
		{stopped, errors.Join(interrupted, nil), nil},
		{stopped, errors.Join(errors.Join(interrupted, broken), context.Canceled), broken},
		{stopped, broken, broken},
		{t.Context(), interrupted, context.Canceled},
	} {
		err := (&environment{ctx: tt.ctx}).untilStopped(tt.err)
		hidesOther := tt.want != context.Canceled && errors.Is(err, context.Canceled)
		if !errors.Is(err, tt.want) || hidesOther {
			t.Errorf("%v: %v, want %v", tt.err, err, tt.want)
		}
	}
}
