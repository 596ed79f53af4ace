package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestMetricsCountFindingsAndAccounts(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		const noAccounts, noEntities = 0, 0
		i := newInventory(t, dsn, noAccounts, noEntities)
		i.raise("unmuted", time.Now(), nil, 1, 2, 3) // on three buckets
		i.raise("muted", time.Now(), nil, 4)
		i.want(201, "POST", muteRules, object{"name": "x", "reason": "x", "scope": object{"ruleIds": []string{"muted"}}})
		for _, id := range []string{"111111111111", "222222222222", "333333333333"} {
			i.want(201, "POST", accounts, awsAccount(id))
		}
		// There are no job workers, so the test activates two accounts itself.
		if err := i.install.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`UPDATE account SET status = 'active' WHERE id <> '333333333333'`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		i.want(200, "PUT", "/v1/cloud-accounts/222222222222/collection-settings", object{"paused": true, "regions": []string{}})
		i.http = http.DefaultClient // the OpenAPI document does not have this path
		text := i.want(200, "GET", "/metrics", nil).text
		for _, line := range []string{
			`vigil_findings{level="High",suppressed="false"} 3`, `vigil_findings{level="High",suppressed="true"} 1`, `vigil_findings{level="Low",suppressed="false"} 0`,
			`vigil_accounts{provider="aws",state="scheduled"} 1`, `vigil_accounts{provider="aws",state="paused"} 1`,
			`vigil_accounts{provider="aws",state="draft"} 1`, `vigil_accounts{provider="gcp",state="paused"} 0`,
			"vigil_accounts_overdue 0", "vigil_account_oldest_collection_seconds 0",
		} {
			if !strings.Contains(text, line) {
				t.Errorf("the metrics lack %s", line)
			}
		}
	})
}
