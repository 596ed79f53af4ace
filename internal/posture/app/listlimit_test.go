package app_test

import (
	"net/http"
	"testing"

	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestListsAreBoundedAsTheDocumentSays checks that every list in request bodies has the
// limit that the OpenAPI document states.
func TestListsAreBoundedAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		c, _, _ := newOrg(t, in, base, "org")
		document.CheckListLimits(t, http.DefaultClient, base, func(h http.Header) {
			h.Set("Authorization", "Bearer "+c.token)
		})
	})
}
