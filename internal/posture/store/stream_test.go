package store_test

import (
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/store"
	"vigil/internal/posture/store/storetest"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// Stream records the account, as Validate does.
func (e *enqueued) Stream(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error {
	return e.Validate(tx, org, id)
}

func TestStreamsSQLite(t *testing.T) {
	t.Parallel()
	storetest.RunStreams(t, func(t *testing.T) storetest.StreamFixture { return streamFixture(t, dbtest.SQLite(t)) })
}

func TestStreamsPostgres(t *testing.T) {
	t.Parallel()
	storetest.RunStreams(t, func(t *testing.T) storetest.StreamFixture { return streamFixture(t, dbtest.Postgres(t)) })
}

func streamFixture(t *testing.T, dsn string) storetest.StreamFixture {
	db := open(t, dsn)
	clock := &storetest.Clock{T: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	jobs := new(enqueued)
	return storetest.StreamFixture{
		Streams: store.NewStreams(db, jobs, clock.Now), Entities: store.New(db, secrettest.NewBox(t), jobs).At(clock.Now),
		Clock: clock, Jobs: jobs.all,
	}
}
