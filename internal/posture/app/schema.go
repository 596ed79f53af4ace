package app

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/posture/api"
	"vigil/internal/posture/collect"
)

//go:generate env UPDATE=1 go test -count=1 -run "TestGeneratedFilesAreCurrent|TestRulesAreCounted" .

// declarations returns the declarations of all sources.
func (a *App) declarations() []collect.Declaration {
	var all []collect.Declaration
	for _, s := range a.o.Sources {
		all = append(all, s.Declarations()...)
	}
	return all
}

// typesReadByRules returns what each rule of an organisation reads: types of the rule's own
// cloud, properties and edges.
func (a *App) typesReadByRules(ctx context.Context, org posture.OrgID) ([]api.RuleReads, error) {
	rules, err := a.book.Rules(ctx, org)
	if err != nil {
		return nil, err
	}
	all := make([]api.RuleReads, 0, len(rules))
	for _, r := range rules {
		readSet, err := a.judge.Evaluator.ReadSet(r.Query)
		if err != nil {
			continue // invalid queries were reported when the rule was saved
		}
		reads := api.RuleReads{Rule: r.ID, Properties: readSet.Properties, Edges: readSet.Edges}
		for _, t := range readSet.Types {
			if t.Provider() == r.Provider {
				reads.Types = append(reads.Types, t)
			}
		}
		all = append(all, reads)
	}
	return all, nil
}
