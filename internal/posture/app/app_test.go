package app_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/config"
	"vigil/internal/install"
	"vigil/internal/posture/api"
	"vigil/internal/posture/app"
	"vigil/internal/posture/collect"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// newApp builds a server over a database, without limits that would get in the
// way of a test.
func newApp(t *testing.T, dsn string, cloud *memcloud.Cloud, sources ...collect.Source) (*app.App, *install.Installation) {
	t.Helper()
	conf := config.Config{DataDir: t.TempDir(), Database: dsn}
	conf.Posture = config.Posture{Enabled: true, Workers: 4, Rate: 1_000_000, Timeout: 30 * time.Second}
	conf.Posture.Listen, conf.Posture.PlainHTTP = "127.0.0.1:0", true
	conf.Complete()
	in, err := install.Open(t.Context(), conf, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	a, err := app.New(t.Context(), app.Options{
		Install: in, Cloud: cloud, Sources: sources, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, in
}

func TestRoutesMatchTheDocument(t *testing.T) {
	t.Parallel()
	a, _ := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	apitest.Load(t, api.Document).CheckRoutes(t, a.Routes())
}
