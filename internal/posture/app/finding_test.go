package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb/dbtest"
)

// raise records that the S3 buckets with the given numbers violate a rule. The risk score of
// bucket n is 10n. If change is not nil, it edits each finding before it is recorded.
func (i *inventory) raise(rule posture.RuleID, at time.Time, change func(n int, f *posture.Finding), buckets ...int) {
	i.t.Helper()
	r := posture.RuleJudgement{Rule: rule, Passing: 3}
	for _, n := range buckets {
		f := posture.Finding{
			Provider: posture.AWS, Object: posture.EntityID(fmt.Sprintf("AWS.S3.111111111111.global.Bucket.my.bucket-%d", n)), Type: "AWS.S3.Bucket",
			XID: fmt.Sprintf("arn:aws:s3:::my.bucket-%d", n), Name: fmt.Sprintf("Bucket %d", n), Service: "S3", Region: "eu-west-1",
			Level: posture.LevelHigh, Risk: posture.Risk{Score: 10 * n}, Tags: map[string]string{"env": "prod"},
		}
		if change != nil {
			change(n, &f)
		}
		r.Violating = append(r.Violating, posture.Raised{Finding: f, Blob: func() string { return "{}" }})
	}
	_, err := i.store.Observe(i.t.Context(), i.org, posture.Judgement{
		Account: "111111111111", RulesAt: posture.AnyRules, At: at, Rules: []posture.RuleJudgement{r},
	})
	if err != nil {
		i.t.Fatal(err)
	}
}

const findings = "/v2/findings/query"

func TestFindingIsFoundByAllIDsOfItsObject(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	i.raise("r", time.Now(), nil, 1, 2)
	// Bucket 1 is second, because its risk score is lower.
	got := results(i.want(200, "POST", findings, object{"filters": nil, "sorts": nil}))[1]
	for member, want := range map[string]string{
		"entityId": "AWS.S3.111111111111.global.Bucket.my.bucket-1", "objectId": "my.bucket-1", "objectXid": "arn:aws:s3:::my.bucket-1",
		"objectName": "Bucket 1", "objectType": "AWS.S3.Bucket",
	} {
		if got[member] != want {
			t.Errorf("%s = %v, want %s", member, got[member], want)
		}
		if strings.HasSuffix(member, "d") { // entityId, objectId and objectXid
			found := i.want(200, "POST", findings, object{"filters": object{"objectIds": []string{want}}})
			if found.body["totalCount"] != 1.0 {
				t.Errorf("by %s: %s", member, found.text)
			}
		}
	}
}

func TestFindingsAreFilteredByID(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	i.raise("r", time.Now(), nil, 1, 2, 3)
	all := results(i.want(200, "POST", findings, object{}))
	ids := []any{all[2]["id"], all[0]["id"], "no-such-finding"}
	found := results(i.want(200, "POST", findings, object{"filters": object{"findingIds": ids}}))
	if len(found) != 2 || found[0]["id"] != all[0]["id"] || found[1]["id"] != all[2]["id"] {
		t.Errorf("found %v of %v", found, ids)
	}
	exported := i.want(200, "POST", "/v2/findings/export", object{"filters": object{"findingIds": ids}, "format": "jsonl"})
	if n := strings.Count(exported.text, "\n"); n != 2 {
		t.Errorf("exported %d lines: %s", n, exported.text)
	}
}

func TestPageTokenContainsTheQuery(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0)
		i.raise("r", time.Now(), nil, 1, 2, 3, 4, 5)
		i.raise("s", time.Now(), nil, 6)
		var seen []string
		// ruleId, statuses, cloudAccountId and sort are synonyms of other members, and take one value or a list.
		body := object{"filters": object{"ruleId": "r", "statuses": "Open", "cloudAccountId": []string{"111111111111"}}, "sort": object{"fieldName": "riskScore"}, "paginationInfo": object{"pageSize": 2}}
		for range 5 {
			page := i.want(200, "POST", findings, body)
			for _, f := range results(page) {
				seen = append(seen, f["objectId"].(string))
			}
			token := page.member("continuationToken")
			if token == "" {
				break
			}
			// The token contains the first query: these filters and sorts have no effect.
			body = object{"filters": object{"ruleIds": []string{"s"}, "queryString": "nothing"}, "sorts": []object{{"fieldName": "id"}}, "paginationInfo": object{"pageSize": 2, "continuationToken": token}}
		}
		if got := strings.Join(seen, " "); got != "my.bucket-1 my.bucket-2 my.bucket-3 my.bucket-4 my.bucket-5" {
			t.Errorf("pages have %s", got)
		}
	})
}

