package api

import (
	"context"

	"vigil/internal/httpapi"
)

// A query that reads at least expensiveRows rows is expensive. Reading that many rows takes
// about 0.1 s.
const expensiveRows = 50_000

// admitCost waits until a query that reads the given number of rows may run. Expensive queries
// count towards the limits of concurrent graph queries: of the token, of the organisation and
// of the server. If a limit is still reached after a wait, admitCost fails with fault.Limited or
// fault.Unavailable. The caller must call leave after the query.
func (a *API) admitCost(ctx context.Context, rows int) (leave func(), err error) {
	if rows < expensiveRows {
		return func() {}, nil
	}
	return a.Walker.Admit(ctx, a.Org(ctx), httpapi.CallerOf(ctx).ID)
}
