package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"text/tabwriter"
	"time"

	"vigil/internal/audit"
	"vigil/internal/client"
	"vigil/internal/config"
	desktop "vigil/internal/desktop/store"
	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/job"
	posture "vigil/internal/posture/store"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbcopy"
	"vigil/internal/terminal"
)

type storeCmd struct {
	Copy   storeCopyCmd   `cmd:"" help:"Copy the database from SQLite to PostgreSQL or back, while servers run. Run it again to continue or to copy later changes."`
	Status storeStatusCmd `cmd:"" help:"List the tables of the database with their rows and sizes, and the shards of a distributed one."`

	Distribute storeDistributeCmd `cmd:"" help:"Distribute the entities over the nodes of a Citus cluster. Stop the servers first."`
}

type storeCopyCmd struct {
	settingsFlags
	From string `placeholder:"URL" help:"Database to copy, such as sqlite:/var/lib/vigil/vigil.db. Default: the setting database."`
	To   string `required:"" placeholder:"URL" help:"Empty database to copy to, such as postgres://vigil@host/vigil?sslmode=verify-full."`
}

// Run implements the command.
func (c *storeCopyCmd) Run(e *environment) error {
	conf, err := c.effective()
	if err != nil {
		return err
	}
	if c.From != "" {
		conf.Database = c.From
	}
	// Opening does not create a missing source.
	in, err := instance.Open(e.ctx, conf, time.Now)
	if err != nil {
		return err
	}
	reports, err := c.copy(e, in)
	if err := errors.Join(err, in.Close()); err != nil {
		return err
	}
	return printCopied(e.stdout, reports)
}

// copy copies the database of an installation.
func (c *storeCopyCmd) copy(e *environment, in *instance.Installation) (reports []dbcopy.TableReport, err error) {
	if err := migrateServers(e.ctx, in.DB); err != nil {
		return nil, err
	}
	to, err := sqldb.Open(e.ctx, c.To, sqldb.Options{})
	if err != nil {
		return nil, fmt.Errorf("open the target: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()

	if in.DB.Distributed() || to.Distributed() {
		return nil, fault.New(fault.Invalid, "a database that is distributed over a Citus cluster cannot be copied, nor copied to; copy to one that is not, then distribute it")
	}
	source, err := storeID(e.ctx, in.DB)
	if err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(e.stderr)
	defer progress.Clear()
	opts := copyOptions(source, func(p dbcopy.Progress) {
		progress.Say("%s %s (table %d of %d): %d rows", p.Step, p.Table, p.Number, p.Tables, p.Rows)
	})
	// Write the audit record before the source is read: one written after the source was
	// read would be missing in the copy.
	opts.BeforeRead = func(ctx context.Context) error {
		return in.Audit.Append(ctx, audit.Record{
			Operation: "store.copy", ActorName: "operator", Outcome: audit.Success,
			Targets: map[string]string{"from": withoutPassword(in.Config.Database), "to": withoutPassword(c.To)},
		})
	}
	return dbcopy.Copy(e.ctx, in.DB, to, opts)
}

// copyOptions returns the options for copying an installation.
func copyOptions(source string, progress func(dbcopy.Progress)) dbcopy.Options {
	return dbcopy.Options{
		Source: source,
		Migrate: func(ctx context.Context, db *sqldb.DB) error {
			if err := instance.MigrateAll(ctx, db); err != nil {
				return err
			}
			return migrateServers(ctx, db)
		},
		Skip:     slices.Concat([]string{sqldb.MigrationTable}, job.CopySkip, posture.CopySkip),
		Writers:  posture.CopyWriters(),
		Progress: progress,
	}
}

// migrateServers migrates the tables of both servers.
func migrateServers(ctx context.Context, db *sqldb.DB) error {
	if err := posture.Migrate(ctx, db); err != nil {
		return err
	}
	return desktop.Migrate(ctx, db)
}

// storeID returns the identity of an installation: the id of the first key that signed
// its audit log.
func storeID(ctx context.Context, db *sqldb.DB) (id string, err error) {
	err = db.Read(ctx, func(tx *sqldb.Tx) error {
		id, err = sqldb.QueryOne(tx, sqldb.Scalar[string], `SELECT id FROM audit_key ORDER BY number LIMIT 1`)
		return err
	})
	return id, err
}

// withoutPassword returns the URL of a database without its password.
func withoutPassword(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "a database"
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

func printCopied(w io.Writer, reports []dbcopy.TableReport) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "TABLE\tROWS\tWRITTEN\tSHA-256")
	var rows, written int64
	for _, r := range reports {
		rows, written = rows+r.Rows, written+r.Written
		fmt.Fprintf(out, "%s\t%d\t%d\t%s\n", r.Table, r.Rows, r.Written, r.Hash[:16])
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d rows in %d tables are the same in both databases; %d were written\n", rows, len(reports), written)
	fmt.Fprintln(w, "to switch over: stop the servers, run this command again, change the setting \"database\" to the new URL, start the servers")
	return nil
}

type storeStatusCmd struct {
	settingsFlags
	Output string `short:"o" enum:"table,json,yaml,csv" default:"table" help:"Output format: table, json, yaml or csv."`
}

// Run implements the command.
func (c *storeStatusCmd) Run(e *environment) error {
	conf, err := c.effective()
	if err != nil {
		return err
	}
	db, err := sqldb.Open(e.ctx, conf.Database, sqldb.Options{MustExist: true, ReadOnly: true})
	if err != nil {
		return err
	}
	tables, err := db.Tables(e.ctx)
	shards, shardErr := db.Shards(e.ctx)
	if err := errors.Join(err, shardErr, db.Close()); err != nil {
		return err
	}
	if len(tables) == 0 {
		return fault.New(fault.NotFound, "the database has no tables")
	}
	if err := c.show(e.stdout, conf, db.Dialect(), tables); err != nil || c.Output != "table" {
		return err
	}
	return showShards(e.stdout, shards)
}

func (c *storeStatusCmd) show(w io.Writer, conf config.Config, dialect sqldb.Dialect, tables []sqldb.TableSize) error {
	var records []client.Record
	var rows, size int64
	for _, t := range tables {
		rows, size = rows+t.Rows, size+t.Bytes
		records = append(records, client.Record{"table": t.Name, "rows": t.Rows, "bytes": t.Bytes})
	}
	if err := client.Render(w, c.Output, client.Columns("TABLE=table ROWS=rows BYTES=bytes"), records); err != nil || c.Output != "table" {
		return err
	}
	fmt.Fprintf(w, "%s at %s: %d tables, %d rows, %.1f MB\n", dialect, withoutPassword(conf.Database), len(tables), rows, float64(size)/1e6)
	return nil
}
