package secretdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/secret/secretdb"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func open(t *testing.T, db *sqldb.DB) *secretdb.Keyring {
	t.Helper()
	if err := secretdb.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return secretdb.NewKeyring(db)
}

func TestKeyringKeepsGenerationsInOrder(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		ring, ctx := open(t, db), t.Context()
		if _, err := ring.Keyset(ctx); !fault.Is(err, fault.NotFound) {
			t.Fatalf("empty keyring: %v, want NotFound", err)
		}
		at := time.UnixMilli(1_800_000_000_123).UTC()
		one := secret.Wrapped{Generation: 1, Master: "m", Keyset: []byte{0, 1, 255}, RotatedAt: at}
		two := secret.Wrapped{Generation: 2, Master: "n", Keyset: []byte{2}, RotatedAt: at.Add(time.Hour)}
		for _, step := range []struct {
			name      string
			w         secret.Wrapped
			wantStale bool // else success
		}{
			{"second before first", two, true},
			{"first", one, false},
			{"first again", one, true},
			{"second", two, false},
			{"second again", two, true},
		} {
			err := ring.Replace(ctx, step.w)
			if stale := fault.Is(err, fault.Stale); stale != step.wantStale || err != nil && !stale {
				t.Fatalf("%s: Replace = %v, want Stale: %t", step.name, err, step.wantStale)
			}
		}
		got, err := ring.Keyset(ctx)
		if diff := cmp.Diff(two, got); err != nil || diff != "" {
			t.Errorf("keyset: %v\n%s", err, diff)
		}
	})
}

func TestBookmarksBelongToAGeneration(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		const column, generation = "c.f", 7
		ring, ctx := open(t, db), t.Context()
		if err := ring.SetBookmark(ctx, column, generation, "a", false); err != nil {
			t.Fatal(err)
		}
		if err := ring.SetBookmark(ctx, column, generation, "b", true); err != nil {
			t.Fatal(err)
		}
		if bookmark, done, err := ring.Bookmark(ctx, column, generation); bookmark != "b" || !done || err != nil {
			t.Errorf("Bookmark = %q, %t, %v; want b, true", bookmark, done, err)
		}
		if bookmark, done, err := ring.Bookmark(ctx, column, generation+1); bookmark != "" || done || err != nil {
			t.Errorf("next generation: %q, %t, %v; want a new start", bookmark, done, err)
		}
	})
}

// fill creates a table with n sealed values in two organisations, and a row without a value. Each value is
// the id of its row.
func fill(t *testing.T, db *sqldb.DB, box *secret.Box, n int) {
	t.Helper()
	ctx := t.Context()
	err := db.Write(ctx, func(tx *sqldb.Tx) error {
		text := `CREATE TABLE thing (org TEXT NOT NULL, id TEXT NOT NULL, v BLOB, PRIMARY KEY (org, id))`
		if tx.Dialect() == sqldb.Postgres {
			text = `CREATE TABLE thing (org TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, v BYTEA, PRIMARY KEY (org, id))`
		}
		_, err := tx.Exec(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for i := range n {
		c := cellOf(i)
		sealed, err := box.Seal(ctx, c, []byte(c.Row))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, []any{c.Org, c.Row, sealed})
	}
	rows = append(rows, []any{"o0", "empty", nil})
	err = db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Load("thing", []string{"org", "id", "v"}, slices.Values(rows))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func cellOf(i int) secret.Cell {
	return secret.Cell{Org: fmt.Sprint("o", i%2), Table: "thing", Row: fmt.Sprintf("r%05d", i/2), Field: "v"}
}

func values(t *testing.T, db *sqldb.DB) map[secret.Cell][]byte {
	t.Helper()
	out := map[secret.Cell][]byte{}
	err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		_, err := sqldb.Query(tx, func(r sqldb.Row) (struct{}, error) {
			c := secret.Cell{Table: "thing", Field: "v"}
			var v []byte
			err := r.Scan(&c.Org, &c.Row, &v)
			out[c] = v
			return struct{}{}, err
		}, `SELECT org, id, v FROM thing WHERE v IS NOT NULL`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// interrupted is a column that fails, as in a crash, after some values were resealed.
type interrupted struct {
	secret.Column
	remaining int // values that it reseals before it fails
}

// failing reseals the remaining number of values, and then fails.
type failing struct {
	secret.Resealer
	remaining *int
}

func (i *interrupted) Reseal(ctx context.Context, r secret.Resealer, after string, limit int) (string, int, error) {
	return i.Column.Reseal(ctx, failing{r, &i.remaining}, after, limit)
}

func (f failing) Reseal(ctx context.Context, c secret.Cell, v []byte) ([]byte, bool, error) {
	*f.remaining--
	if *f.remaining < 0 {
		return nil, false, errors.New("power cut")
	}
	return f.Resealer.Reseal(ctx, c, v)
}

func TestColumnIsResealedInBatchesAndResumes(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		ring, ctx := open(t, db), t.Context()
		box, err := secret.NewBox(ctx, ring, secret.Options{Master: secrettest.Master(t)})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, db, box, 1001)
		column := secretdb.Column{DB: db, Table: "thing", Org: "org", Row: "id", Field: "v"}
		if err := box.Rotate(ctx); err != nil {
			t.Fatal(err)
		}
		if err := box.ResealAll(ctx, ring, nil, &interrupted{column, 555}); err == nil {
			t.Fatal("the interruption was not reported")
		}
		total := 0
		if err := box.ResealAll(ctx, ring, func(_ string, n int) { total += n }, column); err != nil {
			t.Fatal(err)
		}
		if total != 601 { // of 1001; two batches of 200 were stored before the interruption
			t.Errorf("%d rows resealed after the interruption, want the 601 left", total)
		}
		primary, err := box.Seal(ctx, secret.Cell{}, nil) // its first 5 bytes identify the primary key
		if err != nil {
			t.Fatal(err)
		}
		got := values(t, db)
		if len(got) != 1001 {
			t.Fatalf("%d values, want 1001", len(got))
		}
		for c, v := range got {
			plaintext, err := box.Open(ctx, c, v)
			if err != nil || string(plaintext) != c.Row || !bytes.Equal(v[:5], primary[:5]) {
				t.Fatalf("%+v: opened as %q, %v, sealed with key %x, want %x", c, plaintext, err, v[:5], primary[:5])
			}
		}
	})
}

// rival replaces a value while it is being resealed.
type rival struct {
	secret.Resealer
	db *sqldb.DB
}

func (r rival) Reseal(ctx context.Context, c secret.Cell, v []byte) ([]byte, bool, error) {
	err := r.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`UPDATE thing SET v = $1 WHERE org = $2 AND id = $3`, []byte("newer"), c.Org, c.Row)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return []byte("resealed"), true, nil
}

func TestResealingDoesNotOverwriteNewerValues(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		ring := open(t, db)
		box, err := secret.NewBox(t.Context(), ring, secret.Options{Master: secrettest.Master(t)})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, db, box, 2)
		column := secretdb.Column{DB: db, Table: "thing", Org: "org", Row: "id", Field: "v"}
		if _, n, err := column.Reseal(t.Context(), rival{box, db}, "", 10); n != 0 || err != nil {
			t.Errorf("Reseal changed %d rows, %v; want none", n, err)
		}
		for c, v := range values(t, db) {
			if string(v) != "newer" {
				t.Errorf("%+v holds %q, want the newer value", c, v)
			}
		}
	})
}
