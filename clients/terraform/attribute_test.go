package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	nullText = types.StringNull()
	nullSet  = types.SetNull(types.StringType)
)

// set returns a set of texts, which can have null elements.
func set(texts ...attr.Value) types.Set { return types.SetValueMust(types.StringType, texts) }

func tagFilter(values map[string]attr.Value) types.Map {
	return types.MapValueMust(types.SetType{ElemType: types.StringType}, values)
}

// TestNullElementsAreRefused checks that a resource with a null element is neither created
// nor changed: without the element, a filter would match more.
func TestNullElementsAreRefused(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the provider calls %s %s", r.Method, r.URL)
	}))
	defer web.Close()
	s := newServer(web.URL, "token")
	high := types.StringValue("High")
	for _, c := range []struct {
		name string
		save func() []error
		want string
	}{
		{"levels", saves(s, notificationRule, notificationRuleModel{Levels: set(high, nullText)}), "levels has a null element"},
		{"events", saves(s, notificationRule, notificationRuleModel{Events: set(nullText)}), "events has a null element"},
		{"accounts", saves(s, notificationRule, notificationRuleModel{CloudAccountIDs: set(nullText)}), "cloud_account_ids has a null element"},
		{"tag", saves(s, notificationRule, notificationRuleModel{CloudTags: tagFilter(map[string]attr.Value{"team": nullSet})}), `cloud_tags["team"] is null`},
		{"muted accounts", saves(s, muteRule, muteRuleModel{CloudAccountIDs: set(nullText)}), "cloud_account_ids has a null element"},
		{"muted patterns", saves(s, muteRule, muteRuleModel{ResourcePatterns: set(nullText)}), "resource_patterns has a null element"},
		{"muted tag value", saves(s, muteRule, muteRuleModel{CloudTags: tagFilter(map[string]attr.Value{"team": set(nullText)})}), `cloud_tags["team"] has a null element`},
		{"controls", saves(s, rule, ruleModel{ComplianceControlIDs: set(nullText)}), "compliance_control_ids has a null element"},
		{"account tags", saves(s, cloudAccount, cloudAccountModel{Tags: types.MapValueMust(types.StringType, map[string]attr.Value{"team": nullText})}), `tags["team"] is null`},
	} {
		for _, err := range c.save() {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
		}
	}
}

// saves returns a function that creates and changes a resource, and returns both errors.
func saves[Model any](s *server, k kind[Model], m Model) func() []error {
	return func() []error {
		return []error{k.create(context.Background(), s, &m), k.update(context.Background(), s, &m)}
	}
}

// TestNullSettingIsNotGiven checks that a null setting, for example from a Terraform variable
// without a value, is omitted and the other settings are kept.
func TestNullSettingIsNotGiven(t *testing.T) {
	t.Parallel()
	m := channelModel{Settings: types.MapValueMust(types.StringType, map[string]attr.Value{
		"url": types.StringValue("https://hooks.example.com/1"), "signingKey": nullText,
	})}
	got, err := json.Marshal(m.record().Settings)
	if err != nil || string(got) != `{"url":"https://hooks.example.com/1"}` {
		t.Errorf("settings %s, %v; want only the URL", got, err)
	}
}
