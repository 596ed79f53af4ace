package api

import (
	"context"
	"encoding/json"
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
	graphEnd struct {
		Count   int64         `json:"count"`
		Explain *graphExplain `json:"explain,omitempty"`
		Cost    *graphCost    `json:"cost,omitempty"`
	}
)

func (a *API) queryGraph(ctx context.Context, in graphIn) (httpapi.Reply, error) {
	found, err := a.Walker.Ask(ctx, walk.Query{
		Org: a.Org(ctx), Account: posture.AccountID(in.PartitionKey), Caller: httpapi.CallerOf(ctx).ID, Text: in.Gremlin, Explain: in.Explain,
		Entity: func(e posture.Entity) ([]byte, error) { return json.Marshal(entityOf(e)) },
	})
	if err != nil {
		return httpapi.Reply{}, err
	}
	body, err := graphBody(&found)
	if err != nil {
		found.Close()
		return httpapi.Reply{}, err
	}
	reply := httpapi.OK(body).With("X-Query-Cost", strconv.FormatInt(found.Cost.Work, 10)).
		With("X-Query-Duration-Ms", strconv.FormatInt(found.Cost.Ran.Milliseconds(), 10))
	reply.Sent = found.Close
	return reply, nil
}

// graphBody writes a result as JSON. The result may be large, so it is written within
// the memory budget of the query. graphEnd has the members that are always small.
func graphBody(found *walk.Answer) (*walk.Text, error) {
	body := found.NewText()
	body.Raw(`{"tree":{"nodes":`)
	writeNodes(body, found.Nodes)
	body.Raw(`},"entities":`)
	body.Join(found.Entities)
	body.Raw(`,"values":`)
	body.Join(found.Values)
	body.Raw(`,"edges":[`)
	for i, e := range found.Edges {
		if i > 0 {
			body.Raw(",")
		}
		body.Raw(`{"from":`)
		body.String(string(e.From))
		body.Raw(`,"label":`)
		body.String(e.Label)
		body.Raw(`,"to":`)
		body.String(string(e.To))
		body.Raw("}")
	}
	body.Raw("],")
	end, err := json.Marshal(endOf(found))
	if err != nil {
		return nil, err
	}
	body.Raw(string(end[1:])) // without the opening brace: the object is already begun
	return body, found.Fits()
}

func writeNodes(body *walk.Text, nodes []*walk.Node) {
	body.Raw("[")
	for i, n := range nodes {
		if i > 0 {
			body.Raw(",")
		}
		body.Raw(`{"id":`)
		body.String(string(n.ID))
		body.Raw(`,"type":"entity","childNodes":`)
		writeNodes(body, n.Children)
		if body.Err() != nil {
			return
		}
		body.Raw("}")
	}
	body.Raw("]")
}

func endOf(found *walk.Answer) graphEnd {
	end := graphEnd{Count: found.Count}
	if found.Explain != nil {
		cost := found.Cost
		end.Explain = explainOf(found.Explain)
		end.Cost = &graphCost{
			Traversers: cost.Work, Bytes: cost.Bytes, Generation: cost.Generation,
			WaitedMs: float64(cost.Waited.Microseconds()) / 1000, RanMs: float64(cost.Ran.Microseconds()) / 1000,
		}
	}
	return end
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
