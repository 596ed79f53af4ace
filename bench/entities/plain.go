package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// plainTable is the simple schema: one row per entity, JSON for variable parts,
// and an index for every frequent query.
const plainTable = `
	CREATE TABLE IF NOT EXISTS plain_entity (
		id TEXT NOT NULL, org TEXT NOT NULL, account TEXT NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, region TEXT NOT NULL,
		service TEXT NOT NULL, provider TEXT NOT NULL, xid TEXT NOT NULL, properties %[1]s NOT NULL, tags %[1]s NOT NULL, edges %[1]s NOT NULL,
		created BIGINT NOT NULL, updated BIGINT NOT NULL, PRIMARY KEY (org, id));`

// The indexes are created after loading, which is faster.
const plainIndexes = `
	CREATE INDEX plain_account ON plain_entity (org, account, id);
	CREATE INDEX plain_type ON plain_entity (org, type, id);
	CREATE INDEX plain_region ON plain_entity (org, region, id);
	CREATE INDEX plain_service ON plain_entity (org, service, id);
	CREATE INDEX plain_provider ON plain_entity (org, provider, id);
	CREATE INDEX plain_name ON plain_entity (org, lower(name), id);`

const plainPostgres = `
	CREATE INDEX plain_properties ON plain_entity USING gin (properties jsonb_path_ops);
	CREATE INDEX plain_tags ON plain_entity USING gin (tags jsonb_path_ops);`

func (b *bench) makePlain(ctx context.Context) error {
	return b.db.Write(ctx, func(tx *sqldb.Tx) error {
		text := fmt.Sprintf(plainTable, "TEXT")
		if tx.Dialect() == sqldb.Postgres {
			text = fmt.Sprintf(plainTable, "JSONB")
		}
		_, err := tx.Exec(text)
		return err
	})
}

func (b *bench) indexPlain(ctx context.Context) error {
	return b.db.Write(ctx, func(tx *sqldb.Tx) error {
		text := plainIndexes + `ANALYZE plain_entity`
		if tx.Dialect() == sqldb.Postgres {
			text = setIndexMemory + `;` + plainIndexes + plainPostgres + `ANALYZE`
		}
		_, err := tx.Exec(text)
		return err
	})
}

var plainColumns = []string{"id", "org", "account", "type", "name", "region", "service", "provider", "xid", "properties", "tags", "edges", "created", "updated"}

// loadPlain writes every entity, a few thousand per transaction. The entities of the
// next transaction are generated while one is written.
func (b *bench) loadPlain(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	batches := make(chan [][]any, 2)
	defer func() {
		cancel()
		for range batches { // until the channel is closed
		}
	}()
	go func() {
		defer close(batches)
		var rows [][]any
		send := func() bool {
			select {
			case batches <- rows:
				rows = nil
				return true
			case <-ctx.Done():
				return false
			}
		}
		for e := range b.all() {
			rows = append(rows, plainRow(e))
			if len(rows) == 5000 && !send() {
				return
			}
		}
		send()
	}()
	for rows := range batches {
		err := b.db.Write(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.Load("plain_entity", plainColumns, slices.Values(rows))
			return err
		})
		if err != nil {
			return err
		}
	}
	return b.indexPlain(ctx)
}

// Contents of the JSON columns.
type (
	plainProperty struct {
		Name    string  `json:"name"`
		Type    string  `json:"type"`
		StringV *string `json:"stringV,omitempty"`
		BoolV   *bool   `json:"boolV,omitempty"`
		LongV   *int64  `json:"longV,omitempty"`
	}
	plainEdge struct {
		Label string           `json:"label"`
		To    posture.EntityID `json:"to"`
	}
)

