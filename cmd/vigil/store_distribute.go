package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"vigil/internal/audit"
	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/job"
	posture "vigil/internal/posture/store"
	"vigil/internal/sqldb"
	"vigil/internal/terminal"
)

type storeDistributeCmd struct {
	settingsFlags
	Shards int `default:"32" help:"Number of shards, which limits the number of nodes. It cannot be changed here later."`
}

// Run implements the command.
func (c *storeDistributeCmd) Run(e *environment) error {
	conf, err := c.effective()
	if err != nil {
		return err
	}
	if c.Shards < 1 || c.Shards > 1024 {
		return fault.New(fault.Invalid, "--shards must be 1 to 1024")
	}
	in, err := instance.Open(e.ctx, conf, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(c.distribute(e, in), in.Close())
}

func (c *storeDistributeCmd) distribute(e *environment, in *instance.Installation) error {
	if in.DB.Dialect() != sqldb.Postgres {
		return fault.New(fault.Invalid, "only a PostgreSQL database with the extension citus can be distributed; copy this one with vigil admin store copy first")
	}
	if err := migrateServers(e.ctx, in.DB); err != nil {
		return err
	}
	// A running server writes to the tables as they were when it started.
	if err := requireStopped(e.ctx, in.DB); err != nil {
		return err
	}
	progress := terminal.NewProgress(e.stderr)
	defer progress.Clear()
	tables := 0
	err := posture.Distribute(e.ctx, in.DB, c.Shards, func(table string, rows int64) {
		tables++
		progress.Say("distributing %s: %d rows", table, rows)
	})
	if err != nil {
		return err
	}
	progress.Clear()
	if err := in.Audit.Append(e.ctx, audit.Record{
		Operation: "store.distribute", ActorName: "operator", Outcome: audit.Success, Targets: map[string]string{"shards": fmt.Sprint(c.Shards)},
	}); err != nil {
		return err
	}
	if tables == 0 {
		fmt.Fprintln(e.stdout, "the tables are distributed already")
	} else {
		fmt.Fprintf(e.stdout, "%d tables are distributed; vigil admin store status shows their shards\n", tables)
	}
	return nil
}

// showShards prints the shards of a distributed database by node, and their skew: the
// size of the largest shard divided by the mean.
func showShards(w io.Writer, shards []sqldb.ShardSize) error {
	if len(shards) == 0 {
		return nil
	}
	type node struct {
		name          string
		shards, bytes int64
	}
	var nodes []node
	var total, largest int64
	for _, s := range shards {
		i := slices.IndexFunc(nodes, func(n node) bool { return n.name == s.Node })
		if i < 0 {
			nodes, i = append(nodes, node{name: s.Node}), len(nodes)
		}
		nodes[i].shards++
		nodes[i].bytes += s.Bytes
		total, largest = total+s.Bytes, max(largest, s.Bytes)
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "NODE\tSHARDS\tBYTES")
	for _, n := range nodes {
		fmt.Fprintf(out, "%s\t%d\t%d\n", n.name, n.shards, n.bytes)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	skew := 1.0
	if total > 0 {
		skew = float64(largest) * float64(len(shards)) / float64(total)
	}
	_, err := fmt.Fprintf(w, "%d shards, %.1f MB, the largest %.1f times the mean\n", len(shards), float64(total)/1e6, skew)
	return err
}

// requireStopped fails if a server uses the database.
func requireStopped(ctx context.Context, db *sqldb.DB) error {
	living, err := job.Living(ctx, db)
	if err == nil && living > 0 {
		err = fault.New(fault.Conflict, "%d servers use the database: stop them first (one that was killed counts for 12 seconds)", living)
	}
	return err
}
