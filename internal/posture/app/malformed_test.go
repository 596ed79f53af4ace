package app_test

import (
	"net/http"
	"os"
	"testing"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/auth"
	"vigil/internal/posture/api"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
)

// TestMalformedRequestsAreRefused sends requests with many kinds of errors: none may
// get a 5xx response, an undocumented response or an error of another form.
func TestMalformedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	n := 5_000 // per database
	if os.Getenv("VIGIL_TORTURE") != "" {
		n = 50_000
	}
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := newApp(t, dsn, new(memcloud.Cloud))
		base := serve(t, a)
		c, org, _ := newOrg(t, in, base, "org")
		// Use another user: a request that happens to delete the caller would end the
		// test.
		other, err := in.Registry.AddUser(t.Context(), auth.Operator(org.ID), auth.UserEdit{Name: "other", Role: auth.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		c.want(201, "POST", accounts, awsAccount(accountID(1)))
		credential := c.want(201, "POST", credentials, awsCredential()).member("credentialId")
		d := apitest.Load(t, api.Document)
		d.Hide(t, a.Routes())
		apitest.Torture{
			Document: d, Base: base, N: n, Seed: 1,
			Authorize: func(h http.Header) { h.Set("Authorization", "Bearer "+c.token) },
			Known: map[string][]string{
				"provider": {"aws", "azure", "gcp"}, "cloud_account_id": {accountID(1), accountID(2)}, "credential_id": {credential},
				"pair": {accountID(1) + "_" + credential}, "user_id": {string(other.ID)},
			},
			Skip: []string{"revokeApiToken", "streamPulse"}, // revokeApiToken may revoke the caller's own token; streamPulse does not end for 50 s
		}.Run(t)
	})
}
