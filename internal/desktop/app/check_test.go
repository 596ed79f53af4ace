package app_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/app"
	"vigil/internal/sim/directory"
	"vigil/internal/sim/estate"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestCheckReportsProblemsWithReasons(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	w.login()
	problems := func() map[string]string {
		report, err := app.Check(t.Context(), w.estate.InventoryFile(), nil, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, f := range report.Findings {
			if f.Problem != "" {
				out[f.Ref.Name] = f.Problem
			} else if f.Warning != "" {
				out[f.Ref.Name] = "warning: " + f.Warning
			}
		}
		if report.Unprobed != 11 { // 2 gateways and 9 RDS servers
			t.Errorf("%d machines are not probed, want 11", report.Unprobed)
		}
		return out
	}
	if got := problems(); len(got) != 0 {
		t.Errorf("a healthy environment has problems: %v", got)
	}
	for _, name := range []string{"domain-refuses-binds", "saml-tampered", "sso-template-gone", "composer-untrusted", "center-down", "pod-down"} {
		begin(name)(w)
	}
	got := problems()
	for name, want := range map[string]string{ // "": any problem
		"lab.example": "refuses to bind", "Corporate sign-on": "not signed by an accepted signer", "Corporate logon": "no such template",
		"composer1.corp.example": "certificate", "vc1.corp.example": "", "cs1.pod1.example": "",
	} {
		if problem, ok := got[name]; !ok || !strings.Contains(problem, want) {
			t.Errorf("%s: %q, want %q in it", name, problem, want)
		}
	}
	for _, name := range []string{"saml-tampered", "sso-template-gone"} {
		end(name)(w)
	}
	for _, name := range []string{"saml-ending", "sso-template-weak", "server-certificate-ending"} {
		begin(name)(w)
	}
	got = problems()
	for name, want := range map[string]string{
		"Corporate sign-on": "warning: ", "Corporate logon": "warning: DesktopLogon: it allows keys of 1024 bits", peer: "warning: its certificate expires on",
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	w.estate.Domains[0].Change(func(d *directory.Domain) { d.Groups = nil })
	if got := problems()["group Desktop Root Administrators"]; !strings.Contains(got, "corp.example has no group Desktop Root Administrators") {
		t.Errorf("the problem of the missing administrators' group is %q", got)
	}
	if _, err := app.Check(t.Context(), w.dir+"/none.yaml", nil, time.Now); err == nil {
		t.Error("a missing inventory is accepted")
	}
}

// TestCheckReportsServersThatAnswer404 replaces the composer and a pod's
// endpoint by a web server without content.
func TestCheckReportsServersThatAnswer404(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), fewProbes: true})
	notFound := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(notFound.Close)
	sum := sha256.Sum256(notFound.Certificate().Raw)
	text, err := os.ReadFile(w.estate.InventoryFile())
	if err != nil {
		t.Fatal(err)
	}
	thumbprint := "tls: {thumbprint: \"" + hex.EncodeToString(sum[:]) + "\"}"
	changed := regexp.MustCompile(`(name: composer1\.corp\.example\n *url: )\S+\n( *)tls: .*`).ReplaceAll(text, []byte("${1}"+notFound.URL+"\n${2}"+thumbprint))
	changed = regexp.MustCompile(`name: cs1\.pod1\.example, url: \S+, tls: \{.*?\}`).ReplaceAll(changed, []byte("name: cs1.pod1.example, url: "+notFound.URL+", "+thumbprint))
	if n := strings.Count(string(changed), notFound.URL); n != 2 {
		t.Fatalf("%d of 2 addresses were changed:\n%s", n, changed)
	}
	path := filepath.Join(filepath.Dir(w.estate.InventoryFile()), "nothing.yaml")
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := app.Check(t.Context(), path, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	problems := map[string]string{}
	for _, f := range report.Findings {
		problems[f.Ref.Name] = f.Problem
	}
	for _, name := range []string{"composer1.corp.example", "cs1.pod1.example"} {
		if got := problems[name]; !strings.Contains(got, "404") {
			t.Errorf("%s: %q, want a problem that names the status 404", name, got)
		}
	}
}

// TestCheckCreatesNoTables checks an event database without tables.
func TestCheckCreatesNoTables(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Postgres(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	e, err := estate.New(estate.Options{Dir: t.TempDir(), Size: tiny(), EventDatabase: &estate.Database{
		Host: u.Hostname(), Port: port, Name: strings.TrimPrefix(u.Path, "/"), User: u.User.Username(), Password: password, Plain: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Stop() })
	if _, err := e.WriteInventory("https://localhost:8444"); err != nil {
		t.Fatal(err)
	}
	report, err := app.Check(t.Context(), e.InventoryFile(), nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(report.Findings, func(f app.Finding) bool { return f.Ref.Kind == desktop.KindEventDatabase })
	if i < 0 || report.Findings[i].Problem != "" || !strings.Contains(report.Findings[i].Warning, "no event tables yet") {
		t.Errorf("findings %+v", report.Findings)
	}
	err = dbtest.Open(t, dsn).Read(t.Context(), func(tx *sqldb.Tx) error {
		tables, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`)
		if len(tables) != 0 {
			t.Errorf("the check created %q", tables)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
