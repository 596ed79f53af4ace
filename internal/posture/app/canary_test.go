package app_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture/app"
	"vigil/internal/sim/memcloud"
)

// safeBuffer is a buffer that is safe for concurrent use.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestNoSecretLeaves sends secrets to the server in every possible way, in valid and
// invalid requests, and searches for them in all output: responses, the debug log,
// audit records, metrics, the data folder and a backup.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry-0f-th3-m1n3"
	log := new(safeBuffer)
	conf := config.Config{DataDir: t.TempDir()}
	conf.Posture = config.Posture{Enabled: true, Workers: 2, Rate: 1_000_000, Timeout: 30 * time.Second}
	conf.Posture.Listen, conf.Posture.PlainHTTP = "127.0.0.1:0", true
	conf.Complete()
	in, err := instance.OpenOrInit(t.Context(), conf, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), app.Options{
		Install: in, Cloud: new(memcloud.Cloud), Metrics: prometheus.NewRegistry(), Now: time.Now,
		Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	base := serve(t, a)
	c, _, _ := newOrg(t, in, base, "org")
	var out strings.Builder
	send := func(method, path string, body any) answer {
		got := c.do(method, path, body)
		out.WriteString(got.text)
		for name, values := range got.header {
			out.WriteString(name + ": " + strings.Join(values, ",") + "\n")
		}
		return got
	}
	const azure = "/v1/providers/azure/cloud-credentials"
	id := send("POST", azure, azureCredential(canary)).member("credentialId")
	if id == "" {
		t.Fatal("the credential was not created")
	}
	send("GET", azure+"/"+id, nil)
	send("PUT", azure+"/"+id, azureCredential(canary+"-2"))
	send("POST", "/v1/cloud-credentials/query", object{})
	send("POST", "/v1/cloud-accounts/query", object{"getCredentials": true})
	send("POST", "/v1/providers/aws/cloud-credentials", azureCredential(canary)) // invalid: a credential of Azure
	send("POST", "/v1/providers/gcp/cloud-credentials", object{"properties": []object{textProperty("ServiceAccountKey", canary), textProperty("ServiceAccountEmail", "a@b.c")}})
	send("POST", "/v1/cloud-accounts/gcp-discovery-task", object{"serviceAccountKey": canary})
	send("POST", "/v1/cloud-accounts/bulk-update", object{"provider": "azure", "credentialUpdates": []object{
		{"action": "post", "properties": azureCredential(canary)["properties"]}, {"action": "post", "properties": []object{textProperty("ApplicationKey", canary)}},
	}})
	send("POST", azure, object{"properties": []object{{"name": "ApplicationKey", "type": "bool", "stringV": canary}}})
	send("POST", azure, object{"properties": canary})
	const channels = "/v1/notification-channels"
	channel := send("POST", channels, object{"name": "x", "type": "webhook", "settings": object{"url": "https://receiver.invalid/" + canary, "signingKey": canary}}).member("id")
	if channel == "" {
		t.Fatal("the notification channel was not created")
	}
	send("POST", channels, object{"name": "x", "type": "slack", "settings": object{"url": canary, "token": canary}})
	send("POST", channels+"/"+channel+"/test", nil)
	send("GET", channels, nil)
	send("GET", "/v1/audit", nil)
	send("DELETE", azure+"/"+id, nil)
	token, err := os.ReadFile(filepath.Join(conf.DataDir, "metrics.token"))
	if err != nil {
		t.Fatal(err)
	}
	scrape, err := http.NewRequestWithContext(t.Context(), "GET", base+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	scrape.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	res, err := http.DefaultClient.Do(scrape)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("read the metrics: %v, %v", res, err)
	}
	var metrics bytes.Buffer
	if _, err := metrics.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	send("POST", azure, azureCredential(canary)) // stays in the database, encrypted

	if err := in.DB.Backup(t.Context(), filepath.Join(conf.DataDir, "backup.db")); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"answers": out.String(), "log": log.String(), "metrics": metrics.String(), "data files": dataFiles(t, conf.DataDir)} {
		if len(text) < 100 {
			t.Errorf("there are no %s to search", what)
		}
		if i := strings.Index(text, canary); i >= 0 {
			t.Errorf("the secret is in the %s: …%.200s…", what, text[max(0, i-100):])
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}

// dataFiles returns the contents of all files in a folder, including the write-ahead
// log.
func dataFiles(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
