package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// attackers is the process of the hostile client. It is a separate process, so that the
// well-behaved client does not compete with it in the same scheduler.
type attackers struct {
	f     *attackedServer
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
	seen  map[int]int // responses by status, as the last report has them
}

// attackReport is the JSON object that the hostile client prints on each line.
type attackReport struct {
	Statuses map[int]int // responses by status; 0: requests without a response
	Problems []string    // new since the last report
}

// startAttackers starts the process of the attackers. They are idle until attack is called.
func (f *attackedServer) startAttackers() *attackers {
	f.t.Helper()
	hostile := f.caller(f.hostileToken)
	a := &attackers{f: f, cmd: exec.Command(os.Args[0], "-test.run", "^TestHostileClientProcess$", "-test.timeout", "2h")}
	a.cmd.Env = append(os.Environ(), "VIGIL_HOSTILE_CLIENT_BASE="+f.base, "VIGIL_HOSTILE_CLIENT_TOKEN="+hostile.token)
	a.cmd.Stderr = os.Stderr
	var err error
	a.stdin, err = a.cmd.StdinPipe()
	must(f.t, err)
	out, err := a.cmd.StdoutPipe()
	must(f.t, err)
	must(f.t, a.cmd.Start())
	f.t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		_ = a.cmd.Wait()
	})
	a.lines = bufio.NewScanner(out)
	a.lines.Buffer(nil, 1<<24)
	return a
}

// send sends a command and waits for its report.
func (a *attackers) send(command string) {
	a.f.t.Helper()
	_, err := fmt.Fprintln(a.stdin, command)
	must(a.f.t, err)
	for a.lines.Scan() {
		var report attackReport
		if json.Unmarshal(a.lines.Bytes(), &report) != nil {
			continue // output of the testing package
		}
		a.f.statuses, a.seen = report.Statuses, report.Statuses
		for _, p := range report.Problems {
			a.f.problem(p)
		}
		return
	}
	a.f.t.Fatalf("the process of the attackers ended: %v", a.lines.Err())
}

func (a *attackers) attack() { a.send("attack") }
func (a *attackers) pause()  { a.send("pause") }
func (a *attackers) stop()   { _ = a.stdin.Close() }

// hasAnswer reports whether the attackers got enough responses for the test. On a busy
// machine that takes time.
func (a *attackers) hasAnswer() bool {
	a.send("report")
	return hasEnoughAnswers(a.seen)
}

func hasEnoughAnswers(statuses map[int]int) bool {
	answered := 0
	for status, n := range statuses {
		if status != 0 {
			answered += n
		}
	}
	// With a selection of attacks, some of these statuses may be missing.
	return os.Getenv("VIGIL_HOSTILE_CLIENT_ONLY") != "" || answered >= 100 && statuses[401] > 0 && statuses[400] > 0 && statuses[200] > 0
}

// TestHostileClientProcess is the hostile client, in a process that TestHostileClient starts.
func TestHostileClientProcess(t *testing.T) {
	base := os.Getenv("VIGIL_HOSTILE_CLIENT_BASE")
	if base == "" {
		t.Skip("VIGIL_HOSTILE_CLIENT_BASE is not set: go test -run 'TestHostileClient$' ./cmd/vigil sets it and runs this test in a process of its own")
	}
	// Lower the priority, so that the attackers do not take processor time from the
	// server.
	must(t, syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10))
	h := &hostile{t: t, base: base, token: os.Getenv("VIGIL_HOSTILE_CLIENT_TOKEN"), statuses: map[int]int{}}
	var group sync.WaitGroup
	stop := func() {}
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		switch commands.Text() {
		case "attack":
			var ctx context.Context
			ctx, stop = context.WithCancel(t.Context())
			h.attack(ctx, &group)
		case "pause":
			stop()
			group.Wait()
		}
		// The response to every command is a report; the command report does nothing else.
		h.mu.Lock()
		must(t, json.NewEncoder(os.Stdout).Encode(attackReport{Statuses: h.statuses, Problems: h.problems}))
		h.problems = nil
		h.mu.Unlock()
	}
	stop()
	group.Wait()
}

