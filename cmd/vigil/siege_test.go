package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/sqldb/dbtest"
)

// What a server must keep under siege.
const (
	siegeSlower = 5                      // times that a well-behaved caller may wait longer than in peace,
	siegeFloor  = 400 * time.Millisecond // counted from at least this, because the attackers use the same processors
	siegeMemory = 768 << 20              // bytes resident
	siegeDisk   = 64 << 20               // bytes by which the data folder may grow, beyond what the good caller wrote
)

// TestSiege runs the real server against one hostile client beside a
// well-behaved organisation: anonymous floods, bodies that never end, the most
// expensive requests that are allowed, and those that are not. VIGIL_SIEGE says
// for how long, such as 10m. The machine must have nothing else to do, so it runs
// by "make siege" alone.
func TestSiege(t *testing.T) {
	text := os.Getenv("VIGIL_SIEGE")
	if text == "" {
		t.Skip("VIGIL_SIEGE does not say for how long; see make siege")
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		f := startFortress(t, dsn)
		quiet := f.behave(length / 4)
		before := f.diskUse()
		ctx, stop := context.WithTimeout(t.Context(), length)
		defer stop()
		var attackers sync.WaitGroup
		f.attack(ctx, &attackers)
		loud := f.behave(length - length/8)
		memory := f.memory()
		stop()
		attackers.Wait()
		f.judge(quiet, loud, memory, f.diskUse()-before)
	})
}

// A fortress is a server under siege.
type fortress struct {
	t         *testing.T
	dir       string
	base      string
	pid       int
	good, bad string // API tokens

	mu       sync.Mutex
	statuses map[int]int // answers to attackers
	problems []string
	written  int
}

// vigil runs the command line of this test binary.
func (f *fortress) vigil(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0] = "vigil"
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "VIGIL_") })
	return cmd
}

func startFortress(t *testing.T, dsn string) *fortress {
	t.Helper()
	f := &fortress{t: t, dir: filepath.Join(t.TempDir(), "data"), statuses: map[int]int{}}
	settings := []string{"--data-dir", f.dir, "--database", dsn, "--min-free-mb", "0"}
	run := func(args ...string) string {
		out, err := f.vigil(append(args, settings...)...).Output()
		if err != nil {
			t.Fatalf("vigil %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	run("init")
	f.good = run("org", "add", "good")
	f.bad = run("org", "add", "bad")
	serve := f.vigil(append([]string{"serve", "--posture-plain-http", "--posture-listen", "127.0.0.1:0", "--log-level", "error"}, settings...)...)
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

// caller is a client with an access token.
type caller struct {
	f     *fortress
	http  *http.Client
	token string
}

func (f *fortress) caller(apiToken string) *caller {
	c := &caller{f: f, http: &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
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

// send returns the status of an answer, and notes what no server may answer.
func (c *caller) send(ctx context.Context, method, path string, body []byte) int {
	r, err := http.NewRequestWithContext(ctx, method, c.f.base+path, bytes.NewReader(body))
	if err != nil {
		c.f.t.Error(err)
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
		c.f.mu.Lock()
		c.f.problems = append(c.f.problems, fmt.Sprintf("%s %s = %d %.200s", method, path, res.StatusCode, answer))
		c.f.mu.Unlock()
	}
	return res.StatusCode
}

// behave is the well-behaved organisation: it reads and writes, one request at
// a time, and measures how long each takes.
func (f *fortress) behave(length time.Duration) []time.Duration {
	f.t.Helper()
	c := f.caller(f.good)
	var took []time.Duration
	for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, step := range []struct {
			want         int
			method, path string
			body         string
		}{
			{200, "POST", "/v1/cloud-accounts/query", `{}`},
			{200, "POST", "/v2/findings/query", `{"filters":{"levels":["High"]}}`},
			{201, "POST", "/v1/providers/aws/cloud-accounts", fmt.Sprintf(
				`{"cloudAccountName":"a","properties":[{"name":"AccountID","type":"string","stringV":"%012d"}]}`, f.written+1)},
		} {
			begin := time.Now()
			if got := c.send(f.t.Context(), step.method, step.path, []byte(step.body)); got != step.want {
				f.t.Errorf("the well-behaved organisation: %s %s = %d, want %d", step.method, step.path, got, step.want)
			}
			took = append(took, time.Since(begin))
		}
		f.written++
	}
	slices.Sort(took)
	return took
}

// attack starts everything that one hostile client can think of.
func (f *fortress) attack(ctx context.Context, group *sync.WaitGroup) {
	hostile, nobody := f.caller(f.bad), f.caller("")
	list := func(n int) string { return `["` + strings.Repeat(`x","`, n-1) + `x"]` }
	loop := func(n int, c *caller, method, path, body string) {
		for range n {
			group.Go(func() {
				for ctx.Err() == nil {
					status := c.send(ctx, method, path, []byte(body))
					f.mu.Lock()
					f.statuses[status]++
					f.mu.Unlock()
				}
			})
		}
	}
	// The most expensive reads that are allowed, and lists that are not.
	loop(4, hostile, "POST", "/v2/findings/query", `{"filters":{"services":`+list(1000)+`,"ruleIds":`+list(1000)+`,"objectIds":`+list(1000)+`,"regions":`+list(1000)+`}}`)
	loop(2, hostile, "POST", "/v1/entities/query", `{"filters":{"entityNames":`+list(1000)+`,"regions":`+list(1000)+`}}`)
	loop(2, hostile, "POST", "/v2/findings/query", `{"filters":{"ruleIds":`+list(60_000)+`}}`)
	// Changes by nobody, wrong tokens, forged events, and what makes no sense.
	loop(2, nobody, "POST", "/v1/providers/aws/cloud-accounts", `{}`)
	loop(1, nobody, "POST", "/csp/gateway/am/api/auth/api-tokens/authorize?refresh_token=vgl_wrong", ``)
	loop(1, nobody, "POST", "/events/aws", `{"Type":"Notification"}`)
	loop(1, hostile, "POST", "/v1/cloud-accounts/bulk-update", `{"provider":"aws","cloudAccountUpdates":[`+strings.Repeat(`{"action":"post"},`, 99)+`{}]}`)
	// Bodies that never end.
	address := strings.TrimPrefix(f.base, "http://")
	for i := range 200 {
		group.Go(func() {
			stall(ctx, address, []string{"/events/aws", "/v1/cloud-accounts/query", "/events/azure/x"}[i%3])
		})
	}
}

// stall sends the beginning of a large body, again and again.
func stall(ctx context.Context, address, path string) {
	for ctx.Err() == nil {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n%s", path, strings.Repeat(" ", 100_000))
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			_, _ = io.Copy(io.Discard, c)
		}()
		select {
		case <-ctx.Done():
		case <-closed:
		}
		_ = c.Close()
		<-closed
	}
}

// memory returns what the server has resident.
func (f *fortress) memory() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.pid))
	if err != nil {
		f.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				f.t.Fatal(err)
			}
			return kb << 10
		}
	}
	f.t.Fatal("no VmRSS")
	return 0
}