func TestIgnoredFiltersAreReported(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	got := i.want(200, "POST", findings, object{"filters": object{"severity": "x"}, "sorts": []object{{"fieldName": "id", "direction": 1}}, "paginationInfo": object{"size": 1}})
	warnings, _ := got.body["warnings"].([]any)
	if len(warnings) != 3 || !strings.Contains(fmt.Sprint(warnings[0]), "filters.severity") || !strings.Contains(fmt.Sprint(warnings[1]), "paginationInfo.pageSize") {
		t.Errorf("warnings %v", warnings)
	}
	// Unknown members at the top level cause no warning.
	if got := i.want(200, "POST", findings, object{"other": 1}); got.body["warnings"] != nil {
		t.Errorf("warnings %v", got.body["warnings"])
	}
	for _, path := range []string{"/v1/cloud-accounts/query", "/v1/cloud-credentials/query", "/v1/entities/query", "/v1/rules/query", "/v1/cloud-accounts/collection-status/query"} {
		i.want(200, "POST", path, object{"filters": nil})
		if got := i.want(200, "POST", path, object{"filters": object{"nonsense": 1}}); !strings.Contains(got.text, "filters.nonsense is not known") {
			t.Errorf("%s: %s, want a warning about filters.nonsense", path, got.text)
		}
	}
}

func TestFacetCountsIgnoreTheirOwnFilter(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0)
		i.raise("r", time.Now(), nil, 1, 2, 3)
		i.raise("aws-iam-root-mfa", time.Now(), func(_ int, f *posture.Finding) { f.Level = posture.LevelLow }, 4)
		got := i.want(200, "POST", findings, object{
			"filters": object{"levels": []string{"High"}, "minRiskScore": 20}, "facets": []string{"level", "ruleId", "tag.env", "complianceFrameworkId", "objectType"},
		})
		facets, _ := got.body["facets"].(object)
		count := func(facet, key string) any {
			f, _ := facets[facet].(object)
			b, _ := f["buckets"].(object)
			k, _ := b[key].(object)
			return k["count"]
		}
		for _, tt := range []struct {
			facet, key string
			want       any
		}{
			{"level", "High", 2.0}, {"level", "Low", 1.0}, {"ruleId", "r", 2.0}, {"ruleId", "aws-iam-root-mfa", nil},
			{"tag.env", "prod", 2.0}, {"objectType", "AWS.S3.Bucket", 2.0}, {"complianceFrameworkId", "cis-aws-3.0", nil},
		} {
			if got := count(tt.facet, tt.key); got != tt.want {
				t.Errorf("%s %s: %v, want %v", tt.facet, tt.key, got, tt.want)
			}
		}
		low := i.want(200, "POST", findings, object{"filters": object{"levels": []string{"Low"}}, "facets": []string{"complianceFrameworkId"}})
		facets, _ = low.body["facets"].(object)
		if count("complianceFrameworkId", "cis-aws-3.0") != 1.0 {
			t.Errorf("frameworks: %s", low.text)
		}
		i.want(400, "POST", findings, object{"facets": []string{"nonsense"}})
		// objectIds filters by id, not by type.
		one := i.want(200, "POST", findings, object{"filters": object{"objectIds": []string{"my.bucket-1"}}, "facets": []string{"objectType", "objectId"}})
		facets, _ = one.body["facets"].(object)
		if count("objectType", "AWS.S3.Bucket") != 1.0 || count("objectId", "my.bucket-2") != 1.0 {
			t.Errorf("facets of one resource: %s", one.text)
		}
	})
}

