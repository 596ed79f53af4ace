package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/internal/config"
	"vigil/internal/httpapi"
	"vigil/internal/instance"
)

// newDoctor returns a doctor for a posture server that is configured but not installed:
// its data folder does not exist.
func newDoctor(t *testing.T) *doctor {
	t.Helper()
	conf := config.Config{DataDir: filepath.Join(t.TempDir(), "data"), MinFreeMB: 1}
	conf.Posture.Enabled, conf.Posture.Listen, conf.Posture.PlainHTTP = true, "127.0.0.1:0", true
	conf.Complete()
	return &doctor{conf: conf, now: time.Now}
}

// diagnoses returns the diagnoses by check.
func diagnoses(t *testing.T, d *doctor) map[string]diagnosis {
	t.Helper()
	all := map[string]diagnosis{}
	for _, diagnosis := range d.examine(t.Context(), time.Minute) {
		if diagnosis.status == checkFailed && diagnosis.next == "" {
			t.Errorf("%s failed without advice: %s", diagnosis.check, diagnosis.detail)
		}
		all[diagnosis.check] = diagnosis
	}
	return all
}

func wantStatuses(t *testing.T, got map[string]diagnosis, statuses map[string]string) {
	t.Helper()
	for check, status := range statuses {
		if got[check].status != status {
			t.Errorf("%s is %q, not %q: %s", check, got[check].status, status, got[check].detail)
		}
	}
}

