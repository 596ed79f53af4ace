package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/store"
	"vigil/internal/sqldb/dbtest"
)

const (
	hostileAccount  = posture.AccountID("123456789012")
	memoryBudget    = 64 << 20        // bytes, the default of posture.graph.memory_mb
	timeBudget      = 3 * time.Second // a third of the default of posture.graph.time
	maxGrowthTenths = 15              // growth of the process, in tenths of the budget
)

// largestQueries are the queries of each kind that need the most memory without a limit.
var largestQueries = []string{
	"cross product", "match", "short lists in lists", "names that grow", "one list of edges", "one list of vertices", "neighbours as maps",
}

// fillWeb returns a function that records n entities. Each is connected to degree others, and
// the first one to all.
func fillWeb(t *testing.T, n, degree int) func(config.Config) {
	return func(conf config.Config) {
		ctx := t.Context()
		in, err := instance.Open(ctx, conf, time.Now)
		must(t, err)
		defer in.Close()
		must(t, store.Migrate(ctx, in.DB))
		orgs, err := in.Registry.Orgs(ctx)
		must(t, err)
		var scope collect.Scoped
		for _, o := range orgs {
			if o.Name == "bad" {
				scope = collect.Scoped{Org: posture.OrgID(o.ID), Account: hostileAccount, Type: "AWS.Test.Node", Region: posture.Global}
			}
		}
		s := store.New(in.DB, in.Box, nil)
		must(t, s.Onboard(ctx, scope.Org, func(tx posture.OnboardingTx) error {
			return tx.AddAccount(posture.Account{ID: hostileAccount, Provider: posture.AWS, Name: "web"})
		}))
		r, err := s.Begin(ctx, scope)
		must(t, err)
		name := func(i int) string { return fmt.Sprintf("vertex number %d", i) }
		for i := range n {
			e := collect.NewResource(scope.Type, hostileAccount, "", name(i)).Text("name", name(i)).Entity
			e.Properties = append(e.Properties, posture.Number("n", int64(i)))
			to := func(j int) {
				e.Edges = append(e.Edges, posture.Edge{Label: "to", To: scope.Type.ID(hostileAccount, "", name(j))})
			}
			for k := range degree {
				to((i*7 + k*13 + 1) % n)
			}
			if i == 0 { // the one that is connected to all
				for j := range n {
					to(j)
				}
			}
			must(t, r.Put(ctx, e))
		}
		must(t, r.Commit(ctx, true))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A hostileQuery is a query that would exhaust the machine without limits.
type hostileQuery struct{ name, text string }

// readQueries reads a file of queries. Each line has a name and a query.
func readQueries(t *testing.T, path string) []hostileQuery {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	var all []hostileQuery
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, text, ok := strings.Cut(lines.Text(), ": ")
		if !ok {
			t.Fatalf("%s: %s", path, lines.Text())
		}
		all = append(all, hostileQuery{name, text})
	}
	return all
}

// TestHostileQueriesOnServer sends queries that would exhaust the machine to the real server,
// with limits of memory and time and hardly any others. The memory of the process must
// grow by at most maxGrowthTenths times the budget, and shrink again.
func TestHostileQueriesOnServer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute: left out with -short")
	}
	f := startAttackedServer(t, dbtest.SQLite(t), fillWeb(t, 2000, 8),
		"--posture-graph-work", "1000000000", "--posture-graph-results", "1000000", "--posture-graph-token-queries", "3",
		"--posture-graph-time", timeBudget.String(), "--posture-graph-memory-mb", fmt.Sprint(memoryBudget>>20))
	c := f.caller(f.hostileToken)
	c.graphQuery(t.Context(), "g.V().both().count()") // the graph is loaded
	queries := append(readQueries(t, "../../gremlin/testdata/hostile-queries.txt"), readQueries(t, "testdata/hostile-responses.txt")...)
	if os.Getenv("VIGIL_HOSTILE_QUERIES") == "" { // all of them take three minutes
		queries = slices.DeleteFunc(queries, func(q hostileQuery) bool { return !slices.Contains(largestQueries, q.name) })
		if len(queries) != len(largestQueries) {
			t.Fatalf("found %d of %d queries", len(queries), len(largestQueries))
		}
	}
	maximum, idle := int64(0), f.waitUntilSettled(t, 1<<40)
	measure := func(name string, concurrent int, send func()) {
		before := f.waitUntilSettled(t, idle)
		f.resetPeak()
		begin := time.Now()
		send()
		used, elapsed := f.status("VmHWM")-before, time.Since(begin)
		maximum = max(maximum, used/int64(concurrent))
		t.Logf("%4d MB %6.2fs  %s", used>>20, elapsed.Seconds(), name)
		if used > int64(concurrent)*memoryBudget*maxGrowthTenths/10 {
			t.Errorf("%s used %d MB with a budget of %d MB", name, used>>20, concurrent*memoryBudget>>20)
		}
	}
	for _, q := range queries {
		measure(q.name, 1, func() { c.sendQuery(q) })
	}
	measure("three at a time", 3, func() {
		var group sync.WaitGroup
		for _, q := range queries[:3] {
			group.Go(func() { c.sendQuery(q) })
		}
		group.Wait()
	})
	f.waitUntilSettled(t, idle)
	t.Logf("at most %d MB of %d", maximum>>20, memoryBudget>>20)
}

