package audit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vigil/internal/audit"
	"vigil/internal/audit/auditdb"
	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, db *sqldb.DB, box *secret.Box) *audit.Log {
	t.Helper()
	if err := auditdb.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	l, err := audit.Open(t.Context(), auditdb.NewStore(db), box, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fill appends n records, one commit each, an hour apart.
func fill(t testing.TB, l *audit.Log, n int) {
	t.Helper()
	for i := range n {
		err := l.Append(t.Context(), audit.Record{
			Time: noon.Add(time.Duration(i) * time.Hour), Request: fmt.Sprint("req", i), Org: fmt.Sprint("o", i%2), Actor: fmt.Sprint("u", i%3),
			Operation: fmt.Sprint("op", i%5), Targets: map[string]string{"id": fmt.Sprint(i), "b": "x"},
			Outcome: audit.Success, Status: 200, Changed: []string{"name", "tags"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func verify(t testing.TB, l *audit.Log, known ...audit.Checkpoint) audit.Report {
	t.Helper()
	r, err := l.Verify(t.Context(), known...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func exec(t testing.TB, db *sqldb.DB, statements ...string) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func onBothDatabases(t *testing.T, test func(t *testing.T, db *sqldb.DB, l *audit.Log)) {
	t.Helper()
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) { test(t, db, open(t, db, secrettest.NewBox(t))) })
}

func TestEmptyAndFilledLogsVerify(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, _ *sqldb.DB, l *audit.Log) {
		if r := verify(t, l); r.Broken != nil || r.Records != 0 {
			t.Errorf("empty log: report %+v, want no records", r)
		}
		fill(t, l, 20)
		if diff := cmp.Diff(audit.Report{First: 1, Last: 20, Records: 20}, verify(t, l)); diff != "" {
			t.Errorf("report (-want +got):\n%s", diff)
		}
	})
}

func TestPagesAreNewestFirstAndOneOrganisationOnly(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, _ *sqldb.DB, l *audit.Log) {
		fill(t, l, 30)
		var numbers []int64
		for before := int64(0); ; {
			page, err := l.Page(t.Context(), audit.Filter{Org: "o1", Before: before, Limit: 4})
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, r := range page {
				if r.Org != "o1" {
					t.Fatalf("a record of %s is on a page of o1", r.Org)
				}
				numbers = append(numbers, r.Number)
			}
			before = page[len(page)-1].Number
		}
		want := []int64{30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2}
		if diff := cmp.Diff(want, numbers); diff != "" {
			t.Errorf("numbers (-want +got):\n%s", diff)
		}
		got, err := l.Page(t.Context(), audit.Filter{
			Org: "o1", Operation: "op1", Actor: "u2", Outcome: audit.Success, From: noon.Add(11 * time.Hour), To: noon.Add(12 * time.Hour), Limit: 9,
		})
		wantRecord := audit.Record{
			Number: 12, Time: noon.Add(11 * time.Hour), Request: "req11", Org: "o1", Actor: "u2", Operation: "op1",
			Targets: map[string]string{"id": "11", "b": "x"}, Outcome: audit.Success, Status: 200, Changed: []string{"name", "tags"},
		}
		if diff := cmp.Diff([]audit.Record{wantRecord}, got, cmpopts.IgnoreFields(audit.Record{}, "ID")); err != nil || diff != "" {
			t.Errorf("filtered: %v (-want +got)\n%s", err, diff)
		}
		for f, want := range map[audit.Filter]int{
			{Org: "o1", Target: "11", Limit: 9}:                  1,
			{Org: "o2", Target: "11", Limit: 9}:                  0, // the record with this target belongs to o1
			{Org: "o1", Target: "x", Limit: 99}:                  15,
			{Org: "o1", Target: "x", Operation: "op1", Limit: 1}: 1,
			{Org: "o1", Target: "none", Limit: 9}:                0,
			{Org: "o1", Target: "a\x00\xff", Limit: 9}:           0,
		} {
			if got, err := l.Page(t.Context(), f); err != nil || len(got) != want {
				t.Errorf("%+v: %d records, want %d; %v", f, len(got), want, err)
			}
		}
	})
}

func TestTamperingIsFound(t *testing.T) {
	for name, tt := range map[string]struct {
		statements []string
		broken     int64
		problem    string
	}{
		"text edited":       {[]string{`UPDATE audit_record SET body = replace(body, 'req6', 'req7') WHERE number = 7`}, 7, "altered"},
		"column edited":     {[]string{`UPDATE audit_record SET org_id = 'o9' WHERE number = 7`}, 7, "searched by"},
		"time edited":       {[]string{`UPDATE audit_record SET at = at + 1 WHERE number = 7`}, 7, "searched by"},
		"outcome edited":    {[]string{`UPDATE audit_record SET outcome = 'denied' WHERE number = 7`}, 7, "searched by"},
		"target removed":    {[]string{`DELETE FROM audit_target WHERE number = 7`}, 7, "searched by"},
		"first removed":     {[]string{`DELETE FROM audit_record WHERE number = 1`}, 1, "missing"},
		"middle removed":    {[]string{`DELETE FROM audit_record WHERE number = 7`}, 7, "missing"},
		"last removed":      {[]string{`DELETE FROM audit_record WHERE number = 10`}, 10, "missing"},
		"all removed":       {[]string{`DELETE FROM audit_record`}, 1, "missing"},
		"signature removed": {[]string{`UPDATE audit_record SET signature = prev, key_id = '' WHERE number = 10`}, 10, "signature"},
		"gap closed": {[]string{`DELETE FROM audit_record WHERE number = 7`,
			`UPDATE audit_record SET number = 7 WHERE number = 8`}, 7, "follow"},
		"two swapped": {[]string{`UPDATE audit_record SET number = 70 WHERE number = 7`,
			`UPDATE audit_record SET number = 7 WHERE number = 8`, `UPDATE audit_record SET number = 8 WHERE number = 70`}, 7, "follow"},
		"copied": {[]string{`INSERT INTO audit_record SELECT 11, at, org_id, actor, operation, outcome, body, prev, hash, key_id, signature
			FROM audit_record WHERE number = 3`}, 11, "follow"},
		"head moved":    {[]string{`UPDATE audit_chain SET number = 12`}, 11, "missing"},
		"anchor forged": {[]string{`DELETE FROM audit_record WHERE number <= 3`, `UPDATE audit_chain SET anchor_number = 3, anchor_hash = (SELECT prev FROM audit_record WHERE number = 4)`}, 3, "not signed"},
	} {
		t.Run(name, func(t *testing.T) {
			onBothDatabases(t, func(t *testing.T, db *sqldb.DB, l *audit.Log) {
				fill(t, l, 10)
				exec(t, db, tt.statements...)
				r := verify(t, l)
				if r.Broken == nil || r.Broken.Number != tt.broken || !strings.Contains(r.Broken.Problem, tt.problem) {
					t.Errorf("Verify = %+v (%v), want record %d and %q", r, r.Broken, tt.broken, tt.problem)
				}
			})
		})
	}
}

// TestRecomputedChainIsFound models an attacker who computes the hashes of a
// whole new chain but cannot decrypt the signing key.
func TestRecomputedChainIsFound(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, db *sqldb.DB, l *audit.Log) {
		fill(t, l, 5)
		for _, name := range []string{"with the real key left", "with the real key removed"} {
			exec(t, db, `DELETE FROM audit_record`, `DELETE FROM audit_chain`)
			if name == "with the real key removed" {
				exec(t, db, `DELETE FROM audit_key`)
			}
			box := secrettest.NewBox(t)
			forged, err := audit.Open(t.Context(), forgedKeys{auditdb.NewStore(db), box}, box, nil)
			if err != nil {
				t.Fatal(err)
			}
			fill(t, forged, 5)
			if r := verify(t, l); r.Broken == nil || r.Broken.Number != 1 || !strings.Contains(r.Broken.Problem, "signature") {
				t.Errorf("%s: %+v", name, r)
			}
		}
	})
}

// forgedKeys hides the keys that box cannot decrypt, and lets the log add its first key next to them.
type forgedKeys struct {
	*auditdb.Store
	box *secret.Box
}

func (f forgedKeys) Keys(ctx context.Context) ([]audit.Key, error) {
	all, err := f.Store.Keys(ctx)
	return slices.DeleteFunc(all, func(k audit.Key) bool {
		_, err := f.box.Open(ctx, secret.Cell{Table: audit.KeyTable, Row: k.ID, Field: "sealed"}, k.Sealed)
		return err != nil
	}), err
}

func (f forgedKeys) AddFirstKey(ctx context.Context, k audit.Key) error {
	return f.Store.AddKey(ctx, k)
}

func TestTruncationIsFoundByACheckpoint(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, db *sqldb.DB, l *audit.Log) {
		fill(t, l, 6)
		c, err := l.Checkpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		known, err := audit.ParseCheckpoint(c.String())
		if err != nil {
			t.Fatal(err)
		}
		fill(t, l, 4)
		if r := verify(t, l, known); r.Broken != nil {
			t.Fatalf("before: %v", r.Broken)
		}
		cut := func(last string) {
			exec(t, db, `DELETE FROM audit_record WHERE number > `+last,
				`UPDATE audit_chain SET number = `+last+`, hash = (SELECT hash FROM audit_record WHERE number = `+last+`)`)
		}
		cut("8")
		if r := verify(t, l, known); r.Broken != nil {
			t.Errorf("cut after the checkpoint: %v", r.Broken)
		}
		// This process wrote ten records and detects the truncation itself.
		err = l.Append(t.Context(), audit.Record{Operation: "x"})
		if !errors.Is(err, audit.ErrTruncated) || !fault.Is(err, fault.Unavailable) {
			t.Errorf("append after a truncation: %v", err)
		}
		cut("5")
		if r := verify(t, l); r.Broken != nil {
			t.Errorf("without a checkpoint: %v", r.Broken)
		}
		if r := verify(t, l, known); r.Broken == nil || r.Broken.Number != 6 {
			t.Errorf("with a checkpoint: %+v", r)
		}
		known.Number = 4
		if r := verify(t, l, known); r.Broken == nil || !strings.Contains(r.Broken.Problem, "not one of this log") {
			t.Errorf("with a forged checkpoint: %+v", r)
		}
	})
}

