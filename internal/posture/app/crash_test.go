package app_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/sqldb/dbtest"
)

// TestCrashesLoseNothing repeatedly kills the server while clients write. Acknowledged
// writes must be stored, and writes must be atomic.
func TestCrashesLoseNothing(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		variable, many := "VIGIL_KILLS_SQLITE", 1000
		if strings.HasPrefix(dsn, "postgres") {
			// Fewer, because PostgreSQL, which the test does not kill, makes the writes durable.
			variable, many = "VIGIL_KILLS_POSTGRES", 200
		}
		kills := crashes(t, variable, 10, many)
		r := &recorder{host: newHost(t, dsn), accounts: map[string]string{}, removed: map[string]bool{}}
		for n := range kills {
			r.cycle(n)
			r.progress(n+1, kills)
		}
		r.kills = kills
		r.checkDatabase()
	})
}

// crashes returns the number of crashes: the value of the environment variable (see
// scripts/crash), otherwise many if VIGIL_TORTURE is set, or else few. It skips the test if
// the variable is 0.
func crashes(t *testing.T, variable string, few, many int) int {
	t.Helper()
	if text := os.Getenv(variable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
		if n == 0 {
			t.Skip(variable + " is 0")
		}
		return n
	}
	if os.Getenv("VIGIL_TORTURE") != "" {
		return many
	}
	return few
}

// minAcked is the minimum number of acknowledged writes before a kill, so that there is
// something to lose.
const minAcked = 12

// A recorder records the acknowledged writes.
type recorder struct {
	*host
	kills int

	mu         sync.Mutex
	acked      int               // acknowledged writes of the current cycle
	accounts   map[string]string // name by id, as last acknowledged
	removed    map[string]bool   // ids of acknowledged removals
	inProgress map[string]bool   // ids in requests that are in progress or were interrupted by a crash
	refused    map[string]bool   // ids of additions that the server reported as not made
	bulk       int               // acknowledged bulk-updates
	answers    map[string]int    // numbers of 503 responses by their Vigil-Change header
	attempts   []*attempt
}

// progress logs the progress of long runs.
func (r *recorder) progress(n, total int) {
	if n%50 == 0 && n < total {
		r.t.Logf("%d of %d crashes, %d writes sent", n, total, len(r.attempts))
	}
}

// cycle starts the server, checks the acknowledged writes, lets clients write, and
// kills the server meanwhile.
func (r *recorder) cycle(n int) {
	r.t.Helper()
	c, kill := r.start()
	r.check(c)
	r.inProgress = map[string]bool{}
	r.acked = 0

	reached := make(chan struct{})
	var once sync.Once
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for j := 0; r.write(c, seedOf(n, i, j), i+j); j++ {
				r.mu.Lock()
				if r.acked >= minAcked {
					once.Do(func() { close(reached) })
				}
				r.mu.Unlock()
			}
		})
	}
	select {
	case <-reached:
	case <-time.After(5 * time.Minute):
		r.mu.Lock()
		r.t.Errorf("the server acknowledged only %d of %d writes", r.acked, minAcked)
		r.mu.Unlock()
	}
	kill()
	writers.Wait()
}

// seedOf returns the digits that identify a write: by its cycle, its writer and its number
// among the writes of that writer.
func seedOf(cycle, writer, number int) string {
	return fmt.Sprintf("%03d%d%04d", cycle, writer, number)
}

// write makes one write. The kind determines whether it adds, changes or removes accounts.
// The ids of added accounts are 1 and the seed, or 2 and the seed for those of a bulk-update,
// filled up to twelve digits. write returns false if the server has crashed.
func (r *recorder) write(c *client, seed string, kind int) bool {
	switch kind % 4 {
	case 0, 1:
		return r.add(c, "1"+seed+strings.Repeat("0", 11-len(seed)))
	case 2:
		return r.renameOrRemove(c, seed)
	default:
		return r.bulkAdd(c, seed)
	}
}

// try sends a request that changes the accounts with the given ids. It returns the status,
// or 0 if the server has crashed.
func (r *recorder) try(c *client, method, path string, body any, ids ...string) int {
	r.mu.Lock()
	for _, id := range ids {
		r.inProgress[id] = true
	}
	a := &attempt{request: fmt.Sprintf("write-%d", len(r.attempts))}
	switch method {
	case "POST": // adds accounts
		a.ids = ids
	case "PUT": // renames an account
		record, _ := body.(object)
		a.name, _ = record["cloudAccountName"].(string)
		a.renamed = ids[0]
	}
	r.attempts = append(r.attempts, a)
	r.mu.Unlock()
	status, header, err := c.send(method, path, body, "X-Request-Id", a.request)
	if err != nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if status == http.StatusServiceUnavailable {
		r.outcome(a, header.Get("Vigil-Change"), ids)
		return status
	}
	for _, id := range ids {
		delete(r.inProgress, id)
	}
	switch {
	case status < 300:
		a.acked = true
		r.acked++
	case status >= 500:
		r.t.Errorf("%s %s = %d", method, path, status)
	}
	return status
}

// outcome records what the Vigil-Change header of a 503 response said.
func (r *recorder) outcome(a *attempt, result string, ids []string) {
	if r.answers == nil {
		r.answers, r.refused = map[string]int{}, map[string]bool{}
	}
	r.answers[result]++
	switch result {
	case "unknown": // the ids stay in progress
	case "made": // the ids stay in progress too: check takes their state from the server
		a.acked = true
	case "": // the change was not made
		for _, id := range ids {
			delete(r.inProgress, id)
		}
		for _, id := range a.ids {
			r.refused[id] = true
		}
	default:
		r.t.Errorf("%s: Vigil-Change: %s", a.request, result)
	}
}

