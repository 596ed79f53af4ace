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

// TestEmptyAttributesAreKept checks that an attribute that is set to "", [] or {} is read back as
// it is, and that Terraform sees if a value was removed on the server.
func TestEmptyAttributesAreKept(t *testing.T) {
	t.Parallel()
	emptyText, emptySet, emptyMap := types.StringValue(""), set(), tagFilter(nil)
	for _, known := range []types.String{emptyText, nullText} {
		if got := readText(known, ""); !got.Equal(known) {
			t.Errorf("the text %s became %s", known, got)
		}
	}
	for _, known := range []types.Set{emptySet, nullSet} {
		if got := readSet(known, nil); !got.Equal(known) {
			t.Errorf("the set %s became %s", known, got)
		}
	}
	nullMap := types.MapNull(types.SetType{ElemType: types.StringType})
	for _, known := range []types.Map{emptyMap, nullMap} {
		if got := readTagFilter(known, nil); !got.Equal(known) {
			t.Errorf("the tag filter %s became %s", known, got)
		}
	}
	text, removed := types.StringValue("a"), tagFilter(map[string]attr.Value{"team": set(types.StringValue("a"))})
	if got := readText(text, ""); !got.Equal(nullText) {
		t.Errorf("the removed text is %s", got)
	}
	if got := readSet(set(text), nil); !got.Equal(nullSet) {
		t.Errorf("the removed set is %s", got)
	}
	if got := readTagFilter(removed, nil); !got.Equal(nullMap) {
		t.Errorf("the removed tag filter is %s", got)
	}
	if got := readTagFilter(nullMap, map[string][]string{"team": {"a"}}); !got.Equal(removed) {
		t.Errorf("the new tag filter is %s", got)
	}
}

// TestEmptyAttributesOfResourcesAreKept reads resources whose optional attributes are empty.
func TestEmptyAttributesOfResourcesAreKept(t *testing.T) {
	t.Parallel()
	emptyText, emptySet, emptyMap := types.StringValue(""), set(), tagFilter(nil)
	account := cloudAccountModel{Cloud: types.StringValue("aws"), Environment: emptyText, Tags: types.MapValueMust(types.StringType, nil)}
	custom := ruleModel{Description: emptyText, SuggestedAction: emptyText, DocumentationLink: emptyText, ComplianceControlIDs: emptySet}
	mute := muteRuleModel{RuleIDs: emptySet, CloudAccountIDs: emptySet, CloudTags: emptyMap, ResourcePatterns: emptySet}
	notification := notificationRuleModel{Levels: emptySet, RuleIDs: emptySet, CloudAccountIDs: emptySet, CloudTags: emptyMap}
	s := fakeServer(t, http.StatusOK, `{"query": "{}", "tags": {}, "environment": null, "complianceControlIds": [], "levels": [], "ruleIds": [], "cloudAccountIds": [], "cloudTags": {}, "scope": {"ruleIds": [], "cloudTags": {}}}`)
	for _, err := range []error{cloudAccount.read(t.Context(), s, &account), rule.read(t.Context(), s, &custom), muteRule.read(t.Context(), s, &mute), notificationRule.read(t.Context(), s, &notification)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]attr.Value{
		"environment": account.Environment, "tags": account.Tags,
		"description": custom.Description, "suggested_action": custom.SuggestedAction, "documentation_link": custom.DocumentationLink, "compliance_control_ids": custom.ComplianceControlIDs,
		"muted rule_ids": mute.RuleIDs, "muted cloud_account_ids": mute.CloudAccountIDs, "muted cloud_tags": mute.CloudTags, "muted resource_patterns": mute.ResourcePatterns,
		"levels": notification.Levels, "rule_ids": notification.RuleIDs, "cloud_account_ids": notification.CloudAccountIDs, "cloud_tags": notification.CloudTags,
	} {
		if value.IsNull() {
			t.Errorf("%s became null", name)
		}
	}
}
