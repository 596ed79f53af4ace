package api

import (
	"context"

	"vigil/internal/httpapi"
)

// expensiveRows is the number of rows from which a query is expensive. Reading so many takes
// about 0.1 s.
const expensiveRows = 50_000

// admitCost waits until a query that reads so many rows may run. Expensive queries share the
// limits of concurrent graph queries: of the token, of the organisation and of the server.
// It fails with fault.Limited or fault.Unavailable if a limit is reached. The caller must
// call leave afterwards.
func (a *API) admitCost(ctx context.Context, rows int) (leave func(), err error) {
	if rows < expensiveRows {
		return func() {}, nil
	}
	return a.Walker.Admit(ctx, a.Org(ctx), httpapi.CallerOf(ctx).ID)
}
