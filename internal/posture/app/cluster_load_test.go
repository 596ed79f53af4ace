package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/audit"
	"vigil/internal/instance"
	"vigil/internal/sim/events"
	"vigil/internal/sqldb"
)

// A load is what clients and clouds send to a cluster: changes of accounts, queries,
// collections and events.
type load struct {
	*cluster
	events  *eventLoad
	streams map[string]events.Stream

	finished atomic.Bool
	working  sync.WaitGroup

	mu       sync.Mutex
	accounts map[string]string // name by id, as acknowledged
	writes   []string          // keys of the acknowledged writes
	runs     int               // collections that were started
	rounds   int               // rounds of events, see sendEvents
	messages int
}

// eventAccounts is the number of accounts of a load whose resources change; events report
// these changes. The other accounts of the load are collected all the time.
const eventAccounts = 3

// perRound is the number of changes in one round, see sendEvents.
const perRound = 40

// start starts all clients.
func (l *load) start() {
	l.accounts = map[string]string{}
	for i := range 4 {
		l.working.Go(func() { l.write(i) })
	}
	for i := range 2 {
		l.working.Go(func() { l.read(i) })
	}
	for _, a := range l.events.accounts[eventAccounts:] {
		l.working.Go(func() { l.collect(a.ID) })
	}
	l.working.Go(l.sendEvents)
}

// stop ends the clients after the requests that they have begun.
func (l *load) stop() {
	l.finished.Store(true)
	l.working.Wait()
}

// write adds, renames and removes accounts of its own, one at a time.
func (l *load) write(writer int) {
	var created []string
	for j := 0; !l.finished.Load(); j++ {
		key := fmt.Sprintf("write-%d-%d", writer, j)
		id := fmt.Sprintf("9%d%010d", writer, j)
		name, want := "account "+id, http.StatusCreated
		var a answer
		switch {
		case j%3 == 2:
			id, name, want = created[rand.IntN(len(created))], fmt.Sprintf("renamed %d-%d", writer, j), http.StatusOK
			body := awsAccount(id)
			body["cloudAccountName"] = name
			a = l.call("PUT", accounts+"/"+id, body, key)
		case len(created) > 50:
			id, name, want = created[0], "", http.StatusOK
			created = created[1:]
			a = l.call("DELETE", accounts+"/"+id, nil, key)
		default:
			created = append(created, id)
			a = l.call("POST", accounts, awsAccount(id), key)
		}
		// An earlier try made the change, but its response was lost and not stored.
		executedBefore := a.status == http.StatusConflict && strings.Contains(a.text, "was executed")
		if a.status != want && !executedBefore {
			l.t.Errorf("%s: %d %s, want %d", key, a.status, a.text, want)
		}
		l.mu.Lock()
		l.writes = append(l.writes, key)
		if name == "" {
			delete(l.accounts, id)
		} else {
			l.accounts[id] = name
		}
		l.mu.Unlock()
	}
}

// read sends queries.
func (l *load) read(reader int) {
	for j := 0; !l.finished.Load(); j++ {
		path := []string{"/v1/cloud-accounts/query", "/v1/entities/query", "/v2/findings/query", "/v1/rules/query"}[j%4]
		if a := l.call("POST", path, object{}, fmt.Sprintf("read-%d-%d", reader, j)); a.status != http.StatusOK {
			l.t.Errorf("POST %s = %d %s", path, a.status, a.text)
		}
	}
}