func TestFilterFindingsByControlAndTime(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	day := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	i.raise("aws-iam-root-mfa", day, nil, 1, 2)
	i.raise("aws-iam-root-mfa", day.Add(time.Hour), nil, 1) // this resolves the finding of bucket 2
	rule := i.want(200, "GET", "/v1/rules/aws-iam-root-mfa", nil)
	control := rule.body["complianceControlIds"].([]any)[0]
	for name, tt := range map[string]struct {
		filters object
		want    float64
	}{
		"control":         {object{"complianceControlIds": []any{control}}, 2},
		"another control": {object{"complianceControlIds": []any{"cis-aws-3.0_none"}}, 0},
		"resolved":        {object{"resolvedFrom": "2026-11-10T13:00:00Z", "resolvedTo": "2026-11-10T13:00:01Z"}, 1},
		"created":         {object{"createdFrom": "2026-11-10T12:00:00Z"}, 2},
		"created before":  {object{"createdTo": "2026-11-10T12:00:00Z"}, 0},
		"risk":            {object{"minRiskScore": 15}, 1},
	} {
		if got := i.want(200, "POST", findings, object{"filters": tt.filters}); got.body["totalCount"] != tt.want {
			t.Errorf("%s: %v, want %v", name, got.body["totalCount"], tt.want)
		}
	}
	i.want(400, "POST", findings, object{"filters": object{"minRiskScore": 101}})
	i.want(400, "POST", findings, object{"filters": object{"createdFrom": "yesterday"}})
}

func TestSuppressManyFindings(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	i.raise("r", time.Now(), nil, 1, 2, 3)
	const suppress, release = "/v2/findings/suppressions", "/v2/findings/releases"
	wantCounts := func(a answer, matched, changed float64) {
		t.Helper()
		if a.body["matchedCount"] != matched || a.body["changedCount"] != changed {
			t.Errorf("got %s, want matchedCount %v and changedCount %v", a.text, matched, changed)
		}
	}
	i.want(400, "POST", suppress, object{"reason": "x"})
	i.want(400, "POST", suppress, object{"reason": "", "filters": object{}})
	i.want(400, "POST", suppress, object{"reason": " \t\n", "filters": object{}})
	i.want(400, "POST", suppress, object{"reason": "x", "filters": object{}, "findingIds": []string{}})
	i.want(400, "POST", suppress, object{"reason": "x", "filters": object{"rulesId": "r"}}) // an unknown filter
	i.want(400, "POST", suppress, object{"reason": "x", "filters": object{}, "until": "2020-01-01T00:00:00Z"})
	wantCounts(i.want(200, "POST", suppress, object{"reason": "x", "findingIds": []string{}}), 0, 0)
	wantCounts(i.want(200, "POST", suppress, object{"reason": "x", "filters": object{"minRiskScore": 20}}), 2, 2)
	id := results(i.want(200, "POST", findings, object{"filters": object{"isSuppressed": true}}))[0]["id"]
	wantCounts(i.want(200, "POST", release, object{"findingIds": []any{id, "none"}}), 1, 1)
	history := results(i.want(200, "GET", "/v2/findings/"+id.(string)+"/history", nil))
	by := map[any]any{}
	for _, event := range history {
		by[event["what"]] = event["by"]
	}
	if by["released"] == nil || by["released"] != by["suppressed"] {
		t.Errorf("history %v, want a release by the user who suppressed the finding", history)
	}
	wantCounts(i.want(200, "POST", release, object{"filters": object{"ruleIds": []string{"r"}}}), 3, 1) // one of the three is still suppressed
	trends := i.want(200, "POST", "/v2/findings/trends-query", object{"interval": "day", "groupBy": "level"})
	if groups, _ := trends.body["groups"].(object); len(groups) != 1 || groups["High"] == nil {
		t.Errorf("trends by level: %.300s", trends.text)
	}

	single := "/v2/findings/" + id.(string) + "/suppression"
	i.want(400, "PUT", single, object{"reason": ""})
	i.want(400, "PUT", single, object{"reason": " \t\n"})
	reason := func(a answer) any { return a.body["suppression"].(object)["reason"] }
	if got := reason(i.want(200, "PUT", single, object{"reason": " known\n"})); got != "known" {
		t.Errorf("the reason is %q", got)
	}
	wantCounts(i.want(200, "POST", suppress, object{"reason": " all known ", "findingIds": []any{id}}), 1, 1)
	if got := reason(i.want(200, "GET", "/v2/findings/"+id.(string), nil)); got != "all known" {
		t.Errorf("the reason is %q", got)
	}
}
