package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/config"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// The limits of a server under attack.
const (
	maxSlowdown   = 5                     // maximum ratio of the p99 response time of a well-behaved client under attack to that without
	minBaseline   = 10 * time.Millisecond // a shorter p99 without attack counts as this one, because the attackers use the same processors
	maxResident   = 768 << 20             // maximum resident memory
	maxDiskGrowth = 64 << 20              // maximum growth of the data folder and the database, without the changes of the well-behaved client
	diskPerChange = 16 << 10              // further growth for each of these changes, with its audit record, job and indexes
	shortAttack   = 4 * time.Second       // duration in a normal test run
	attackRound   = 20 * time.Second      // duration of an attack; the phase without attack before it takes half as long
)

// TestHostileClient runs the real server with a well-behaved organisation and a hostile client:
// anonymous floods, bodies that never end, the most expensive allowed requests, and
// invalid ones. VIGIL_HOSTILE_CLIENT sets the duration, such as 10m; see make hostile-client.
// The waiting time of the well-behaved client is checked only if it is set: other tests
// would disturb the measurement. Phases with and without attack alternate, so that any
// remaining load affects both.
func TestHostileClient(t *testing.T) {
	length, checkLatency := shortAttack, false
	if text := os.Getenv("VIGIL_HOSTILE_CLIENT"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		checkLatency = true
	} else if testing.Short() {
		t.Skip("takes twenty seconds: left out with -short")
	}
	var turn sync.Mutex // the tests would disturb each other
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		turn.Lock()
		defer turn.Unlock()
		f := startAttackedServer(t, dsn, fillWeb(t, 500, 4)) // a graph of 500 vertices with 4 edges each
		attackers := f.startAttackers()
		var baseline, attacked waits
		before, memory := f.diskUse(), int64(0)
		for begin := time.Now(); ; {
			round := min(attackRound, length) // under attack, and half as long without
			f.useNormally(&baseline, round/2, func() bool { return true })
			f.resetPeak()
			attackers.attack()
			f.useNormally(&attacked, round, attackers.hasAnswer)
			memory = max(memory, f.status("VmHWM"))
			attackers.pause()
			if time.Since(begin) >= length*3/2 {
				break
			}
			t.Logf("after %v: without attack %v; under attack %v", time.Since(begin).Round(time.Second), &baseline, &attacked)
		}
		attackers.stop()
		f.checkLimits(&baseline, &attacked, memory, f.diskUse()-before, checkLatency)
	})
}

// An attackedServer is a server that a hostile client attacks.
type attackedServer struct {
	t                       *testing.T
	binary                  string
	dir, dsn                string
	base                    string
	pid                     int
	goodToken, hostileToken string // API tokens of the well-behaved and the hostile organisation

	mu       sync.Mutex
	statuses map[int]int // responses to attackers by status
	problems []string
	written  int // accounts added by the well-behaved client
}

// vigil returns a command of the built executable, without the settings in the
// environment of the tests. GOGC and GOMEMLIMIT would change its memory.
func (f *attackedServer) vigil(args ...string) *exec.Cmd {
	cmd := exec.Command(f.binary, args...)
	cmd.Env = environWithout("VIGIL_", "GOGC=", "GOMEMLIMIT=")
	return cmd
}