// sendQuery sends a query and checks that it is rejected or answered in time.
func (c *caller) sendQuery(q hostileQuery) {
	status, text, ran := c.graphQuery(c.t.Context(), q.text)
	if status != http.StatusOK && status != http.StatusBadRequest {
		c.t.Errorf("%s = %d %s", q.name, status, text)
	}
	// The machine may be busy, so only a large difference counts.
	if ran > 2*timeBudget+5*time.Second {
		c.t.Errorf("%s ran for %v, at most %v", q.name, ran, timeBudget)
	}
}

// graphQuery returns the status of a response, the beginning of its body, and the time
// until its headers arrived.
func (c *caller) graphQuery(ctx context.Context, query string) (status int, text []byte, elapsed time.Duration) {
	body, err := json.Marshal(map[string]string{"gremlin": query, "partitionKey": string(hostileAccount)})
	must(c.t, err)
	r, err := http.NewRequestWithContext(ctx, "POST", c.base+"/v1/entities/graph-query", bytes.NewReader(body))
	must(c.t, err)
	r.Header.Set("Authorization", "Bearer "+c.token)
	begin := time.Now()
	res, err := c.http.Do(r)
	must(c.t, err)
	elapsed = time.Since(begin)
	defer res.Body.Close()
	text, err = io.ReadAll(io.LimitReader(res.Body, 300))
	must(c.t, err)
	_, err = io.Copy(io.Discard, res.Body)
	must(c.t, err)
	return res.StatusCode, text, elapsed
}

// waitUntilSettled waits until the resident memory of the server has shrunk to about idle, and
// returns its size.
func (f *attackedServer) waitUntilSettled(t *testing.T, idle int64) int64 {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		now := f.status("VmRSS")
		if now < idle+idle/5+32<<20 {
			return now
		}
		if time.Now().After(end) {
			t.Fatalf("the server has %d MB, %d MB before", now>>20, idle>>20)
		}
	}
}

// status returns a value of the server's /proc status in bytes.
func (f *attackedServer) status(name string) int64 {
	f.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.pid))
	must(f.t, err)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			var kb int64
			_, err := fmt.Sscan(rest, &kb)
			must(f.t, err)
			return kb << 10
		}
	}
	f.t.Fatalf("the status has no %s", name)
	return 0
}

// resetPeak resets the peak memory size of the process.
func (f *attackedServer) resetPeak() {
	must(f.t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", f.pid), []byte("5"), 0))
}