func TestPrunedLogVerifies(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, db *sqldb.DB, l *audit.Log) {
		fill(t, l, 20)
		n, err := l.Retain(t.Context(), noon.Add(12*time.Hour), 0)
		if err != nil || n != 12 {
			t.Fatalf("Retain = %d, %v; want 12", n, err)
		}
		// Eight records are left, and Retain added a record about itself.
		if r := verify(t, l); r.Broken != nil || r.First != 13 || r.Records != 9 {
			t.Errorf("after pruning by age: report %+v, want 9 records from 13", r)
		}
		page, err := l.Page(t.Context(), audit.Filter{Org: "", Limit: 5})
		if err != nil || len(page) != 1 || page[0].Operation != "audit.retain" || page[0].Targets["removed"] != "12" {
			t.Errorf("records of the system: %+v, %v", page, err)
		}
		// All records are older: the newest record is kept as the head of the chain.
		if n, err := l.Retain(t.Context(), noon.Add(1000*time.Hour), 0); err != nil || n != 8 {
			t.Errorf("Retain = %d, %v; want 8", n, err)
		}
		if r := verify(t, l); r.Broken != nil || r.First != 21 || r.Records != 2 {
			t.Errorf("after pruning all that may be pruned: report %+v, want 2 records from 21", r)
		}
		exec(t, db, `DELETE FROM audit_record WHERE number = 21`)
		if r := verify(t, l); r.Broken == nil || r.Broken.Number != 21 {
			t.Errorf("after removing more: %+v", r)
		}
	})
}

