package main

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type muteRuleModel struct {
	ID               types.String `tfsdk:"id"`
	Name             types.String `tfsdk:"name"`
	Reason           types.String `tfsdk:"reason"`
	Until            types.String `tfsdk:"until"`
	RuleIDs          types.Set    `tfsdk:"rule_ids"`
	CloudAccountIDs  types.Set    `tfsdk:"cloud_account_ids"`
	CloudTags        types.Map    `tfsdk:"cloud_tags"`
	ResourcePatterns types.Set    `tfsdk:"resource_patterns"`
}

type muteRuleRecord struct {
	ID     string    `json:"id,omitempty"`
	Name   string    `json:"name"`
	Reason string    `json:"reason"`
	Until  *string   `json:"until"`
	Scope  muteScope `json:"scope"`
}

type muteScope struct {
	RuleIDs          []string            `json:"ruleIds"`
	CloudAccountIDs  []string            `json:"cloudAccountIds"`
	CloudTags        map[string][]string `json:"cloudTags"`
	ResourcePatterns []string            `json:"resourcePatterns"`
}

var muteRule = kind[muteRuleModel]{
	name: "mute_rule",
	schema: schema.Schema{
		Description: "Suppresses the findings in its scope. The scope is rule_ids, cloud_account_ids, cloud_tags and resource_patterns; each of them that is set must match.",
		Attributes: map[string]schema.Attribute{
			"id":                idAttribute(),
			"name":              requiredText("Its name."),
			"reason":            requiredText("Why the findings are suppressed."),
			"until":             optionalText("When it expires (RFC 3339); by default it does not."),
			"rule_ids":          optionalTexts("Findings of these rules."),
			"cloud_account_ids": optionalTexts("Findings in these cloud accounts."),
			"cloud_tags":        tagFilterAttribute(),
			"resource_patterns": optionalTexts("Findings of resources whose id or name matches one of these patterns; * matches any text."),
		},
	},
	importID: []string{"id"},
	create: func(ctx context.Context, s *server, m *muteRuleModel) error {
		in, err := m.record()
		if err != nil {
			return err
		}
		var out muteRuleRecord
		err = s.call(ctx, http.MethodPost, "/v1/mute-rules", in, &out)
		m.ID = types.StringValue(out.ID)
		return err
	},
	read: func(ctx context.Context, s *server, m *muteRuleModel) error {
		var out muteRuleRecord
		if err := s.call(ctx, http.MethodGet, m.path(), nil, &out); err != nil {
			return err
		}
		m.Name, m.Reason = types.StringValue(out.Name), types.StringValue(out.Reason)
		until := ""
		if out.Until != nil {
			until = *out.Until
		}
		m.Until = sameTime(m.Until, until)
		m.RuleIDs, m.CloudAccountIDs = readSet(m.RuleIDs, out.Scope.RuleIDs), readSet(m.CloudAccountIDs, out.Scope.CloudAccountIDs)
		m.CloudTags, m.ResourcePatterns = readTagFilter(m.CloudTags, out.Scope.CloudTags), readSet(m.ResourcePatterns, out.Scope.ResourcePatterns)
		return nil
	},
	update: func(ctx context.Context, s *server, m *muteRuleModel) error {
		in, err := m.record()
		if err != nil {
			return err
		}
		return s.change(ctx, http.MethodPut, m.path(), in)
	},
	delete: func(ctx context.Context, s *server, m *muteRuleModel) error {
		return s.call(ctx, http.MethodDelete, m.path(), nil, nil)
	},
}

func (m *muteRuleModel) path() string { return "/v1/mute-rules/" + m.ID.ValueString() }

func (m *muteRuleModel) record() (muteRuleRecord, error) {
	var e converter
	r := muteRuleRecord{
		Name: m.Name.ValueString(), Reason: m.Reason.ValueString(), Until: m.Until.ValueStringPointer(),
		Scope: muteScope{
			RuleIDs: e.texts("rule_ids", m.RuleIDs), CloudAccountIDs: e.texts("cloud_account_ids", m.CloudAccountIDs),
			CloudTags: e.tagFilter("cloud_tags", m.CloudTags), ResourcePatterns: e.texts("resource_patterns", m.ResourcePatterns),
		},
	}
	return r, e.err
}
