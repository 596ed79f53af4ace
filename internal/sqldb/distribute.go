package sqldb

import (
	"context"
	"fmt"
	"strings"

	"vigil/internal/fault"
)

// A Distribution says how a table is spread over the nodes of a Citus cluster.
type Distribution struct {
	Table  string
	Column string // rows with the same value are on the same node

	// Create is the statement that creates the table, if it exists only in a cluster.
	Create string

	// Value is the expression for the values of Column if the column must be added to
	// the table.
	Value string

	// Key is the primary key, which must include Column. Empty leaves the key as it is.
	Key []string

	// Shard is a statement to run on every shard, with %s for the name of the shard. It is
	// for settings of columns, which Citus does not copy to the shards.
	Shard string
}

// Distributed reports whether tables of the database are spread over the nodes of a
// Citus cluster. A statement about such a table should then have a condition on its
// distribution column, so that Citus runs it on one shard.
func (tx *Tx) Distributed() bool { return tx.db.Distributed() }

// Distributed reports whether tables of the database are spread over the nodes of a
// Citus cluster.
func (db *DB) Distributed() bool { return db.distributed.Load() }

// Distribute distributes tables over the nodes of a Citus cluster, all of them in one
// transaction, so that a failure leaves them as they were. Tables that are distributed
// already stay. All tables are distributed by the values of their columns in the same
// way, so that joins over them need one node. report is called before each table.
func (db *DB) Distribute(ctx context.Context, tables []Distribution, shards int, report func(table string, rows int64)) error {
	err := db.Exclusive(ctx, func(tx *Tx) error {
		exists, err := hasCitus(tx)
		if err != nil {
			return err
		}
		if !exists {
			return fault.New(fault.Invalid, "the database does not have the extension citus: create it on every node, and add the nodes with citus_add_node")
		}
		// A statement that creates shards must not run beside one that writes to them.
		if _, err := tx.Exec(`SET LOCAL citus.multi_shard_modify_mode TO 'sequential'`); err != nil {
			return err
		}
		for i, t := range tables {
			colocateWith := "none"
			if i > 0 {
				colocateWith = tables[0].Table
			}
			if err := t.distribute(tx, shards, colocateWith, report); err != nil {
				return fmt.Errorf("distribute %s: %w", t.Table, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := db.Write(ctx, t.setShards); err != nil {
			return err
		}
	}
	return db.detectDistributed(ctx)
}

func hasCitus(tx *Tx) (bool, error) {
	return QueryOne(tx, Scalar[bool], `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus')`)
}

// detectDistributed records in db whether Citus distributes tables of the schema.
func (db *DB) detectDistributed(ctx context.Context) error {
	if db.dialect != Postgres {
		return nil
	}
	return db.Read(ctx, func(tx *Tx) error {
		exists, err := hasCitus(tx)
		if err != nil || !exists {
			return err
		}
		some, err := QueryOne(tx, Scalar[bool], `
			SELECT EXISTS (
				SELECT 1
				FROM pg_catalog.pg_dist_partition p JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid
				WHERE p.partmethod = 'h' AND c.relnamespace = current_schema()::regnamespace)`)
		db.distributed.Store(some)
		return err
	})
}

// distribute distributes one table. Its shards are placed on the same nodes as those of the
// table colocateWith, or independently if colocateWith is "none".
func (t Distribution) distribute(tx *Tx, shards int, colocateWith string, report func(string, int64)) error {
	done, err := QueryOne(tx, Scalar[bool], `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_dist_partition WHERE logicalrelid = to_regclass($1))`, t.Table)
	if err != nil || done {
		return err
	}
	for _, text := range t.prepare() {
		if _, err := tx.Exec(text); err != nil {
			return err
		}
	}
	if len(t.Key) > 0 {
		if err := t.replaceKey(tx); err != nil {
			return err
		}
	}
	rows, err := QueryOne(tx, Scalar[int64], `SELECT count(*) FROM `+t.Table)
	if err != nil {
		return err
	}
	if report != nil {
		report(t.Table, rows)
	}
	if colocateWith == "none" {
		_, err = tx.Exec(`SELECT create_distributed_table($1::regclass, $2, colocate_with => 'none', shard_count => $3)`, t.Table, t.Column, shards)
	} else {
		_, err = tx.Exec(`SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)`, t.Table, t.Column, colocateWith)
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(`SELECT truncate_local_data_after_distributing_table($1::regclass)`, t.Table)
	return err
}

// setShards runs the statement for shards. It uses connections of its own and therefore
// needs a table that is committed.
func (t Distribution) setShards(tx *Tx) error {
	if t.Shard == "" {
		return nil
	}
	failed, err := QueryOne(tx, Scalar[int64], `SELECT count(*) FROM run_command_on_shards($1::regclass, $2) WHERE NOT success`, t.Table, t.Shard)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d shards of %s did not accept %q", failed, t.Table, t.Shard)
	}
	return err
}

// prepare returns the statements that create the table, or that add Column to it.
func (t Distribution) prepare() []string {
	if t.Create != "" {
		return []string{t.Create}
	}
	if t.Value == "" {
		return nil
	}
	return []string{
		fmt.Sprintf(`ALTER TABLE %s ADD COLUMN %s BIGINT`, t.Table, t.Column),
		// This fills the column and rewrites the table once. UPDATE would leave a dead version of every row.
		fmt.Sprintf(`ALTER TABLE %s ALTER COLUMN %s TYPE BIGINT USING (%s)`, t.Table, t.Column, t.Value),
		fmt.Sprintf(`ALTER TABLE %s ALTER COLUMN %s SET NOT NULL`, t.Table, t.Column),
	}
}

// replaceKey replaces the primary key.
func (t Distribution) replaceKey(tx *Tx) error {
	name, err := QueryOne(tx, Scalar[string], `SELECT conname::text FROM pg_catalog.pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'p'`, t.Table)
	if err != nil && !Missing(err) {
		return err
	}
	if err == nil {
		if _, err := tx.Exec(fmt.Sprintf(`ALTER TABLE %s DROP CONSTRAINT %q`, t.Table, name)); err != nil {
			return err
		}
	}
	_, err = tx.Exec(fmt.Sprintf(`ALTER TABLE %s ADD CONSTRAINT %s_key PRIMARY KEY (%s)`, t.Table, t.Table, strings.Join(t.Key, ", ")))
	return err
}
