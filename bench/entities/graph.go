package main

import (
	"context"
	"encoding/json"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/graphcache"
	"vigil/internal/sqldb"
)

// graph measures loading the graph of one account from a snapshot, from the rows of
// the entity store, and from rows with JSON.
func (b *bench) graph(ctx context.Context) error {
	account := b.accounts[0]
	graphs := graphcache.New(b.store, graphcache.Options{})
	if _, err := graphs.Graph(ctx, org, account.ID); err != nil { // writes the snapshot
		return err
	}
	var vertices, edges int
	snapshot, err := median(5, func() error {
		g, err := graphcache.New(b.store, graphcache.Options{}).Graph(ctx, org, account.ID)
		if err == nil {
			vertices, edges = g.NumVertices(), g.NumEdges()
		}
		return err
	})
	if err != nil {
		return err
	}
	rows, err := median(3, func() error { return b.graphByHand(ctx, account.ID) })
	if err != nil {
		return err
	}
	loading, err := median(3, func() error {
		gb := graph.NewBuilder(graph.Limits{})
		if _, err := b.store.EachEntity(ctx, org, account.ID, func(e posture.Entity) error { return gb.Add(graphcache.Record(&e)) }); err != nil {
			return err
		}
		_, err := gb.Build()
		return err
	})
	if err != nil {
		return err
	}
	printf("graph of %d entities and %d edges, CPU time", vertices, edges)
	printf("  from the snapshot         %10s", short(snapshot.cpu))
	printf("  from rows of the store    %10s", short(loading.cpu))
	printf("  from rows and JSON        %10s", short(rows.cpu))
	printf("  snapshot / rows and JSON  %10.3f (target 0.100)\n", ratio(snapshot.cpu, rows.cpu))
	return nil
}

// graphByHand reads rows, decodes their JSON and builds the graph.
func (b *bench) graphByHand(ctx context.Context, account posture.AccountID) error {
	gb := graph.NewBuilder(graph.Limits{})
	err := b.db.Read(ctx, func(tx *sqldb.Tx) error {
		type row struct {
			id, typ, name, region, service, provider string
			properties, tags, edges                  []byte
		}
		for r, err := range sqldb.Each(tx, func(s sqldb.Row) (r row, err error) {
			err = s.Scan(&r.id, &r.typ, &r.name, &r.region, &r.service, &r.provider, &r.properties, &r.tags, &r.edges)
			return r, err
		}, `
			SELECT id, type, name, region, service, provider, properties, tags, edges
			FROM plain_entity
			WHERE org = 'bench' AND account = $1`, string(account)) {
			if err != nil {
				return err
			}
			var properties []plainProperty
			var edges []plainEdge
			e := posture.Entity{
				ID: posture.EntityID(r.id), Type: posture.EntityType(r.typ), Name: r.name, Region: r.region, Service: r.service,
				Provider: posture.Provider(r.provider), Account: account,
			}
			if err := json.Unmarshal(r.properties, &properties); err != nil {
				return err
			}
			if err := json.Unmarshal(r.tags, &e.Tags); err != nil {
				return err
			}
			if err := json.Unmarshal(r.edges, &edges); err != nil {
				return err
			}
			for _, p := range properties {
				switch {
				case p.StringV != nil:
					e.Properties = append(e.Properties, posture.Text(p.Name, *p.StringV))
				case p.BoolV != nil:
					e.Properties = append(e.Properties, posture.Flag(p.Name, *p.BoolV))
				case p.LongV != nil:
					e.Properties = append(e.Properties, posture.Number(p.Name, *p.LongV))
				default:
					e.Properties = append(e.Properties, posture.Unknown(p.Name, "denied"))
				}
			}
			for _, x := range edges {
				e.Edges = append(e.Edges, posture.Edge{Label: x.Label, To: x.To})
			}
			if err := gb.Add(graphcache.Record(&e)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = gb.Build()
	return err
}
