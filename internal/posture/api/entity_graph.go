package api

import (
	"context"
	"strconv"

	"vigil/gremlin"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/walk"
)

type (
	graphIn struct {
		Gremlin      string `json:"gremlin" required:"true"`
		PartitionKey string `json:"partitionKey" required:"true"`
		Explain      bool   `json:"explain"`
	}
	graphNode struct {
		ID         string      `json:"id"`
		Type       string      `json:"type"`
		ChildNodes []graphNode `json:"childNodes"`
	}
	graphEdge struct {
		From  string `json:"from"`
		Label string `json:"label"`
		To    string `json:"to"`
	}
	graphTree struct {
		Nodes []graphNode `json:"nodes"`
	}
	graphCost struct {
		Traversers int64   `json:"traversers"`
		Bytes      int64   `json:"bytes"`
		Generation int64   `json:"generation"`
		WaitedMs   float64 `json:"waitedMs"`
		RanMs      float64 `json:"ranMs"`
	}
	graphStep struct {
		Depth int    `json:"depth"`
		Step  string `json:"step"`
		Note  string `json:"note,omitempty"`
	}
	graphExplain struct {
		Written []string    `json:"written"`
		Steps   []graphStep `json:"steps"`
		Notes   []string    `json:"notes"`
	}
	graphOut struct {
		Count    int64             `json:"count"`
		Tree     graphTree         `json:"tree"`
		Entities map[string]entity `json:"entities"`
		Values   []any             `json:"values"`
		Edges    []graphEdge       `json:"edges"`
		Explain  *graphExplain     `json:"explain,omitempty"`
		Cost     *graphCost        `json:"cost,omitempty"`
	}
)

func (a *API) queryGraph(ctx context.Context, in graphIn) (httpapi.Reply, error) {
	found, err := a.Walker.Ask(ctx, walk.Query{
		Org: a.Org(ctx), Account: posture.AccountID(in.PartitionKey), Caller: httpapi.CallerOf(ctx).ID, Text: in.Gremlin, Explain: in.Explain,
	})
	if err != nil {
		return httpapi.Reply{}, err
	}
	out := graphOut{
		Count: found.Count, Tree: graphTree{httpapi.Each(found.Nodes, nodeOf)}, Values: found.Values,
		Entities: make(map[string]entity, len(found.Entities)),
		Edges:    httpapi.Each(found.Edges, func(e walk.Edge) graphEdge { return graphEdge{string(e.From), e.Label, string(e.To)} }),
	}
	for id, e := range found.Entities {
		out.Entities[string(id)] = entityOf(e)
	}
	cost := found.Cost
	if found.Explain != nil {
		out.Explain = explainOf(found.Explain)
		out.Cost = &graphCost{
			Traversers: cost.Work, Bytes: cost.Bytes, Generation: cost.Generation,
			WaitedMs: float64(cost.Waited.Microseconds()) / 1000, RanMs: float64(cost.Ran.Microseconds()) / 1000,
		}
	}
	return httpapi.OK(out).With("X-Query-Cost", strconv.FormatInt(cost.Work, 10)).
		With("X-Query-Duration-Ms", strconv.FormatInt(cost.Ran.Milliseconds(), 10)), nil
}

func nodeOf(n *walk.Node) graphNode {
	return graphNode{string(n.ID), "entity", httpapi.Each(n.Children, nodeOf)}
}

func explainOf(e *gremlin.Explanation) *graphExplain {
	w := &graphExplain{Written: e.Written, Steps: []graphStep{}, Notes: e.Notes}
	for _, s := range e.Steps {
		w.Steps = append(w.Steps, graphStep{s.Depth, s.Text, s.Note})
	}
	if w.Notes == nil {
		w.Notes = []string{}
	}
	return w
}
