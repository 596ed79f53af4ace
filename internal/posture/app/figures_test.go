package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vigil/internal/sqldb/dbtest"
)

func TestMetricsCountFindingsAndAccounts(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0)
		i.raise("r", time.Now(), nil, 1, 2, 3)
		i.raise("s", time.Now(), nil, 4)
		i.want(201, "POST", muteRules, object{"name": "x", "reason": "x", "scope": object{"ruleIds": []string{"s"}}})
		i.http = http.DefaultClient // the OpenAPI document does not have this path
		text := i.want(200, "GET", "/metrics", nil).text
		for _, line := range []string{
			`vigil_findings{level="High",suppressed="false"} 3`, `vigil_findings{level="High",suppressed="true"} 1`, `vigil_findings{level="Low",suppressed="false"} 0`,
			`vigil_accounts{provider="aws"} `, "vigil_accounts_overdue 0", "vigil_account_oldest_collection_seconds 0",
		} {
			if !strings.Contains(text, line) {
				t.Errorf("the metrics lack %s", line)
			}
		}
	})
}
