package sqldb

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// oldestPostgres is the oldest supported version.
const oldestPostgres = 15

// openPostgres opens a pool of connections.
func openPostgres(ctx context.Context, dsn string, opts Options) (*DB, error) {
	conf, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse database URL: %w", err)
	}
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = 10 * time.Second
	}
	if conf.RuntimeParams["application_name"] == "" {
		conf.RuntimeParams["application_name"] = "vigil"
	}
	pool := stdlib.OpenDB(*conf)
	pool.SetMaxOpenConns(opts.Connections)
	pool.SetMaxIdleConns(max(2, opts.Connections/2))
	// Renew connections periodically, so that load is balanced again after a server
	// behind the same name was replaced.
	pool.SetConnMaxLifetime(time.Hour)
	pool.SetConnMaxIdleTime(10 * time.Minute)

	db := &DB{dialect: Postgres, writer: pool, reader: pool, opts: opts}
	if err = db.checkServer(ctx); err == nil {
		err = db.detectDistributed(ctx)
	}
	if err != nil {
		_ = pool.Close()
		return nil, fmt.Errorf("open database: %w", err)
	}
	return db, nil
}

// checkServer fails if the server's version or encoding is not supported.
func (db *DB) checkServer(ctx context.Context) error {
	return db.Read(ctx, func(tx *Tx) error {
		var version int
		var encoding string
		err := tx.QueryRow(`
			SELECT current_setting('server_version_num')::int, current_setting('server_encoding')`).Scan(&version, &encoding)
		if err != nil {
			return err
		}
		if version < oldestPostgres*10000 {
			return fmt.Errorf("the server is PostgreSQL %d; version %d or newer is needed", version/10000, oldestPostgres)
		}
		if encoding != "UTF8" {
			return fmt.Errorf("the database encoding is %s; it must be UTF8", encoding)
		}
		return nil
	})
}
