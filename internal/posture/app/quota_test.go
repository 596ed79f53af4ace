package app_test

import (
	"net/http"
	"testing"

	"vigil/internal/config"
	"vigil/internal/posture/app"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestQuotas exceeds the quotas of accounts, of waiting collections and of requests. No
// workers run, so collections wait.
func TestQuotas(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		a, in := buildWith(t, dsn, app.Options{Cloud: new(memcloud.Cloud)}, func(p *config.Posture) {
			p.Quota = config.Quota{Requests: 10, Accounts: 2, Collections: 1, Waiting: 1}
		})
		base := serve(t, a)
		c, _, _ := newOrg(t, in, base, "first")
		other, _, _ := newOrg(t, in, base, "second")
		credential := c.want(201, "POST", credentials, awsCredential()).member("credentialId")
		ids := []string{"111111111111", "222222222222"}
		for _, id := range ids {
			c.want(201, "POST", accounts, awsAccount(id))
			c.want(201, "POST", relationships, object{"cloudAccountId": id, "credentialId": credential})
		}
		c.want(409, "POST", accounts, awsAccount("333333333333"))
		other.want(201, "POST", accounts, awsAccount("333333333333"))

		if err := in.DB.Write(t.Context(), func(tx *sqldb.Tx) error { // as the job that validates the link does
			_, err := tx.Exec(`UPDATE account SET status = 'active'`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		c.want(202, "POST", "/v1/cloud-accounts/"+ids[0]+"/collections", object{})
		if full := c.want(429, "POST", "/v1/cloud-accounts/"+ids[1]+"/collections", object{}); full.header.Get("Retry-After") == "" {
			t.Error("the refusal of a collection has no Retry-After")
		}
		var last answer
		for range 1000 { // the burst is 100, ten times the rate
			if last = c.do("POST", "/v1/cloud-accounts/query", object{}); last.status != http.StatusOK {
				break
			}
		}
		if last.status != http.StatusTooManyRequests || last.header.Get("Retry-After") == "" {
			t.Errorf("too many requests of an organisation: %d %s", last.status, last.text)
		}
		other.want(200, "POST", "/v1/cloud-accounts/query", object{})
	})
}
