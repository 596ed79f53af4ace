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

// driver is River's driver for either database, with a way to tell River that
// a transaction has put a job into a queue. River polls; the nudge spares the
// wait for the next poll. It uses a part of River that is not promised to stay
// as it is, which is one reason why River's version is pinned.
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

// SupportsListenNotify spares PostgreSQL notifications that nobody listens to.
func (d driver) SupportsListenNotify() bool { return false }

// PluginInit is called by River.
func (d driver) PluginInit(*baseservice.Archetype) {}

// PluginPilot is called by River.
func (d driver) PluginPilot() riverpilot.Pilot { return d.pilot }

// pilot is River's own with an ear for what River would tell another.
type pilot struct {
	riverpilot.StandardPilot
	db       *sqldb.DB
	inserted func(ctx context.Context, res []*rivertype.JobInsertResult)
}

func (p *pilot) PilotInit(archetype *baseservice.Archetype, params *riverpilot.PilotInitParams) {
	p.StandardPilot.PilotInit(archetype, params)
	p.inserted = params.NotifyNonTxJobInsert
}

// JobGetAvailable is called by River to take jobs, many times a second. Most of
// the time there are none. On SQLite it is far less work to look first,
// and looking leaves the writer alone.
func (p *pilot) JobGetAvailable(
	ctx context.Context, exec riverdriver.Executor, state riverpilot.ProducerState, params *riverdriver.JobGetAvailableParams,
) ([]*rivertype.JobRow, error) {
	if p.db.Dialect() == sqldb.SQLite {
		some := false
		err := p.db.Read(ctx, func(tx *sqldb.Tx) error {
			return tx.QueryRow("SELECT EXISTS (SELECT 1 FROM river_job WHERE state = 'available' AND queue = $1)", params.Queue).Scan(&some)
		})
		if err != nil || !some {
			return nil, err
		}
	}
	return p.StandardPilot.JobGetAvailable(ctx, exec, state, params)
}

// nudge has the workers of a queue look for jobs now.
func (p *pilot) nudge(queue string) {
	p.inserted(context.Background(), []*rivertype.JobInsertResult{{Job: &rivertype.JobRow{Queue: queue}}})
}

// quiet passes on warnings and errors alone: River reports its daily life as
// information.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a)} }
func (q quiet) WithGroup(name string) slog.Handler   { return quiet{q.Handler.WithGroup(name)} }
