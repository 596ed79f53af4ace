package job

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivershared/baseservice"
	"github.com/riverqueue/river/rivershared/riverpilot"
	"github.com/riverqueue/river/rivertype"

	"vigil/internal/sqldb"
)

// driver is River's driver for either database. It can also notify River's workers of
// a job that a transaction has inserted, so that they need not wait for the next poll.
// The notification uses an unstable interface of River, which is one reason why River's
// version is pinned.
type driver struct {
	riverdriver.Driver[*sql.Tx]
	pilot *pilot
}

func newDriver(db *sqldb.DB) driver {
	d := driver{pilot: &pilot{db: db}}
	if db.Dialect() == sqldb.SQLite {
		d.Driver = riversqlite.New(db.Pool())
	} else {
		d.Driver = riverdatabasesql.New(db.Pool())
	}
	return d
}

// SupportsListenNotify returns false, so that River sends no PostgreSQL notifications.
func (d driver) SupportsListenNotify() bool { return false }

// PluginInit implements River's driver plugin interface.
func (d driver) PluginInit(*baseservice.Archetype) {}

// PluginPilot implements River's driver plugin interface.
func (d driver) PluginPilot() riverpilot.Pilot { return d.pilot }

// pilot is River's standard pilot. It keeps the function by which River notifies its
// workers of inserted jobs.
type pilot struct {
	riverpilot.StandardPilot
	db       *sqldb.DB
	inserted func(ctx context.Context, res []*rivertype.JobInsertResult)
}

func (p *pilot) PilotInit(archetype *baseservice.Archetype, params *riverpilot.PilotInitParams) {
	p.StandardPilot.PilotInit(archetype, params)
	p.inserted = params.NotifyNonTxJobInsert
}

// JobGetAvailable fetches jobs. River calls it many times a second, and mostly there
// are none. On SQLite a read transaction checks first, because fetching takes a write
// transaction.
func (p *pilot) JobGetAvailable(
	ctx context.Context, exec riverdriver.Executor, state riverpilot.ProducerState, params *riverdriver.JobGetAvailableParams,
) ([]*rivertype.JobRow, error) {
	if p.db.Dialect() == sqldb.SQLite {
		found := false
		err := p.db.Read(ctx, func(tx *sqldb.Tx) error {
			return tx.QueryRow("SELECT EXISTS (SELECT 1 FROM river_job WHERE state = 'available' AND queue = $1)", params.Queue).Scan(&found)
		})
		if err != nil || !found {
			return nil, err
		}
	}
	return p.StandardPilot.JobGetAvailable(ctx, exec, state, params)
}

// wake makes the workers of a queue fetch jobs now.
func (p *pilot) wake(queue string) {
	p.inserted(context.Background(), []*rivertype.JobInsertResult{{Job: &rivertype.JobRow{Queue: queue}}})
}

// warnings is a log handler that drops records below warning level: River logs its
// routine work at info level.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

func (w warnings) WithAttrs(a []slog.Attr) slog.Handler { return warnings{w.Handler.WithAttrs(a)} }
func (w warnings) WithGroup(name string) slog.Handler   { return warnings{w.Handler.WithGroup(name)} }
