package app

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/posture/api"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/walk"
)

//go:generate env UPDATE=1 go test -count=1 -run TestGeneratedFilesAreCurrent .

// declarations lists the entity types that the sources can read.
func (a *App) declarations() []collect.Declaration {
	var all []collect.Declaration
	for _, s := range a.o.Sources {
		all = append(all, s.Declarations()...)
	}
	return all
}

// reads says what the rules of an organisation read. A query that is not Gremlin
// names no types, so it is left out.
func (a *App) reads(ctx context.Context, org posture.OrgID) ([]api.RuleReads, error) {
	rules, err := a.book.Rules(ctx, org)
	if err != nil {
		return nil, err
	}
	var all []api.RuleReads
	for _, r := range rules {
		if r.Query.Language != posture.GraphQuery {
			continue
		}
		reads := api.RuleReads{Rule: r.ID}
		if reads.Types, reads.Properties, reads.Edges, err = walk.Reads(r.Query.Text); err == nil {
			all = append(all, reads) // one that is broken was found so when it was saved
		}
	}
	return all, nil
}