func (r *recorder) add(c *client, id string) bool {
	body := awsAccount(id)
	status := r.try(c, "POST", accounts, body, id)
	if status == http.StatusCreated {
		r.mu.Lock()
		r.accounts[id] = "account " + id
		r.mu.Unlock()
	}
	return status != 0
}

// renameOrRemove renames an existing account, or removes it if the seed ends with 2. It does
// not change accounts of bulk-updates, so that those stay complete.
func (r *recorder) renameOrRemove(c *client, seed string) bool {
	r.mu.Lock()
	var id string
	for existing := range r.accounts {
		if !r.inProgress[existing] && !strings.HasPrefix(existing, "2") {
			id = existing
			r.inProgress[id] = true
			break
		}
	}
	r.mu.Unlock()
	if id == "" {
		return true
	}
	if strings.HasSuffix(seed, "2") {
		status := r.try(c, "DELETE", accounts+"/"+id, nil, id)
		if status == http.StatusOK {
			r.mu.Lock()
			delete(r.accounts, id)
			r.removed[id] = true
			r.mu.Unlock()
		}
		return status != 0
	}
	body := awsAccount(id)
	body["cloudAccountName"] = "renamed " + seed
	status := r.try(c, "PUT", accounts+"/"+id, body, id)
	if status == http.StatusOK {
		r.mu.Lock()
		r.accounts[id] = "renamed " + seed
		r.mu.Unlock()
	}
	return status != 0
}

// bulkAdd adds five accounts in one atomic request.
func (r *recorder) bulkAdd(c *client, seed string) bool {
	var ids []string
	var items []object
	for i := range 5 {
		id := fmt.Sprintf("2%s%0*d", seed, 11-len(seed), i)
		item := awsAccount(id)
		item["action"] = "post"
		ids, items = append(ids, id), append(items, item)
	}
	status := r.try(c, "POST", "/v1/cloud-accounts/bulk-update", object{"provider": "aws", "cloudAccountUpdates": items}, ids...)
	if status == http.StatusOK {
		r.mu.Lock()
		r.bulk++
		for _, id := range ids {
			r.accounts[id] = "account " + id
		}
		r.mu.Unlock()
	}
	return status != 0
}

// check compares the accounts of the server with the acknowledged writes.
func (r *recorder) check(c *client) {
	r.t.Helper()
	got := c.do("POST", "/v1/cloud-accounts/query", object{})
	list, _ := got.body["cloudAccounts"].([]any)
	existing := map[string]string{}
	sets := map[string]int{} // numbers of accounts by bulk-update: by their ids without the last digit
	for _, each := range list {
		record, _ := each.(object)
		id, _ := record["cloudAccountId"].(string)
		existing[id], _ = record["cloudAccountName"].(string)
		if strings.HasPrefix(id, "2") {
			sets[id[:11]]++
		}
	}
	for id, name := range r.accounts {
		if got, ok := existing[id]; (!ok || got != name) && !r.inProgress[id] {
			r.t.Errorf("account %s was acknowledged as %q and is %q", id, name, got)
		}
	}
	for id := range r.removed {
		if _, ok := existing[id]; ok {
			r.t.Errorf("account %s was removed and still exists", id)
		}
	}
	for id := range r.refused {
		if _, ok := existing[id]; ok {
			r.t.Errorf("account %s was added by a request with a 503 response without Vigil-Change", id)
		}
	}
	for set, n := range sets {
		if n != 5 {
			r.t.Errorf("%d of 5 accounts of bulk-update %s exist", n, set)
		}
	}
	for id, name := range existing { // resolve the ids in progress
		r.accounts[id] = name
	}
	for id := range r.inProgress {
		if _, ok := existing[id]; !ok {
			delete(r.accounts, id)
		}
	}
}

// checkDatabase checks the integrity of the database and the audit log.
func (r *recorder) checkDatabase() {
	r.t.Helper()
	in := r.open()
	defer in.Close()
	if err := in.DB.IntegrityCheck(r.t.Context()); err != nil { // does nothing on PostgreSQL
		r.t.Errorf("integrity check: %v", err)
	}
	report, err := in.Audit.Verify(r.t.Context())
	if err != nil || report.Broken != nil {
		r.t.Errorf("audit log: %+v, %v", report.Broken, err)
	}
	r.checkRecords(in)
	if r.bulk == 0 || len(r.removed) == 0 {
		r.t.Errorf("%d bulk-updates and %d removals: too few for the test", r.bulk, len(r.removed))
	}
	acked := 0
	for _, a := range r.attempts {
		if a.acked {
			acked++
		}
	}
	r.t.Logf("%d crashes, %d writes sent, %d acknowledged, %d accounts, %d removals, %d bulk-updates, %d audit records, 503 responses by Vigil-Change %v",
		r.kills, len(r.attempts), acked, len(r.accounts), len(r.removed), r.bulk, report.Records, r.answers)
}

// send sends a request to a server that may have crashed: unlike do, it returns the error
// instead of failing the test.
func (c *client) send(method, path string, body any, headers ...string) (int, http.Header, error) {
	r, err := c.request(method, path, body, headers...)
	if err != nil {
		return 0, nil, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, nil, errors.New("the response was truncated")
	}
	return res.StatusCode, res.Header, nil
}