// hostile is the hostile client.
type hostile struct {
	t           *testing.T
	base, token string

	mu       sync.Mutex
	statuses map[int]int
	problems []string
}

func (h *hostile) caller(token string) *caller {
	return &caller{t: h.t, base: h.base, token: token, http: &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		problem: func(text string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.problems = append(h.problems, text)
		}}
}

// attack starts all attacks.
func (h *hostile) attack(ctx context.Context, group *sync.WaitGroup) {
	known, anonymous := h.caller(h.token), h.caller("")
	// list returns a JSON list of n texts.
	list := func(n int) string { return `["` + strings.Repeat(`x","`, n-1) + `x"]` }
	only := os.Getenv("VIGIL_HOSTILE_CLIENT_ONLY") // to find the attack that slows others down: read, graph, anonymous or stall
	loop := func(kind string, n int, c *caller, method, path, body string) {
		if only != "" && !strings.Contains(only, kind) {
			return
		}
		for range n {
			group.Go(func() {
				for ctx.Err() == nil {
					status := c.send(ctx, method, path, []byte(body))
					h.mu.Lock()
					h.statuses[status]++
					h.mu.Unlock()
				}
			})
		}
	}
	// The most expensive allowed reads, and lists that are too long.
	loop("read", 4, known, "POST", "/v2/findings/query", `{"filters":{"services":`+list(1000)+`,"ruleIds":`+list(1000)+`,"objectIds":`+list(1000)+`,"regions":`+list(1000)+`}}`)
	loop("read", 2, known, "POST", "/v1/entities/query", `{"filters":{"entityNames":`+list(1000)+`,"regions":`+list(1000)+`}}`)
	loop("read", 2, known, "POST", "/v2/findings/query", `{"filters":{"ruleIds":`+list(60_000)+`}}`)
	// Unauthenticated changes, wrong tokens, forged events, and malformed requests.
	loop("anonymous", 2, anonymous, "POST", "/v1/providers/aws/cloud-accounts", `{}`)
	loop("anonymous", 1, anonymous, "POST", "/csp/gateway/am/api/auth/api-tokens/authorize?refresh_token=vgl_wrong", ``)
	loop("anonymous", 1, anonymous, "POST", "/events/aws", `{"Type":"Notification"}`)
	loop("anonymous", 1, known, "POST", "/v1/cloud-accounts/bulk-update", `{"provider":"aws","cloudAccountUpdates":[`+strings.Repeat(`{"action":"post"},`, 99)+`{}]}`)
	// Queries that would exhaust the machine, and responses that are never read.
	for _, query := range []string{
		`g.V().as("a").V().as("b").V().as("c").select("a","b","c")`, `g.V().both().both().both().limit(500000).fold()`, `g.V().repeat(both()).times(30).path()`,
	} {
		body, err := json.Marshal(map[string]string{"gremlin": query, "partitionKey": string(hostileAccount)})
		must(h.t, err)
		loop("graph", 2, known, "POST", "/v1/entities/graph-query", string(body))
	}
	address := strings.TrimPrefix(h.base, "http://")
	if only == "" || strings.Contains(only, "graph") {
		for range 8 {
			group.Go(func() { unread(ctx, address, h.token) })
		}
	}
	// Bodies that never end.
	if only == "" || strings.Contains(only, "stall") {
		for i := range 200 {
			group.Go(func() {
				stall(ctx, address, []string{"/events/aws", "/v1/cloud-accounts/query", "/events/azure/x"}[i%3])
			})
		}
	}
}

// stall repeatedly sends the beginning of a large body.
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

// unread repeatedly requests a large response and does not read it.
func unread(ctx context.Context, address, token string) {
	body := fmt.Sprintf(`{"gremlin":"g.V().map(bothE().fold())","partitionKey":%q}`, hostileAccount)
	for ctx.Err() == nil {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		fmt.Fprintf(c, "POST /v1/entities/graph-query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		_ = c.Close()
	}
}
