package main

import (
	"context"
	"strings"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// An outcome holds the times of queries for one number of entities.
type outcome struct {
	entities int
	costs    map[string]cost
}

// growth prints how much longer selective queries take with more entities.
func growth(all []outcome) {
	if len(all) < 2 {
		return
	}
	small, large := all[0], all[len(all)-1]
	printf("selective queries, %d entities compared with %d: %.0f times as many", large.entities, small.entities, float64(large.entities)/float64(small.entities))
	printf("%-42s %10s %10s %7s %10s %10s %7s", "query", "small", "large", "ratio", "CPU small", "CPU large", "ratio")
	for _, q := range selectiveQueries {
		a, b := small.costs[q], large.costs[q]
		if a.wall > 0 && b.wall > 0 {
			printf("%-42s %10s %10s %7.2f %10s %10s %7.2f", q, short(a.wall), short(b.wall), ratio(b.wall, a.wall), short(a.cpu), short(b.cpu), ratio(b.cpu, a.cpu))
		}
	}
}

// selectiveQueries are the queries whose cost should not depend on the number of entities:
// first pages, selective filters, and counts that the store keeps up to date.
var selectiveQueries = []string{
	"first page of all", "one type", "one region", "one provider", "one service", "one account", "account, type and region", "one name", "beginning of a name", "a rare value",
	"a property in an account", "one entity", "count by type", "count by type in an account",
}

// narrow runs the queries only through the API, without the hand-written SQL, for
// sizes that are too large for the plain tables.
func (b *bench) narrow(ctx context.Context) error {
	printf("%-42s %10s %10s", "query", "clock", "CPU")
	for _, q := range append(b.allQuestions(), b.sortedPages()...) {
		if !strings.Contains(q.name, b.o.queries) {
			continue
		}
		elapsed, err := median(b.o.rounds, func() error {
			_, err := b.send(q.method, q.path, q.body)
			return err
		})
		if err != nil {
			return err
		}
		b.costs[q.name] = elapsed
		printf("%-42s %10s %10s", q.name, short(elapsed.wall), short(elapsed.cpu))
	}
	printf("")
	return ctx.Err()
}

// sortedPages returns queries for the first page of sorted lists, which read the sort
// key of every entity of an account. They have no hand-written counterpart.
func (b *bench) sortedPages() []question {
	var account string
	for _, e := range b.sample(1) {
		account = string(e.Account)
	}
	sorted := func(name, field, filters string) question {
		return question{
			name: "sorted by " + name, method: "POST", path: "/v1/entities/query",
			body: `{"filters":{"cloudAccountIds":[` + quote(account) + `]` + filters + `},"sorts":[{"fieldName":` + quote(field) + `}],"paginationInfo":{"pageSize":100}}`,
		}
	}
	return []question{
		sorted("name in an account", "entityName", ""),
		sorted("type in an account", "entityType", ""),
		sorted("change in an account", "lastUpdateTime", ""),
		sorted("a property in an account", "property.encrypted", ""),
		sorted("a tag in an account", "tag.team", ""),
	}
}

// schema is the PostgreSQL schema of the benchmark.
const schema = "vigil_bench"

// emptySchema drops the schema of the benchmark in a PostgreSQL database, with its
// contents, and creates it again.
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

// setSchema adds the schema to the URL of a PostgreSQL database.
func setSchema(o *options) error {
	if strings.HasPrefix(o.database, "sqlite:") {
		return nil
	}
	var err error
	o.database, err = dbtest.InSchema(o.database, schema)
	return err
}
