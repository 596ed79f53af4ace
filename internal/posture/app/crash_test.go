package app_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/install"
	"vigil/internal/posture/app"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestMain lets the test binary be a server, so that it can be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("VIGIL_CRASH_SERVER"); dir != "" {
		if err := crashServer(dir, os.Getenv("VIGIL_CRASH_DATABASE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func crashConfig(dir, dsn string) config.Config {
	conf := config.Config{DataDir: dir, Database: dsn}
	conf.Posture = config.Posture{Enabled: true, Workers: 2, Rate: 1_000_000, Timeout: 30 * time.Second}
	conf.Posture.Listen, conf.Posture.PlainHTTP = "127.0.0.1:0", true
	conf.Complete()
	return conf
}

// crashServer serves until it is killed, and prints its address.
func crashServer(dir, dsn string) error {
	ctx := context.Background()
	in, err := install.Open(ctx, crashConfig(dir, dsn), time.Now)
	if err != nil {
		return err
	}
	o := app.Options{Install: in, Cloud: new(memcloud.Cloud), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Now: time.Now}
	all, err := crashClouds()
	if err != nil {
		return err
	}
	if all != nil {
		o.Cloud, o.Sources, o.Client = all, all.Sources(), all.Client()
	}
	a, err := app.New(ctx, o)
	if err != nil {
		return err
	}
	url, err := a.Listen(ctx)
	if err != nil {
		return err
	}
	fmt.Println(url)
	return a.Serve(ctx)
}

// TestCrashesLoseNothing kills a server again and again while many clients
// write. What was acknowledged must be there, and nothing may be half there.
func TestCrashesLoseNothing(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		cycles := 100
		if strings.HasPrefix(dsn, "postgres") {
			cycles = 20 // it is the server's own business not to lose anything
		}
		switch {
		case os.Getenv("VIGIL_TORTURE") != "":
			cycles *= 10
		case testing.Short():
			cycles = 5
		}
		w := &witness{t: t, dir: t.TempDir(), dsn: dsn, accounts: map[string]string{}, gone: map[string]bool{}}
		in, err := install.Open(t.Context(), crashConfig(w.dir, dsn), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		_, admin, err := in.Registry.CreateOrg(t.Context(), "org", "admin")
		if err != nil {
			t.Fatal(err)
		}
		_, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(admin.Org), auth.TokenEdit{Name: "test", User: admin.ID})
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		w.apiToken = text.Reveal()
		for cycle := range cycles {
			w.cycle(cycle)
		}
		w.cycles = cycles
		w.verdict()
	})
}

// perCycle is the least number of acknowledged writes before a kill: a server
// that does nothing loses nothing.
const perCycle = 12

// A witness remembers what a server acknowledged.
type witness struct {
	t        *testing.T
	dir, dsn string
	env      []string // of the server, besides our own
	apiToken string
	cycles   int

	mu       sync.Mutex
	acked    int
	accounts map[string]string // name by id, as acknowledged last
	gone     map[string]bool   // ids whose removal was acknowledged
	unsure   map[string]bool   // ids that a request was under way for when the server died
	bulk     int
}

// cycle starts the server, checks what was acknowledged before, lets clients
// write, and kills it in the middle.
func (w *witness) cycle(n int) {
	w.t.Helper()
	cmd, base := w.start()
	c := &client{t: w.t, base: base, http: &http.Client{Timeout: 30 * time.Second}}
	c.token = c.exchange(w.apiToken)
	w.check(c)
	w.unsure = map[string]bool{}
	w.acked = 0

	enough := make(chan struct{})
	var once sync.Once
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for j := 0; w.write(c, fmt.Sprintf("%03d%d%04d", n, i, j), j); j++ {
				w.mu.Lock()
				if w.acked >= perCycle {
					once.Do(func() { close(enough) })
				}
				w.mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(30 * time.Second):
		w.t.Error("the server took no writes")
	}
	if err := cmd.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	writers.Wait()
}

// start starts a server and returns it with its address.
func (w *witness) start() (*exec.Cmd, string) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), w.env...), "VIGIL_CRASH_SERVER="+w.dir, "VIGIL_CRASH_DATABASE="+w.dsn)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.t.Fatalf("the server does not start: %v", err)
	}
	return cmd, strings.TrimSpace(line)
}

// write does one of several kinds of write. It reports false when the server is
// gone.
func (w *witness) write(c *client, seed string, kind int) bool {
	switch kind % 4 {
	case 0, 1:
		return w.add(c, "1"+seed+strings.Repeat("0", 11-len(seed)))
	case 2:
		return w.rename(c, seed)
	default:
		return w.bulkAdd(c, seed)
	}
}

// try sends a request and returns its status, or 0 when the server is gone.
func (w *witness) try(c *client, method, path string, body any, ids ...string) int {
	w.mu.Lock()
	for _, id := range ids {
		w.unsure[id] = true
	}
	w.mu.Unlock()
	status, err := c.send(method, path, body)
	if err != nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		delete(w.unsure, id)
	}
	if status < 300 {
		w.acked++
	} else if status >= 500 && status != http.StatusServiceUnavailable {
		w.t.Errorf("%s %s = %d", method, path, status)
	}
	return status
}

