package app_test

import (
	"strings"
	"testing"
	"time"

	"vigil/internal/sqldb/dbtest"
)

const muteRules = "/v1/mute-rules"

func TestMuteRules(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 0, 0)
		i.raise("r", time.Now(), nil, 1, 2, 3)
		i.raise("s", time.Now(), nil, 4)
		scope := object{"ruleIds": []string{"r"}, "resourcePatterns": []string{"ARN:aws:s3:::my.bucket-?"}, "cloudTags": object{"env": []string{"prod"}}}
		preview := i.want(200, "POST", muteRules+"/preview", object{"scope": scope})
		if preview.body["matchedCount"] != 3.0 || preview.body["suppressedCount"] != 0.0 || preview.body["levels"].(object)["High"] != 3.0 {
			t.Errorf("preview %s", preview.text)
		}
		count := func(suppressed bool) any {
			return i.want(200, "POST", findings, object{"filters": object{"isSuppressed": suppressed}}).body["totalCount"]
		}
		if got := count(true); got != 0.0 {
			t.Errorf("the preview suppressed %v findings", got)
		}
		for name, bad := range map[string]object{
			"scope":      {"name": "x", "reason": "x", "scope": object{}},
			"reason":     {"name": "x", "reason": " ", "scope": scope},
			"name":       {"name": "", "reason": "x", "scope": scope},
			"until":      {"name": "x", "reason": "x", "scope": scope, "until": "2001-01-01T00:00:00Z"},
			"ruleIds[0]": {"name": "x", "reason": "x", "scope": object{"ruleIds": []string{""}}},
		} {
			if text := i.want(400, "POST", muteRules, bad).text; !strings.Contains(text, name) {
				t.Errorf("the response for an invalid %s is %s", name, text)
			}
		}
		created := i.want(201, "POST", muteRules, object{"name": "Sandbox", "reason": "goes away", "scope": scope, "until": time.Now().Add(time.Hour)})
		path := muteRules + "/" + created.member("id")
		i.raise("r", time.Now(), nil, 1, 2, 3, 5)
		if got := count(true); got != 4.0 {
			t.Errorf("%v findings are suppressed, want 3 existing ones and a new one", got)
		}
		muted := results(i.want(200, "POST", findings, object{"filters": object{"isSuppressed": true}}))[0]
		if s := muted["suppression"].(object); s["muteRuleId"] != created.body["id"] || s["reason"] != "goes away" {
			t.Errorf("suppression %v", s)
		}
		if all := results(i.want(200, "GET", muteRules, nil)); len(all) != 1 || all[0]["inForce"] != true {
			t.Errorf("mute rules %v", all)
		}

		narrow := object{"name": "Sandbox", "reason": "goes away", "scope": object{"resourcePatterns": []string{"*bucket-1"}}}
		i.want(428, "PUT", path, narrow)
		i.want(412, "PUT", path, narrow, "If-Match", "other")
		i.want(412, "DELETE", path, nil, "If-Match", "other")
		i.want(200, "PUT", path, narrow, "If-Match", created.member("eTag"))
		if got := count(true); got != 1.0 {
			t.Errorf("%v findings are suppressed after the scope was narrowed, want 1", got)
		}
		i.want(200, "DELETE", path, nil)
		i.want(404, "GET", path, nil)
		if got := count(false); got != 5.0 {
			t.Errorf("%v findings are not suppressed after the mute rule was deleted, want 5", got)
		}
	})
}
