package app_test

import (
	"net/http"
	"testing"

	"vigil/internal/auth"
	"vigil/internal/auth/authapi"
	"vigil/internal/httpapi"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestRolesAreEnforcedOnEveryRoute calls every route with every role. The requested
// records do not exist, so nothing changes.
func TestRolesAreEnforcedOnEveryRoute(t *testing.T) {
	t.Parallel()
	a, in := newApp(t, dbtest.SQLite(t), new(memcloud.Cloud))
	base := serve(t, a)
	_, _, admin := newOrg(t, in, base, "org")
	for _, role := range auth.Roles {
		c := newClient(t, in, base, admin, role)
		anonymous := &client{t: t, base: base, token: "none", http: c.http}
		for _, route := range a.Routes() {
			if route.Need == httpapi.Public || route.Events {
				continue
			}
			need, err := auth.ParseRole(route.Need)
			if err != nil {
				t.Fatalf("%s needs %q, which is no role", route.Pattern, route.Need)
			}
			if authapi.ScopeOf(route.Pattern) == "" {
				t.Errorf("%s belongs to no scope that tokens can be limited to", route.Pattern)
			}
			method, path := fill(route.Pattern, map[string]string{
				"provider": "aws", "cloud_account_id": "none", "credential_id": "none", "pair": "none", "token_id": "none",
				"user_id": "none", "collection_id": "none", "resource_id": "none", "rule_id": "none", "finding_id": "none", "framework_id": "none", "session_id": "none", "view_id": "none",
			})
			c, anonymous := c, anonymous
			if route.Hidden { // it is not in the OpenAPI document, against which clients validate responses
				c = &client{t: t, base: base, token: c.token, http: http.DefaultClient}
				anonymous = &client{t: t, base: base, token: "none", http: http.DefaultClient}
			}
			got := c.do(method, path, nil).status
			if allowed := got != http.StatusForbidden; allowed != role.Includes(need) || got == http.StatusUnauthorized || got >= 500 {
				t.Errorf("%s as %s = %d; it needs %s", route.Pattern, role, got, need)
			}
			if got := anonymous.do(method, path, nil); got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s without a token = %d", route.Pattern, got.status)
			}
		}
	}
}
