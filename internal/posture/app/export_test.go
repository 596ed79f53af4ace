package app_test

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb/dbtest"
)

func TestListsAreExported(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 1, 1100) // more than one page
		// The findings have the risk scores 10, 20 and 30, and a name that a spreadsheet would run as a formula.
		i.raise("aws-iam-root-mfa", time.Now(), func(n int, f *posture.Finding) { f.Name = "=cmd()," }, 1, 2, 3)
		export := func(path string, body object) (rows [][]string) {
			got := i.want(200, "POST", path, body)
			if kind := got.header.Get("Content-Type"); kind != "text/csv; charset=utf-8" || !strings.Contains(got.header.Get("Content-Disposition"), ".csv") {
				t.Errorf("%s: Content-Type %s, Content-Disposition %s; want a CSV file", path, kind, got.header.Get("Content-Disposition"))
			}
			rows, err := csv.NewReader(strings.NewReader(got.text)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		rows := export("/v2/findings/export", object{"filters": object{"minRiskScore": 20}, "sorts": []object{{"fieldName": "riskScore"}}})
		// Columns 3 and 11 are the risk score and the name. The quote makes a spreadsheet show the name as text.
		if len(rows) != 3 || rows[0][0] != "id" || rows[1][3] != "20" || rows[1][11] != "'=cmd()," {
			t.Errorf("findings %v", rows)
		}
		if rows := export("/v2/findings/export", object{"filters": object{"minRiskScore": 100}, "format": "CSV"}); len(rows) != 1 {
			t.Errorf("the export of no findings has more than the header: %v", rows)
		}
		if rows := export("/v1/entities/export", object{}); len(rows) != len(i.all)+1 {
			t.Errorf("%d rows of %d entities", len(rows), len(i.all))
		}
		id := string(i.all[1].ID)
		if rows := export("/v1/entities/export", object{"filters": object{"entityIds": []string{id, "none"}}}); len(rows) != 2 || rows[1][0] != id {
			t.Errorf("%d rows of one entity", len(rows)-1)
		}
		if rows := export("/v1/compliance-frameworks/cis-aws-3.0/posture/export", object{}); len(rows) < 10 {
			t.Errorf("posture %v", rows)
		} else if head, first := rows[0], rows[1]; !slices.Equal(head[len(head)-2:], []string{"time", "cloudAccountIds"}) || first[len(first)-2] == "" || first[len(first)-1] != "all" {
			t.Errorf("posture without time and accounts: %q, %q", head, first)
		}
		lines := strings.Split(strings.TrimSpace(i.want(200, "POST", "/v2/findings/export", object{"format": "jsonl"}).text), "\n")
		var f object
		if err := json.Unmarshal([]byte(lines[0]), &f); err != nil || len(lines) != 3 || f["ruleId"] != "aws-iam-root-mfa" {
			t.Errorf("lines %q, %v", lines, err)
		}
		for format, want := range map[string]string{
			"ocsf": `"class_uid":2003`, "sarif": `"version":"2.1.0"`, "asff": `"SchemaVersion":"2018-10-08"`, "junit": "<testsuites", "html": "<!doctype html>",
		} {
			got := i.want(200, "POST", "/v2/findings/export", object{"format": format})
			if !strings.Contains(got.text, want) || !strings.Contains(got.text, "aws-iam-root-mfa") || !strings.Contains(got.header.Get("Content-Disposition"), "findings.") {
				t.Errorf("findings as %s: %.300q", format, got.text)
			}
		}
		if got := i.want(200, "POST", "/v2/findings/export", object{"format": "junit"}); !strings.Contains(got.text, `failures="3"`) {
			t.Errorf("junit %.300q", got.text)
		}
		i.want(400, "POST", "/v2/findings/export", object{"format": "pdf"})
		i.want(400, "POST", "/v2/findings/export", object{"filters": object{"levels": []string{"odd"}}})
		i.want(404, "POST", "/v1/compliance-frameworks/none/posture/export", nil)
	})
}
