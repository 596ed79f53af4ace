package app_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture/app"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/store"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// newApp builds a server over a database, with rate limits that do not affect tests.
func newApp(t *testing.T, dsn string, cloud *memcloud.Cloud, sources ...collect.Source) (*app.App, *instance.Installation) {
	t.Helper()
	return build(t, dsn, app.Options{Cloud: cloud, Sources: sources})
}

// build builds a server. It sets the installation, the log and the clock of the
// options.
func build(t *testing.T, dsn string, o app.Options) (*app.App, *instance.Installation) {
	t.Helper()
	return buildWith(t, dsn, o, func(*config.Posture) {})
}

// migrated is a database with the tables of the store.
var migrated = dbtest.NewTemplate(store.Migrate)

// buildWith is build with changed settings.
func buildWith(t *testing.T, dsn string, o app.Options, change func(*config.Posture)) (*app.App, *instance.Installation) {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Metrics = prometheus.NewRegistry()
	conf := config.Config{DataDir: t.TempDir(), Database: dsn}
	conf.Posture = config.Posture{Enabled: true, Workers: 4, Rate: 1_000_000, Timeout: 30 * time.Second}
	conf.Posture.Listen, conf.Posture.PlainHTTP = "127.0.0.1:0", true
	change(&conf.Posture)
	conf.Complete()
	migrated.CopyTo(t, dsn)
	in, err := instance.OpenOrInit(t.Context(), conf, o.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Install = in
	a, err := app.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a, in
}

// launch runs a server with job workers, and returns its URL.
func launch(t *testing.T, dsn string, o app.Options) (*instance.Installation, string) {
	t.Helper()
	a, in := build(t, dsn, o)
	base, err := a.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	background(t, a.Serve)
	return in, base
}

// TestServeEndsWhenTheServerFails starts a server again after it closed its port.
func TestServeEndsWhenTheServerFails(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base, err := a.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { served <- a.Serve(ctx) }()
	response, err := http.Get(base + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	stop()
	if err := <-served; err != nil {
		t.Fatal(err)
	}

	go func() { served <- a.Serve(t.Context()) }()
	select {
	case err := <-served:
		if !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the closed server ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("Serve does not return although the server is closed")
	}
}

// TestUseOfTokensIsRecordedWhileTheServerStops exchanges a token in a request that began
// before the stop signal.
func TestUseOfTokensIsRecordedWhileTheServerStops(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base, err := a.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { served <- a.Serve(ctx) }()
	_, _, admin := newOrg(t, in, base, "org")
	_, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(admin.Org), auth.TokenEdit{Name: "second", User: admin.ID, Role: auth.Admin})
	if err != nil {
		t.Fatal(err)
	}

	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := url.Values{"refresh_token": {text.Reveal()}}.Encode()
	fmt.Fprintf(conn, "POST /csp/gateway/am/api/auth/api-tokens/authorize HTTP/1.1\r\nHost: vigil\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	answers := bufio.NewReader(conn)
	// The server sends this line when it begins to read the body: the request is in progress.
	if line, err := answers.ReadString('\n'); !strings.Contains(line, "100 Continue") {
		t.Fatalf("the first line is %q, %v; want 100 Continue", line, err)
	}
	stop()
	// Give anything that wrongly ends at the signal the time to end. Correct code causes no event to wait for, and passes
	// with any duration.
	time.Sleep(200 * time.Millisecond)
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(answers); !strings.Contains(string(rest), "200 OK") {
		t.Fatalf("the exchange returns %s, %v", rest, err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	err = in.DB.Read(t.Context(), func(tx *sqldb.Tx) error {
		n, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT count(*) FROM auth_token WHERE last_used_at IS NULL`)
		if n != 0 {
			t.Errorf("the use of %d tokens was not recorded", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRoutesMatchTheDocument(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	document.CheckRoutes(t, a.Routes())
}