func TestDoctorCreatesNothing(t *testing.T) {
	t.Parallel()
	d := newDoctor(t)
	wantStatuses(t, diagnoses(t, d), map[string]string{"data folder": checkFailed, "disk space": checkSkipped, "master key": checkFailed, "database": checkFailed, "clock": checkSkipped})
	if _, err := os.Stat(d.conf.DataDir); err == nil {
		t.Error("it created the data folder")
	}
	if err := os.Mkdir(d.conf.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	wantStatuses(t, diagnoses(t, d), map[string]string{"data folder": checkOK, "disk space": checkOK, "master key": checkFailed, "database": checkFailed})
	if files, err := os.ReadDir(d.conf.DataDir); err != nil || len(files) > 0 {
		t.Errorf("it created %v, %v", files, err)
	}
}

func TestDoctorChecksAnInstallation(t *testing.T) {
	t.Parallel()
	d := newDoctor(t)
	if err := instance.Init(t.Context(), d.conf, time.Now); err != nil {
		t.Fatal(err)
	}
	// The database has a warning, because instance.Init does not create the tables of the posture server: their migrations are pending.
	wantStatuses(t, diagnoses(t, d), map[string]string{
		"settings": checkOK, "data folder": checkOK, "master key": checkOK, "database": checkWarning, "posture certificate": checkSkipped, "posture server": checkWarning, "clock": checkOK,
	})
	d.conf.Posture.Enabled = false // then its tables are not needed
	wantStatuses(t, diagnoses(t, d), map[string]string{"database": checkOK})
	d.now = func() time.Time { return time.Now().Add(-time.Hour) }
	wantStatuses(t, diagnoses(t, d), map[string]string{"clock": checkFailed})
	if err := os.Chmod(d.conf.DataDir, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := diagnoses(t, d)["data folder"]; got.status != checkFailed || !strings.HasPrefix(got.next, "chmod 700") {
		t.Errorf("a folder that other users can change: %+v", got)
	}
}

func TestDoctorChecksTheServer(t *testing.T) {
	t.Parallel()
	status, body := http.StatusOK, `{"status":"ok"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	d := newDoctor(t)
	listener := config.Listener{Listen: s.Listener.Addr().String(), PlainHTTP: true}
	if got := d.server(t.Context(), "posture", listener); got.status != checkOK {
		t.Errorf("a server that is ready: %+v", got)
	}
	status, body = http.StatusServiceUnavailable, `{"status":"failing","checks":{"database":"it is gone","disk":"ok"}}`
	if got := d.server(t.Context(), "posture", listener); got.status != checkFailed || !strings.HasSuffix(got.detail, "is not ready: database: it is gone") {
		t.Errorf("a server that is not ready: %+v", got)
	}
	status, body = http.StatusOK, "<html>"
	if got := d.server(t.Context(), "posture", listener); got.status != checkFailed || !strings.Contains(got.next, "posture.listen") {
		t.Errorf("another program: %+v", got)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.conf.Posture.CloudGateway = closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if got := d.gateway(t.Context()); got.status != checkFailed || !strings.Contains(got.next, "cloud_gateway_ca") {
		t.Errorf("a gateway without its authority: %+v", got)
	}
	d.conf.Posture.CloudGatewayCA = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(d.conf.Posture.CloudGatewayCA, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.gateway(t.Context()); got.status != checkFailed || !strings.HasPrefix(got.next, "start the simulator") {
		t.Errorf("a gateway that does not run: %+v", got)
	}
	d.conf.Posture.CloudGateway = s.Listener.Addr().String()
	if got := d.gateway(t.Context()); got.status != checkWarning {
		t.Errorf("a gateway that runs: %+v", got)
	}
}

func TestDoctorChecksCertificates(t *testing.T) {
	t.Parallel()
	d := newDoctor(t)
	selfSigned := config.Listener{}
	if got := d.certificate("posture", selfSigned); got.status != checkSkipped {
		t.Errorf("before the first start: %+v", got)
	}
	if _, err := httpapi.OwnCertificate(filepath.Join(d.conf.DataDir, "tls"), slog.New(slog.DiscardHandler), time.Now); err != nil {
		t.Fatal(err)
	}
	cert, key, _ := d.tlsFiles(selfSigned)
	configured := config.Listener{TLSCert: cert, TLSKey: key}
	// The certificate is valid for two years. When it has expired, a restart replaces it if the server made it itself: that is only a warning.
	for _, c := range []struct {
		later                  time.Duration
		selfSigned, configured string
	}{{-48 * time.Hour, checkFailed, checkFailed}, {0, checkOK, checkOK}, {2*365*24*time.Hour - 48*time.Hour, checkWarning, checkWarning}, {3 * 365 * 24 * time.Hour, checkWarning, checkFailed}} {
		d.now = func() time.Time { return time.Now().Add(c.later) }
		if a, b := d.certificate("posture", selfSigned), d.certificate("posture", configured); a.status != c.selfSigned || b.status != c.configured {
			t.Errorf("after %s: %+v and %+v", c.later, a, b)
		}
	}
	if got := d.certificate("posture", config.Listener{TLSCert: key, TLSKey: cert}); got.status != checkFailed {
		t.Errorf("not a certificate: %+v", got)
	}
}

func TestDoctorOutput(t *testing.T) {
	t.Parallel()
	all := []diagnosis{{"a", checkOK, "fine", ""}, {"b", checkFailed, "broken\x1b[2J", "mend it"}}
	var text, csv strings.Builder
	if err := (&doctorCmd{Output: "table"}).show(&text, all); err != nil {
		t.Fatal(err)
	}
	if err := (&doctorCmd{Output: "csv"}).show(&csv, all); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.Contains(got, "do: mend it") || strings.Contains(got, "\x1b") {
		t.Errorf("the text is %q, want what to do, without colours", got)
	}
	if got := csv.String(); !strings.HasPrefix(got, "check,status,detail,next\na,ok,fine,\nb,failed,") {
		t.Errorf("the CSV is %q, want a heading, a and b", got)
	}
	// Invalid settings are a diagnosis too, and the command fails.
	var out strings.Builder
	err := (&doctorCmd{Output: "csv", Within: time.Minute}).Run(&environment{ctx: t.Context(), stdout: &out})
	if exitCode(err) != exitFailed || !strings.Contains(out.String(), "settings,failed") {
		t.Error(fmt.Sprint(err), out.String())
	}
}