// startAttackedServer creates an installation with two organisations and starts its server.
// fill, if not nil, adds data before the start.
func startAttackedServer(t *testing.T, dsn string, fill func(config.Config), flags ...string) *attackedServer {
	t.Helper()
	f := &attackedServer{t: t, dir: filepath.Join(t.TempDir(), "data"), dsn: dsn, statuses: map[int]int{}, binary: os.Getenv("VIGIL_HOSTILE_CLIENT_BINARY")}
	// VIGIL_HOSTILE_CLIENT_BINARY names another build, for example an older one to compare with.
	if f.binary == "" {
		var err error
		if f.binary, err = builtVigil(); err != nil {
			t.Fatal(err)
		}
	}
	settings := []string{"--data-dir", f.dir, "--database", dsn, "--min-free-mb", "0"}
	run := func(args ...string) string {
		out, err := f.vigil(append(args, settings...)...).Output()
		if err != nil {
			t.Fatalf("vigil %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	run("init")
	f.goodToken = run("org", "add", "good")
	f.hostileToken = run("org", "add", "bad")
	if fill != nil {
		conf := config.Config{DataDir: f.dir, Database: dsn}
		conf.Complete()
		fill(conf)
	}
	serve := f.vigil(append([]string{"serve", "--posture-plain-http", "--posture-listen", "127.0.0.1:0", "--log-level", "error"}, slices.Concat(settings, flags)...)...)
	serve.Stderr = os.Stderr
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server does not start: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	f.base, f.pid = strings.TrimSpace(line[strings.Index(line, "http"):]), serve.Process.Pid
	return f
}

// caller is a client, with an access token unless it is anonymous.
type caller struct {
	t       *testing.T
	base    string
	http    *http.Client
	token   string
	problem func(string) // called for server errors (5xx), except 503 with Retry-After
}

func (f *attackedServer) problem(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problems = append(f.problems, text)
}

func (f *attackedServer) caller(apiToken string) *caller {
	c := &caller{t: f.t, base: f.base, http: &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, problem: f.problem}
	if apiToken == "" {
		return c
	}
	res, err := c.http.PostForm(f.base+"/csp/gateway/am/api/auth/api-tokens/authorize", url.Values{"refresh_token": {apiToken}})
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&granted); err != nil || granted.AccessToken == "" {
		f.t.Fatalf("token exchange: %d, %v", res.StatusCode, err)
	}
	c.token = granted.AccessToken
	return c
}

// send returns the status of a response, or 0 without one, and reports responses that no server may send.
func (c *caller) send(ctx context.Context, method, path string, body []byte) int {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		c.problem(err.Error())
		return 0
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if res.StatusCode >= 500 && (res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "") {
		c.problem(fmt.Sprintf("%s %s = %d %.200s", method, path, res.StatusCode, answer))
	}
	return res.StatusCode
}

// waits are the response times of the well-behaved client, by request.
type waits struct {
	all  []time.Duration
	step [3][]time.Duration
}

func (w *waits) p(percent int) time.Duration { return percentile(w.all, percent) }

func percentile(elapsed []time.Duration, percent int) time.Duration {
	if len(elapsed) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(elapsed))
	return sorted[len(sorted)*percent/100]
}

func (w *waits) String() string {
	text := fmt.Sprintf("%d requests, p50 %v, p90 %v, p99 %v (", len(w.all), w.p(50).Round(100*time.Microsecond), w.p(90).Round(100*time.Microsecond), w.p(99).Round(100*time.Microsecond))
	for i, name := range []string{"accounts", "findings", "change"} {
		text += fmt.Sprintf("%s %v ", name, percentile(w.step[i], 99).Round(100*time.Microsecond))
	}
	return strings.TrimSpace(text) + ")"
}

// useNormally is the well-behaved organisation: it reads and writes, one request at a time,
// and measures the response times, for at least length and then until stop returns true,
// but at most two minutes longer.
func (f *attackedServer) useNormally(w *waits, length time.Duration, stop func() bool) {
	f.t.Helper()
	c := f.caller(f.goodToken)
	begin := time.Now()
	for ; time.Since(begin) < length || !stop() && time.Since(begin) < length+2*time.Minute; time.Sleep(20 * time.Millisecond) {
		for i, step := range []struct {
			want         int
			method, path string
			body         string
		}{
			{200, "POST", "/v1/cloud-accounts/query", `{"paginationInfo":{"pageSize":50}}`},
			{200, "POST", "/v2/findings/query", `{"filters":{"levels":["High"]}}`},
			{201, "POST", "/v1/providers/aws/cloud-accounts", fmt.Sprintf(
				`{"cloudAccountName":"a","properties":[{"name":"AccountID","type":"string","stringV":"%012d"}]}`, f.written+1)},
		} {
			sent := time.Now()
			if got := c.send(f.t.Context(), step.method, step.path, []byte(step.body)); got != step.want {
				f.t.Errorf("the well-behaved organisation: %s %s = %d, want %d", step.method, step.path, got, step.want)
			}
			elapsed := time.Since(sent)
			w.all, w.step[i] = append(w.all, elapsed), append(w.step[i], elapsed)
		}
		f.written++
	}
}

// diskUse returns the size of the data folder and of the database.
func (f *attackedServer) diskUse() (total int64) {
	f.t.Helper()
	add := func(dir string) {
		must(f.t, filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() {
				total += info.Size()
			}
			return nil
		}))
	}
	add(f.dir)
	if path, ok := strings.CutPrefix(f.dsn, "sqlite://"); ok {
		add(filepath.Dir(path))
		return total
	}
	db := dbtest.Open(f.t, f.dsn)
	must(f.t, db.Read(f.t.Context(), func(tx *sqldb.Tx) error {
		sizes, err := sqldb.Query(tx, sqldb.Scalar[int64], `
			SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS BIGINT)
			FROM pg_class
			WHERE relkind = 'r' AND relnamespace = current_schema()::text::regnamespace`)
		if err == nil {
			total += sizes[0]
		}
		return err
	}))
	return total
}

