package sqldb

import "context"

// A TableSize is the size of a table: its rows, and its bytes including indexes.
type TableSize struct {
	Name  string
	Rows  int64
	Bytes int64
}

// Tables returns the tables of the database, the largest first. The shadow tables of a
// full-text index in SQLite count as one table, without a row count.
func (db *DB) Tables(ctx context.Context) (tables []TableSize, err error) {
	// The column owner names the table to which the size of a table or index is added. For a
	// shadow table and its indexes that is the virtual table; for other tables, the table
	// itself; for other indexes, the table of the index.
	text := `
		WITH part AS (
			SELECT m.name, coalesce(
				(SELECT v.name FROM pragma_table_list v WHERE v.type = 'virtual' AND substr(m.tbl_name, 1, length(v.name) + 1) = v.name || '_'), m.tbl_name) AS owner
			FROM sqlite_master m
		)
		SELECT p.owner, sum(s.pgsize)
		FROM part p JOIN dbstat s ON s.name = p.name
		WHERE s.aggregate = TRUE
		GROUP BY p.owner
		ORDER BY 2 DESC, 1`
	if db.dialect == Postgres {
		size := "pg_total_relation_size(c.oid)"
		if db.Distributed() {
			size = "CASE WHEN EXISTS (SELECT 1 FROM pg_dist_partition p WHERE p.logicalrelid = c.oid) THEN citus_total_relation_size(c.oid) ELSE " + size + " END"
		}
		text = `
			SELECT c.relname::text, ` + size + `
			FROM pg_catalog.pg_class c
			WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
			ORDER BY 2 DESC, 1`
	}
	err = db.Read(ctx, func(tx *Tx) error {
		tables, err = Query(tx, func(r Row) (t TableSize, err error) {
			err = r.Scan(&t.Name, &t.Bytes)
			return t, err
		}, text)
		if err != nil {
			return err
		}
		virtual := map[string]bool{}
		if db.dialect == SQLite {
			names, err := Query(tx, Scalar[string], `SELECT name FROM pragma_table_list WHERE type = 'virtual'`)
			if err != nil {
				return err
			}
			for _, name := range names {
				virtual[name] = true
			}
		}
		for i, t := range tables {
			if virtual[t.Name] {
				continue
			}
			if tables[i].Rows, err = QueryOne(tx, Scalar[int64], `SELECT count(*) FROM "`+t.Name+`"`); err != nil {
				return err
			}
		}
		return nil
	})
	return tables, err
}

// A ShardSize is the total size of the shards of all distributed tables that are on one
// node and hold the same range of hashes of the distribution column.
type ShardSize struct {
	Node   string
	Number int64 // the smallest hash of the range
	Bytes  int64
}

// Shards returns the sizes of the shards of a distributed database, by node.
func (db *DB) Shards(ctx context.Context) (shards []ShardSize, err error) {
	if !db.Distributed() {
		return nil, nil
	}
	err = db.Read(ctx, func(tx *Tx) error {
		shards, err = Query(tx, func(r Row) (s ShardSize, err error) {
			err = r.Scan(&s.Node, &s.Number, &s.Bytes)
			return s, err
		}, `
			SELECT s.nodename || ':' || s.nodeport, CAST(d.shardminvalue AS BIGINT), CAST(sum(s.shard_size) AS BIGINT)
			FROM citus_shards s
			JOIN pg_dist_shard d ON d.shardid = s.shardid
			JOIN pg_catalog.pg_class c ON c.oid = s.table_name
			WHERE c.relnamespace = current_schema()::regnamespace AND d.shardminvalue IS NOT NULL
			GROUP BY 1, 2
			ORDER BY 1, 2`)
		return err
	})
	return shards, err
}