// collect starts collections of an account, each when the one before has ended.
func (l *load) collect(account string) {
	for j := 0; !l.finished.Load(); j++ {
		a := l.call("POST", "/v1/cloud-accounts/"+account+"/collections", object{}, fmt.Sprintf("collect-%s-%d", account, j))
		switch a.status {
		case http.StatusAccepted:
			l.mu.Lock()
			l.runs++
			l.mu.Unlock()
		case http.StatusConflict: // a run is in progress: it replaced one whose process was killed
		default:
			l.t.Errorf("collection of %s: %d %s", account, a.status, a.text)
		}
		for k := 0; l.isCollecting(account, fmt.Sprintf("status-%s-%d-%d", account, j, k)) && !l.finished.Load(); k++ {
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// isCollecting reports whether an account has a run in progress.
func (l *load) isCollecting(account, key string) bool {
	a := l.call("POST", "/v1/cloud-accounts/collection-status/query", object{"filters": object{"cloudAccountId": account}}, key)
	var body struct {
		Results []struct{ Status string }
	}
	if err := json.Unmarshal([]byte(a.text), &body); err != nil {
		l.t.Errorf("status of %s: %v", account, err)
	}
	return len(body.Results) > 0 && body.Results[0].Status == "Started"
}

// sendEvents makes changes in the cloud in rounds. It sends the messages of a round up
// to three times each and in random order, and waits until no read is pending.
func (l *load) sendEvents() {
	for from := 0; !l.finished.Load() && from+perRound <= len(l.events.changes); from += perRound {
		l.events.apply(l.events.changes[from : from+perRound])
		var posts []events.Notification
		for _, n := range l.events.messages(l.streams, from, from+perRound) {
			posts = append(posts, slices.Repeat([]events.Notification{n}, 1+rand.IntN(3))...)
		}
		rand.Shuffle(len(posts), func(i, j int) { posts[i], posts[j] = posts[j], posts[i] })
		var senders sync.WaitGroup
		for part := range slices.Chunk(posts, len(posts)/4+1) {
			senders.Go(func() {
				for _, n := range part {
					l.deliver(n)
				}
			})
		}
		senders.Wait()
		for _, a := range l.events.accounts[:eventAccounts] {
			l.waitForReads(a.ID)
		}
		l.rounds++
		l.messages += len(posts)
	}
}

// deliver sends a message until a process accepts it, as clouds do.
func (l *load) deliver(n events.Notification) {
	for end, i := time.Now().Add(2*time.Minute), rand.IntN(len(l.nodes)); !send(l.node(i), n); i++ {
		if time.Now().After(end) {
			l.t.Error("no process accepted a message")
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// waitForReads waits until an account has no pending reads.
func (l *load) waitForReads(account string) {
	last := ""
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		a := l.call("GET", "/v1/cloud-accounts/"+account+"/event-stream", nil, "stream-"+account)
		var body struct{ PendingCount int }
		if err := json.Unmarshal([]byte(a.text), &body); err == nil && body.PendingCount == 0 {
			return
		}
		last = a.text
	}
	l.t.Errorf("account %s has pending reads: %s", account, last)
}

// waitForJobs waits until no job of collections, evaluations and events is left.
func (l *load) waitForJobs(in *instance.Installation) {
	l.t.Helper()
	var remaining []string
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		err := in.DB.Read(l.t.Context(), func(tx *sqldb.Tx) (err error) {
			remaining, err = sqldb.Query(tx, sqldb.Scalar[string], `
				SELECT kind || ' ' || CAST(state AS TEXT)
				FROM river_job
				WHERE queue IN ('collect', 'evaluate', 'stream') AND state IN ('available', 'pending', 'running', 'retryable', 'scheduled')
				UNION ALL SELECT 'run ' || id FROM run WHERE status = 'Started'`)
			return err
		})
		if err == nil && len(remaining) == 0 {
			return
		}
	}
	l.t.Errorf("jobs and runs that have not ended: %v", remaining)
}

// check compares the accounts and the audit log with the acknowledged writes: each was
// made once. It logs how the runs ended.
func (l *load) check(in *instance.Installation) {
	l.t.Helper()
	existing, ends := map[string]string{}, map[string]int{}
	type pair struct{ id, value string }
	scan := func(r sqldb.Row) (p pair, err error) {
		err = r.Scan(&p.id, &p.value)
		return p, err
	}
	err := in.DB.Read(l.t.Context(), func(tx *sqldb.Tx) error {
		// The ids of the accounts that write adds begin with 9, unlike those of the accounts with resources.
		all, err := sqldb.Query(tx, scan, `SELECT id, name FROM account WHERE id LIKE '9%'`)
		for _, p := range all {
			existing[p.id] = p.value
		}
		if err != nil {
			return err
		}
		all, err = sqldb.Query(tx, scan, `SELECT id, status FROM run`)
		for _, p := range all {
			ends[p.value]++
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	if diff := cmp.Diff(l.accounts, existing); diff != "" {
		l.t.Errorf("accounts (-acknowledged +stored):\n%.4000s", diff)
	}
	l.checkRecords(in)
	l.report()
	l.t.Logf("%d writes acknowledged, %d collections started, runs by status %v, %d rounds of %d changes in %d messages",
		len(l.writes), l.runs, ends, l.rounds, perRound, l.messages)
}

// checkRecords checks that the audit log has one record of each acknowledged write, not
// counting the records of replays.
func (l *load) checkRecords(in *instance.Installation) {
	l.t.Helper()
	counts := map[string]int{}
	for before := int64(0); ; {
		page, err := in.Audit.Page(l.t.Context(), audit.Filter{Org: string(l.host.org), Outcome: audit.Success, Before: before, Limit: 1000})
		if err != nil {
			l.t.Fatal(err)
		}
		for _, rec := range page {
			if rec.Targets["replay_of"] == "" {
				key := rec.Request[:max(0, strings.LastIndexByte(rec.Request, '-'))] // without the number of the try, see call
				counts[key]++
			}
		}
		if len(page) < 1000 {
			break
		}
		before = page[len(page)-1].Number
	}
	for _, key := range l.writes {
		if counts[key] != 1 {
			l.t.Errorf("%s was acknowledged and has %d audit records, want 1", key, counts[key])
		}
	}
	if report, err := in.Audit.Verify(l.t.Context()); err != nil || report.Broken != nil {
		l.t.Errorf("audit log: %+v, %v", report.Broken, err)
	}
}