// checkLimits compares the measurements with the limits.
func (f *attackedServer) checkLimits(baseline, attacked *waits, memory, disk int64, checkLatency bool) {
	f.t.Helper()
	sent := 0
	for _, n := range f.statuses {
		sent += n
	}
	f.t.Logf("without attack %v; under attack %v: %.1f times; %d hostile requests %v; %d MB resident, %d KB more on disk, %d changes",
		baseline, attacked, float64(attacked.p(99))/float64(baseline.p(99)), sent, f.statuses, memory>>20, disk>>10, f.written)
	if limit := maxDiskGrowth + diskPerChange*int64(f.written); disk > limit {
		f.t.Errorf("the disk use grew by %d MB, at most %d", disk>>20, limit>>20)
	}
	if len(f.problems) > 0 {
		f.t.Errorf("%d responses that no server may send, such as %s", len(f.problems), f.problems[0])
	}
	if !hasEnoughAnswers(f.statuses) {
		f.t.Errorf("%d hostile requests, %v: too few for the test", sent, f.statuses)
	}
	if records := f.records(); records != f.written {
		f.t.Errorf("%d audit records of %d changes", records, f.written)
	}
	if limit := maxSlowdown * max(baseline.p(99), minBaseline); checkLatency && attacked.p(99) > limit {
		f.t.Errorf("p99 of the well-behaved organisation is %v under attack, %v without attack; at most %v", attacked.p(99), baseline.p(99), limit)
	}
	if memory > maxResident {
		f.t.Errorf("%d MB resident, at most %d", memory>>20, maxResident>>20)
	}
}

// records returns the number of audit records of changes by the well-behaved
// organisation.
func (f *attackedServer) records() (n int) {
	f.t.Helper()
	c := f.caller(f.goodToken)
	for token := ""; ; {
		r, err := http.NewRequestWithContext(f.t.Context(), "GET",
			f.base+"/v1/audit?operation=addCloudAccount&outcome=success&pageSize=1000&continuationToken="+url.QueryEscape(token), nil)
		must(f.t, err)
		r.Header.Set("Authorization", "Bearer "+c.token)
		answer, err := c.http.Do(r)
		must(f.t, err)
		var page struct {
			Results []struct{} `json:"results"`
			Token   string     `json:"continuationToken"`
		}
		err = json.NewDecoder(answer.Body).Decode(&page)
		_ = answer.Body.Close()
		must(f.t, err)
		n += len(page.Results)
		if page.Token == "" {
			return n
		}
		token = page.Token
	}
}
