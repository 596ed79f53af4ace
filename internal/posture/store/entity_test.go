package store_test

import (
	"testing"
	"time"

	"vigil/internal/posture/store"
	"vigil/internal/posture/store/storetest"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestEntitiesSQLite(t *testing.T) {
	t.Parallel()
	storetest.RunEntities(t, func(t *testing.T) storetest.EntityFixture { return entityFixture(t, dbtest.SQLite(t)) })
}

func TestEntitiesPostgres(t *testing.T) {
	t.Parallel()
	storetest.RunEntities(t, func(t *testing.T) storetest.EntityFixture { return entityFixture(t, dbtest.Postgres(t)) })
}

func TestEntitiesCitus(t *testing.T) {
	t.Parallel()
	dbtest.RequireCitus(t)
	storetest.RunEntities(t, func(t *testing.T) storetest.EntityFixture { return entityFixture(t, dbtest.Citus(t), distribute) })
}

func entityFixture(t *testing.T, dsn string, prepare ...func(*testing.T, *sqldb.DB)) storetest.EntityFixture {
	db := open(t, dsn)
	for _, f := range prepare {
		f(t, db)
	}
	clock := &storetest.Clock{T: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	return storetest.EntityFixture{Store: store.New(db, secrettest.NewBox(t), new(enqueued)).At(clock.Now), Clock: clock}
}