func TestOldSignaturesStayValidAfterKeyRotation(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, db *sqldb.DB, l *audit.Log) {
		fill(t, l, 3)
		if err := l.RotateKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		fill(t, l, 3)
		if r := verify(t, l); r.Broken != nil || r.Records != 6 {
			t.Errorf("with both keys: report %+v, want 6 records", r)
		}
		exec(t, db, `DELETE FROM audit_key WHERE number = 1`)
		if r := verify(t, l); r.Broken == nil || r.Broken.Number != 1 {
			t.Errorf("without the first key: report %+v, want record 1 broken", r)
		}
	})
}

func TestManyWritersInSeveralProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		box := secrettest.NewBox(t)
		logs := []*audit.Log{open(t, db, box), open(t, db, box), open(t, db, box)}
		const writers, each = 30, 10
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					ctx, cancel := context.WithCancel(t.Context())
					if i%3 == 0 {
						cancel() // the caller has disconnected; the record is written nevertheless
					}
					err := logs[w%len(logs)].Append(ctx, audit.Record{Org: "o", Operation: "op", Request: fmt.Sprint(w, "/", i), Outcome: audit.Success})
					cancel()
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if r := verify(t, logs[0]); r.Broken != nil || r.Records != writers*each {
			t.Errorf("report %+v, want %d records", r, writers*each)
		}
		page, err := logs[0].Page(t.Context(), audit.Filter{Org: "o", Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, r := range page {
			seen[r.Request] = true
		}
		if len(seen) != writers*each {
			t.Errorf("%d different records, want %d", len(seen), writers*each)
		}
	})
}

