package entitydb

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

var queues = posture.Scope{Org: "org", Account: "1", Type: "AWS.SQS.Queue", Region: posture.Global}

// TestIndexFollowsChanges changes entities at random, several times in some
// transactions, and removes the account in round 7. After each transaction the index
// must equal a rebuilt one.
func TestIndexFollowsChanges(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		s := newStore(t, db, "1", posture.AWS)
		random := rand.New(rand.NewPCG(1, 2))
		for round := range 12 {
			if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				for range 1 + random.IntN(3) {
					if err := s.record(tx, queues, someEntities(random)); err != nil {
						return err
					}
				}
				if round == 7 {
					const at, later = 1, false
					_, err := RemoveAccount(tx, posture.AccountRef{Org: "org", Account: "1"}, at, later)
					return err
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			got := indexEntries(t, db)
			rebuildIndex(t, db)
			if want := indexEntries(t, db); !maps.Equal(got, want) {
				t.Fatalf("round %d: the index is\n%v\nwant\n%v", round, got, want)
			}
			if (len(got) == 0) != (round == 7) {
				t.Fatalf("round %d: the index has %d entries", round, len(got))
			}
		}
	})
}

// newStore returns a store with new tables and one account of the organisation "org".
// Package store owns the account table, so newStore creates one.
func newStore(t *testing.T, db *sqldb.DB, id posture.AccountID, p posture.Provider) *Store {
	t.Helper()
	if err := Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`CREATE TABLE account (org TEXT NOT NULL, id TEXT NOT NULL, provider TEXT NOT NULL, PRIMARY KEY (org, id))`); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO account (org, id, provider) VALUES ('org', $1, $2)`, id, p)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return New(db).At(func() time.Time { return time.UnixMilli(1) })
}

// someEntities returns a random subset of twenty entities with random words. One in six
// entities is in us-east-1.
func someEntities(random *rand.Rand) (es []posture.Entity) {
	for i := range 20 {
		if random.IntN(5) == 0 {
			continue
		}
		region := "eu-west-1"
		if random.IntN(6) == 0 {
			region = "us-east-1"
		}
		e := posture.Entity{
			Type: queues.Type, Account: queues.Account, Region: region, Name: fmt.Sprint("queue ", i),
			ID: queues.Type.ID(queues.Account, "", fmt.Sprint(i)),
		}
		for range random.IntN(4) {
			e.Properties = append(e.Properties, posture.Text(fmt.Sprint("p", random.IntN(2)), fmt.Sprint(random.IntN(2))))
		}
		if random.IntN(2) == 0 {
			e.Tags = map[string]string{"env": fmt.Sprint(random.IntN(2))}
		}
		es = append(es, e)
	}
	return es
}

// record records the entities of a scope in a transaction.
func (s *Store) record(tx *sqldb.Tx, scope posture.Scope, es []posture.Entity) error {
	r := newRecording(s, scope)
	defer r.Discard()
	if err := r.load(tx); err != nil {
		return err
	}
	for _, e := range es {
		if err := r.Put(tx.Context(), e); err != nil {
			return err
		}
	}
	const complete = true
	return r.commit(tx, complete)
}

// indexEntries returns the number of occurrences of each index entry.
func indexEntries(t *testing.T, db *sqldb.DB) map[string]int {
	t.Helper()
	text := `SELECT row_id || ' ' || unnest(tokens) FROM entity`
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if tx.Dialect() == sqldb.Postgres {
			return nil
		}
		text = `SELECT doc || ' ' || hex(term) FROM entity_vocabulary`
		_, err := tx.Exec(`CREATE VIRTUAL TABLE IF NOT EXISTS entity_vocabulary USING fts5vocab ('entity_token', 'instance')`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
		all, err = sqldb.Query(tx, sqldb.Scalar[string], text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, each := range all {
		found[each]++
	}
	return found
}

// rebuildIndex rebuilds the index from the entities. A row in entity_retoken requests that,
// as a migration does.
func rebuildIndex(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO entity_retoken (next) VALUES (0)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := reindex(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

// TestManyRemovalsAreExclusive begins a recording that finds none of the stored
// entities. If it removes many index entries, it must not share a transaction.
func TestManyRemovalsAreExclusive(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		s := newStore(t, db, "1", posture.AWS)
		for _, test := range []struct {
			entities int
			large    bool
		}{{maxIndexChanges - 1, false}, {maxIndexChanges, true}} {
			var es []posture.Entity
			for i := range test.entities {
				es = append(es, posture.Entity{Type: queues.Type, Account: queues.Account, ID: queues.Type.ID("1", "", fmt.Sprint(i))})
			}
			if err := db.WriteExclusive(t.Context(), func(tx *sqldb.Tx) error { return s.record(tx, queues, es) }); err != nil {
				t.Fatal(err)
			}
			r, err := s.Begin(t.Context(), collect.Scoped(queues))
			if err != nil {
				t.Fatal(err)
			}
			if got := r.(*recording).isLarge(); got != test.large {
				t.Errorf("a recording that removes %d entities: isLarge is %v, want %v", test.entities, got, test.large)
			}
			r.Discard()
		}
	})
}

// TestRowsThatLoseWordsStayCounted removes words from a row repeatedly. FTS5 must not
// count that as removing more rows than were inserted.
func TestRowsThatLoseWordsStayCounted(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		s := newStore(t, db, "1", posture.AWS)
		e := posture.Entity{Type: queues.Type, Account: queues.Account, ID: queues.Type.ID("1", "", "q")}
		for i := range 5 {
			e.Properties = append(e.Properties, posture.Text("p", fmt.Sprint(i)))
		}
		record := func(es ...posture.Entity) error {
			return db.Write(t.Context(), func(tx *sqldb.Tx) error { return s.record(tx, queues, es) })
		}
		for ; len(e.Properties) > 0; e.Properties = e.Properties[1:] {
			if err := record(e); err != nil {
				t.Fatalf("with %d properties: %v", len(e.Properties), err)
			}
		}
		if err := record(); err != nil {
			t.Fatal(err)
		}
		if remaining := indexEntries(t, db); len(remaining) > 0 {
			t.Errorf("the index still has %v", remaining)
		}
		if err := db.IntegrityCheck(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
