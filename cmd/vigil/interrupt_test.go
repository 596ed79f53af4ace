package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestInterruptedCommandFails interrupts a command that waits for a server: a script must
// not take that for success.
func TestInterruptedCommandFails(t *testing.T) {
	t.Parallel()
	called := make(chan struct{}, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called <- struct{}{}
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the connection is not noticed
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), "vigil", "accounts")
	cmd.Env = append(environWithout("VIGIL_"), "VIGIL_URL="+s.URL, "VIGIL_TOKEN=token", "VIGIL_PROFILES="+t.TempDir()+"/profiles.yaml")
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-called:
	case <-time.After(time.Minute):
		t.Error("the server was not called")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || stderr.String() != "vigil: interrupted\n" {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
}
