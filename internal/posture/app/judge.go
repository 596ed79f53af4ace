package app

import (
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/judge"
)

// newJudge returns the evaluator of accounts, with the schema of the sources'
// declarations.
func (a *App) newJudge() *judge.Judge {
	e := evaluate.New(catalog.Schema(a.declarations()), a.store, a.o.Now)
	return &judge.Judge{Store: a.store, Book: a.book, Graphs: a.graphs, Evaluator: e, Log: a.o.Log, Now: a.o.Now}
}