func (w *witness) add(c *client, id string) bool {
	body := awsAccount(id)
	status := w.try(c, "POST", accounts, body, id)
	if status == http.StatusCreated {
		w.mu.Lock()
		w.accounts[id] = "account " + id
		w.mu.Unlock()
	}
	return status != 0
}

// rename changes the name of an account that is there, or removes it.
func (w *witness) rename(c *client, seed string) bool {
	w.mu.Lock()
	var id string
	for id = range w.accounts {
		if !w.unsure[id] && !strings.HasPrefix(id, "2") {
			break
		}
	}
	if id != "" {
		w.unsure[id] = true
	}
	w.mu.Unlock()
	if id == "" || strings.HasPrefix(id, "2") {
		return true
	}
	if strings.HasSuffix(seed, "2") {
		status := w.try(c, "DELETE", accounts+"/"+id, nil, id)
		if status == http.StatusOK {
			w.mu.Lock()
			delete(w.accounts, id)
			w.gone[id] = true
			w.mu.Unlock()
		}
		return status != 0
	}
	body := awsAccount(id)
	body["cloudAccountName"] = "renamed " + seed
	status := w.try(c, "PUT", accounts+"/"+id, body, id)
	if status == http.StatusOK {
		w.mu.Lock()
		w.accounts[id] = "renamed " + seed
		w.mu.Unlock()
	}
	return status != 0
}

// bulkAdd adds five accounts at once: all or none.
func (w *witness) bulkAdd(c *client, seed string) bool {
	var ids []string
	var items []object
	for i := range 5 {
		id := fmt.Sprintf("2%s%0*d", seed, 11-len(seed), i)
		item := awsAccount(id)
		item["action"] = "post"
		ids, items = append(ids, id), append(items, item)
	}
	status := w.try(c, "POST", "/v1/cloud-accounts/bulk-update", object{"provider": "aws", "cloudAccountUpdates": items}, ids...)
	if status == http.StatusOK {
		w.mu.Lock()
		w.bulk++
		for _, id := range ids {
			w.accounts[id] = "account " + id
		}
		w.mu.Unlock()
	}
	return status != 0
}

// check holds what the server has against what it acknowledged.
func (w *witness) check(c *client) {
	w.t.Helper()
	got := c.do("POST", "/v1/cloud-accounts/query", object{})
	list, _ := got.body["cloudAccounts"].([]any)
	there := map[string]string{}
	sets := map[string]int{}
	for _, each := range list {
		record, _ := each.(object)
		id, _ := record["cloudAccountId"].(string)
		there[id], _ = record["cloudAccountName"].(string)
		if strings.HasPrefix(id, "2") {
			sets[id[:11]]++
		}
	}
	for id, name := range w.accounts {
		if got, ok := there[id]; (!ok || got != name) && !w.unsure[id] {
			w.t.Errorf("account %s was acknowledged as %q and is %q", id, name, got)
		}
	}
	for id := range w.gone {
		if _, ok := there[id]; ok {
			w.t.Errorf("account %s was removed and is there", id)
		}
	}
	for set, n := range sets {
		if n != 5 {
			w.t.Errorf("%d of 5 accounts of bulk-update %s are there", n, set)
		}
	}
	for id, name := range there { // what was under way is now known
		w.accounts[id] = name
	}
	for id := range w.unsure {
		if _, ok := there[id]; !ok {
			delete(w.accounts, id)
		}
	}
}

// verdict looks at the database itself.
func (w *witness) verdict() {
	w.t.Helper()
	in, err := install.Open(w.t.Context(), crashConfig(w.dir, w.dsn), time.Now)
	if err != nil {
		w.t.Fatal(err)
	}
	defer in.Close()
	if err := in.DB.IntegrityCheck(w.t.Context()); err != nil && strings.HasPrefix(w.dsn, "sqlite") {
		w.t.Errorf("integrity_check: %v", err)
	}
	report, err := in.Audit.Verify(w.t.Context())
	if err != nil || report.Broken != nil {
		w.t.Errorf("audit log: %+v, %v", report.Broken, err)
	}
	if w.bulk == 0 || len(w.gone) == 0 {
		w.t.Errorf("%d bulk-updates and %d removals: this tests little", w.bulk, len(w.gone))
	}
	w.t.Logf("%d kills, %d accounts, %d removals, %d bulk-updates, %d audit records", w.cycles, len(w.accounts), len(w.gone), w.bulk, report.Records)
}

// send is do for a server that may be gone.
func (c *client) send(method, path string, body any) (int, error) {
	r, err := c.request(method, path, body)
	if err != nil {
		return 0, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, errors.New("the answer was cut off")
	}
	return res.StatusCode, nil
}
