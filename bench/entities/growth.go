package main

import (
	"context"
	"strings"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// An outcome is what questions took in an estate of some size.
type outcome struct {
	entities int
	took     map[string]cost
}

// growth says how much longer narrow questions take in a larger estate.
func growth(all []outcome) {
	if len(all) < 2 {
		return
	}
	small, large := all[0], all[len(all)-1]
	say("narrow questions, %d entities beside %d: the estate is %.0f times as large", large.entities, small.entities, float64(large.entities)/float64(small.entities))
	say("%-42s %10s %10s %7s %10s %10s %7s", "question", "clock", "then", "ratio", "processor", "then", "ratio")
	for _, q := range narrowNames {
		a, b := small.took[q], large.took[q]
		if a.wall > 0 && b.wall > 0 {
			say("%-42s %10s %10s %7.2f %10s %10s %7.2f", q, short(a.wall), short(b.wall), ratio(b.wall, a.wall), short(a.cpu), short(b.cpu), ratio(b.cpu, a.cpu))
		}
	}
}

// narrowNames are the questions whose answers do not depend on the size of the
// estate: first pages, and filters that find little.
var narrowNames = []string{
	"first page of all", "one type", "one region", "one provider", "one service", "one account", "account, type and region", "one name", "a rare value",
	"a property in an account", "one entity", "count by type", "count by type in an account",
}

// narrow asks the narrow questions of the API alone, for estates that are too
// large for the plain way.
func (b *bench) narrow(ctx context.Context) error {
	say("%-42s %10s %10s", "question", "clock", "processor")
	for _, q := range b.asked() {
		if !strings.Contains(q.name, b.o.asks) {
			continue
		}
		took, err := median(b.o.rounds, func() error {
			_, err := b.ask(q.method, q.path, q.body)
			return err
		})
		if err != nil {
			return err
		}
		b.took[q.name] = took
		say("%-42s %10s %10s", q.name, short(took.wall), short(took.cpu))
	}
	say("")
	return ctx.Err()
}

// schema is where everything is in PostgreSQL.
const schema = "vigil_bench"

// emptySchema makes a new schema in a PostgreSQL database.
func emptySchema(ctx context.Context, database string) error {
	db, err := sqldb.Open(ctx, database, sqldb.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`DROP SCHEMA IF EXISTS ` + schema + ` CASCADE; CREATE SCHEMA ` + schema)
		return err
	})
}

// inSchema has the run use the schema, if the database is PostgreSQL.
func inSchema(o *options) error {
	if strings.HasPrefix(o.database, "sqlite:") {
		return nil
	}
	var err error
	o.database, err = dbtest.InSchema(o.database, schema)
	return err
}