// diskUse returns the size of the data folder.
func (f *fortress) diskUse() (total int64) {
	err := filepath.Walk(f.dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			total += info.Size()
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return total
}

// judge holds what was measured against what must be kept.
func (f *fortress) judge(quiet, loud []time.Duration, memory, disk int64) {
	f.t.Helper()
	p99 := func(took []time.Duration) time.Duration { return took[len(took)*99/100] }
	sent := 0
	for _, n := range f.statuses {
		sent += n
	}
	f.t.Logf("p99 %v in peace (%d requests), %v under siege (%d); %d hostile requests %v; %d MB resident, %d KB more on disk, %d accounts",
		p99(quiet), len(quiet), p99(loud), len(loud), sent, f.statuses, memory>>20, disk>>10, f.written)
	if disk > siegeDisk {
		f.t.Errorf("the data folder grew by %d MB, at most %d", disk>>20, siegeDisk>>20)
	}
	if len(f.problems) > 0 {
		f.t.Errorf("%d answers that no server may give, such as %s", len(f.problems), f.problems[0])
	}
	if sent < 100 || f.statuses[401] == 0 || f.statuses[400] == 0 || f.statuses[200] == 0 {
		f.t.Errorf("%d hostile requests, %v: this tests little", sent, f.statuses)
	}
	c := f.caller(f.good)
	res, err := http.NewRequestWithContext(f.t.Context(), "GET", f.base+"/v1/audit?operation=addCloudAccount&outcome=success&pageSize=1000", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	res.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := c.http.Do(res)
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	var page struct {
		Results []struct{} `json:"results"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil || len(page.Results) != min(f.written, 1000) {
		f.t.Errorf("%d records of %d changes, %v", len(page.Results), f.written, err)
	}
	if limit := siegeSlower * max(p99(quiet), siegeFloor); p99(loud) > limit {
		f.t.Errorf("p99 of the well-behaved organisation is %v under siege, %v in peace; at most %v", p99(loud), p99(quiet), limit)
	}
	if memory > siegeMemory {
		f.t.Errorf("%d MB resident, at most %d", memory>>20, siegeMemory>>20)
	}
}