func plainRow(e posture.Entity) []any {
	properties := make([]plainProperty, len(e.Properties))
	for i := range e.Properties {
		p := &e.Properties[i]
		properties[i] = plainProperty{Name: p.Name, Type: p.Type}
		switch p.Type {
		case posture.BoolProperty:
			properties[i].BoolV = &p.Bool
		case posture.LongProperty:
			properties[i].LongV = &p.Long
		case posture.StringProperty:
			properties[i].StringV = &p.String
		}
	}
	edges := make([]plainEdge, len(e.Edges))
	for i, edge := range e.Edges {
		edges[i] = plainEdge{edge.Label, edge.To}
	}
	tags := e.Tags
	if tags == nil {
		tags = map[string]string{}
	}
	return []any{
		string(e.ID), string(org), string(e.Account), string(e.Type), e.Name, e.Region, e.Service, string(e.Provider), e.XID,
		toJSON(properties), toJSON(tags), toJSON(edges), int64(1), int64(1),
	}
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// plainEntity is an entity in the form of the API. Its JSON columns are passed through unchanged.
type plainEntity struct {
	PartitionKey   string          `json:"partitionKey"`
	EntityID       string          `json:"entityId"`
	EntityType     string          `json:"entityType"`
	EntityName     string          `json:"entityName"`
	CloudAccountID string          `json:"cloudAccountId"`
	Region         string          `json:"region"`
	Service        string          `json:"service"`
	Provider       string          `json:"provider"`
	XID            string          `json:"xid"`
	Properties     json.RawMessage `json:"properties"`
	Tags           json.RawMessage `json:"tags"`
	CreationTime   httpapi.Time    `json:"creationTime"`
	LastUpdateTime httpapi.Time    `json:"lastUpdateTime"`
}

func scanPlain(r sqldb.Row) (e plainEntity, err error) {
	var created, updated int64
	err = r.Scan(&e.EntityID, &e.CloudAccountID, &e.EntityType, &e.EntityName, &e.Region, &e.Service, &e.Provider, &e.XID,
		(*[]byte)(&e.Properties), (*[]byte)(&e.Tags), &created, &updated)
	e.PartitionKey, e.CreationTime.Time, e.LastUpdateTime.Time = e.CloudAccountID, sqldb.Time(created), sqldb.Time(updated)
	return e, err
}

type (
	plainPage struct {
		TotalCount int           `json:"totalCount"`
		Results    []plainEntity `json:"results"`
	}
	plainCounts struct {
		TotalCount int      `json:"totalCount"`
		Rows       [][]any  `json:"rows"`
		Columns    []string `json:"columns"`
	}
	plainIn struct {
		Question string `path:"question"`
	}
)

// plainRoutes answer the queries with hand-written SQL, through the same HTTP server
// code as the API.
func (b *bench) plainRoutes() []httpapi.Route {
	return []httpapi.Route{{
		Pattern: "POST /plain/{question}", Need: httpapi.Public, Operation: "plain", Safe: true,
		Handler: httpapi.JSON(func(ctx context.Context, in plainIn) (any, error) {
			all := b.allQuestions()
			i := slices.IndexFunc(all, func(q question) bool { return q.name == in.Question })
			ctx, cancel := context.WithTimeout(ctx, b.o.patience)
			defer cancel()
			return b.byHand(ctx, all[i])
		}),
	}}
}

// byHand answers a query with hand-written SQL.
func (b *bench) byHand(ctx context.Context, q question) (any, error) {
	if q.groups != "" {
		var out plainCounts
		err := b.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
			out.Rows, err = sqldb.Query(tx, func(r sqldb.Row) ([]any, error) {
				row := make([]any, q.columns+1)
				columns := make([]any, len(row))
				for i := range row {
					columns[i] = &row[i]
				}
				err := r.Scan(columns...)
				return row, err
			}, `SELECT `+q.groups+`, count(*) FROM `+q.from()+` GROUP BY `+q.groupBy(), q.args...)
			return err
		})
		return out, err
	}
	var out plainPage
	err := b.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		out.Results, err = sqldb.Query(tx, scanPlain, `
			SELECT id, account, type, name, region, service, provider, xid, properties, tags, created, updated
			FROM `+q.from()+`
			ORDER BY id
			LIMIT 100`, q.args...)
		if err != nil || q.single {
			return err
		}
		out.TotalCount, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM `+q.from(), q.args...)
		return err
	})
	return out, err
}