func TestUnwritableLogIsUnavailable(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t))
	l := open(t, db, secrettest.NewBox(t))
	exec(t, db, `DROP TABLE audit_record`)
	if err := l.Append(t.Context(), audit.Record{Operation: "x"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Append = %v, want Unavailable", err)
	}
}

func TestRecordKeepsUnusualText(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, _ *sqldb.DB, l *audit.Log) {
		odd := "a\x00b\xff<&>\u2028\n\"\\ é"
		err := l.Append(t.Context(), audit.Record{Operation: "x" + odd, Org: "o", Actor: odd, Cause: odd, Targets: map[string]string{odd: odd}})
		if err != nil {
			t.Fatal(err)
		}
		if r := verify(t, l); r.Broken != nil {
			t.Errorf("report %v", r.Broken)
		}
		page, err := l.Page(t.Context(), audit.Filter{Org: "o", Limit: 1})
		if want := strings.ToValidUTF8(odd, "\uFFFD"); err != nil || len(page) != 1 || page[0].Cause != want {
			t.Errorf("page %+v, %v; want the cause %q", page, err, want)
		}
	})
}

func FuzzParseCheckpoint(f *testing.F) {
	f.Add("vigil-audit 1 6 h00ff key aabb")
	f.Add("vigil-audit 1 0 h key 00")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := audit.ParseCheckpoint(s)
		if err != nil {
			return
		}
		second, err := audit.ParseCheckpoint(c.String())
		if err != nil || !cmp.Equal(c, second) {
			t.Errorf("%q: %+v, then %+v, %v", s, c, second, err)
		}
	})
}

// slowStore blocks the first commit until resume is closed.
type slowStore struct {
	audit.Store
	mu      sync.Mutex
	commits []int // number of records of each commit
	started chan struct{}
	resume  chan struct{}
}

func (s *slowStore) Extend(ctx context.Context, build func(audit.Head) ([]audit.Entry, error)) error {
	s.mu.Lock()
	first := len(s.commits) == 0
	s.commits = append(s.commits, 0)
	s.mu.Unlock()
	if first {
		close(s.started)
		<-s.resume
	}
	return s.Store.Extend(ctx, func(h audit.Head) ([]audit.Entry, error) {
		entries, err := build(h)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.commits[len(s.commits)-1] = len(entries)
		return entries, err
	})
}

func TestQueuedRecordsShareACommit(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t))
	if err := auditdb.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	store := &slowStore{Store: auditdb.NewStore(db), started: make(chan struct{}), resume: make(chan struct{})}
	l, err := audit.Open(t.Context(), store, secrettest.NewBox(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	write := func() {
		if err := l.Append(t.Context(), audit.Record{Operation: "x"}); err != nil {
			t.Error(err)
		}
	}
	wg.Go(write)
	<-store.started
	const waiting = 40
	for range waiting {
		wg.Go(write)
	}
	for l.Waiting() < waiting {
		runtime.Gosched()
	}
	close(store.resume)
	wg.Wait()
	if diff := cmp.Diff([]int{1, waiting}, store.commits); diff != "" {
		t.Errorf("records per commit (-want +got):\n%s", diff)
	}
}
