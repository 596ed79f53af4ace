package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vigil/internal/config"
	"vigil/internal/instance"
)

// TestAuditVerifySaysWhichLossIsDetected verifies a log with the checkpoint file, with the
// checkpoint of a witness only, and with neither.
func TestAuditVerifySaysWhichLossIsDetected(t *testing.T) {
	t.Parallel()
	var published string
	witness := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if published == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, published)
	}))
	defer witness.Close()
	dir := filepath.Join(t.TempDir(), "data")
	environ := []string{"VIGIL_DATA_DIR=" + dir, "VIGIL_AUDIT_CHECKPOINT_URL=" + witness.URL}
	vigil(t, environ, 0, "init")
	verify := func(want string) {
		t.Helper()
		if got := vigil(t, environ, 0, "admin", "audit", "verify"); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
	const noCheckpoint = "there is no checkpoint to compare with, so a loss of the newest records may not be detected\n"
	verify("the log has no records\n" + noCheckpoint)
	vigil(t, environ, 0, "admin", "org", "add", "first")
	vigil(t, environ, 0, "admin", "org", "add", "second")
	verify("2 records, 1 to 2, are intact\n")

	conf := config.Config{DataDir: dir}
	conf.Complete()
	in, err := instance.OpenDespiteLoss(t.Context(), conf, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	checkpoint, err := in.Audit.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(conf.Audit.Checkpoint); err != nil {
		t.Fatal(err)
	}
	verify("2 records, 1 to 2, are intact\n" + noCheckpoint)
	published = checkpoint.String()
	verify("2 records, 1 to 2, are intact\n" +
		"there is no checkpoint file, and the newest checkpoint of a witness is of record 2: a loss of later records may not be detected\n")
}
