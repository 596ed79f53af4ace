package main

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type channelModel struct {
	ID        types.String `tfsdk:"id"`
	Name      types.String `tfsdk:"name"`
	Type      types.String `tfsdk:"type"`
	Enabled   types.Bool   `tfsdk:"enabled"`
	PerMinute types.Int64  `tfsdk:"per_minute"`
	Settings  types.Map    `tfsdk:"settings"`
}

type channelRecord struct {
	ID        string            `json:"id,omitempty"`
	Name      string            `json:"name"`
	Type      string            `json:"type"`
	Enabled   bool              `json:"enabled"`
	PerMinute int64             `json:"perMinute"`
	Settings  map[string]string `json:"settings"`
}

var notificationChannel = kind[channelModel]{
	name: "notification_channel",
	schema: schema.Schema{
		Description: "A receiver of notifications.",
		Attributes: map[string]schema.Attribute{
			"id":         idAttribute(),
			"name":       requiredText("Its name."),
			"type":       fixedText("Its type: webhook, slack, teams, pagerduty, splunk, jira, email, syslog or securityhub."),
			"enabled":    schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true), Description: "Whether it gets notifications; true by default."},
			"per_minute": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(30), Description: "The maximum number of messages per minute; 30 by default."},
			"settings":   schema.MapAttribute{Required: true, Sensitive: true, ElementType: types.StringType, Description: "The settings of its type; see docs/notifications.md."},
		},
	},
	importID: []string{"id"},
	create: func(ctx context.Context, s *server, m *channelModel) error {
		var out channelRecord
		err := s.call(ctx, http.MethodPost, "/v1/notification-channels", m.record(), &out)
		m.ID = types.StringValue(out.ID)
		return err
	},
	read: func(ctx context.Context, s *server, m *channelModel) error {
		var out channelRecord
		if err := s.call(ctx, http.MethodGet, m.path(), nil, &out); err != nil {
			return err
		}
		m.Name, m.Type = types.StringValue(out.Name), types.StringValue(out.Type)
		m.Enabled, m.PerMinute = types.BoolValue(out.Enabled), types.Int64Value(out.PerMinute)
		if m.Settings.IsNull() { // after an import; otherwise keep the state, because the server does not return the secrets in the settings
			m.Settings, _ = types.MapValueFrom(ctx, types.StringType, out.Settings) // a map of strings always converts
		}
		return nil
	},
	update: func(ctx context.Context, s *server, m *channelModel) error {
		return s.change(ctx, http.MethodPut, m.path(), m.record())
	},
	delete: func(ctx context.Context, s *server, m *channelModel) error {
		return s.call(ctx, http.MethodDelete, m.path(), nil, nil)
	},
}

func (m *channelModel) path() string { return "/v1/notification-channels/" + m.ID.ValueString() }

func (m *channelModel) record() channelRecord {
	r := channelRecord{Name: m.Name.ValueString(), Type: m.Type.ValueString(), Enabled: m.Enabled.ValueBool(), PerMinute: m.PerMinute.ValueInt64(), Settings: map[string]string{}}
	for name, element := range m.Settings.Elements() {
		if text, _ := element.(types.String); !text.IsNull() { // leave out a null setting, like a null attribute
			r.Settings[name] = text.ValueString()
		}
	}
	return r
}

type notificationRuleModel struct {
	ID              types.String `tfsdk:"id"`
	Name            types.String `tfsdk:"name"`
	Enabled         types.Bool   `tfsdk:"enabled"`
	Events          types.Set    `tfsdk:"events"`
	Levels          types.Set    `tfsdk:"levels"`
	MinRiskScore    types.Int64  `tfsdk:"min_risk_score"`
	RuleIDs         types.Set    `tfsdk:"rule_ids"`
	CloudAccountIDs types.Set    `tfsdk:"cloud_account_ids"`
	CloudTags       types.Map    `tfsdk:"cloud_tags"`
	ChannelIDs      types.Set    `tfsdk:"channel_ids"`
}

type notificationRuleRecord struct {
	ID              string              `json:"id,omitempty"`
	Name            string              `json:"name"`
	Enabled         bool                `json:"enabled"`
	Events          []string            `json:"events"`
	Levels          []string            `json:"levels"`
	MinRiskScore    int64               `json:"minRiskScore"`
	RuleIDs         []string            `json:"ruleIds"`
	CloudAccountIDs []string            `json:"cloudAccountIds"`
	CloudTags       map[string][]string `json:"cloudTags"`
	ChannelIDs      []string            `json:"channelIds"`
}

var notificationRule = kind[notificationRuleModel]{
	name: "notification_rule",
	schema: schema.Schema{
		Description: "Sends events to channels. Every filter that is set must match.",
		Attributes: map[string]schema.Attribute{
			"id":                idAttribute(),
			"name":              requiredText("Its name."),
			"enabled":           schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true), Description: "Whether it sends; true by default."},
			"events":            schema.SetAttribute{Required: true, ElementType: types.StringType, Description: "The events to send: FindingRaised, FindingResolved, SuppressionEnded, CollectionFailed, StreamSilent."},
			"levels":            optionalTexts("Findings of these levels: High, Medium, Low."),
			"min_risk_score":    schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(0), Description: "Findings with at least this risk score; 0 by default."},
			"rule_ids":          optionalTexts("Findings of these rules."),
			"cloud_account_ids": optionalTexts("Events of these cloud accounts."),
			"cloud_tags":        tagFilterAttribute(),
			"channel_ids":       schema.SetAttribute{Required: true, ElementType: types.StringType, Description: "The ids of the vigil_notification_channel resources."},
		},
	},
	importID: []string{"id"},
	create: func(ctx context.Context, s *server, m *notificationRuleModel) error {
		in, err := m.record()
		if err != nil {
			return err
		}
		var out notificationRuleRecord
		err = s.call(ctx, http.MethodPost, "/v1/notification-rules", in, &out)
		m.ID = types.StringValue(out.ID)
		return err
	},
	read: func(ctx context.Context, s *server, m *notificationRuleModel) error {
		var out notificationRuleRecord
		if err := s.call(ctx, http.MethodGet, m.path(), nil, &out); err != nil {
			return err
		}
		m.Name, m.Enabled, m.MinRiskScore = types.StringValue(out.Name), types.BoolValue(out.Enabled), types.Int64Value(out.MinRiskScore)
		m.Events, m.Levels, m.ChannelIDs = setOf(out.Events), readSet(m.Levels, out.Levels), setOf(out.ChannelIDs)
		m.RuleIDs, m.CloudAccountIDs = readSet(m.RuleIDs, out.RuleIDs), readSet(m.CloudAccountIDs, out.CloudAccountIDs)
		m.CloudTags = readTagFilter(m.CloudTags, out.CloudTags)
		return nil
	},
	update: func(ctx context.Context, s *server, m *notificationRuleModel) error {
		in, err := m.record()
		if err != nil {
			return err
		}
		return s.change(ctx, http.MethodPut, m.path(), in)
	},
	delete: func(ctx context.Context, s *server, m *notificationRuleModel) error {
		return s.call(ctx, http.MethodDelete, m.path(), nil, nil)
	},
}

func (m *notificationRuleModel) path() string { return "/v1/notification-rules/" + m.ID.ValueString() }

func (m *notificationRuleModel) record() (notificationRuleRecord, error) {
	var e converter
	r := notificationRuleRecord{
		Name: m.Name.ValueString(), Enabled: m.Enabled.ValueBool(), MinRiskScore: m.MinRiskScore.ValueInt64(),
		Events: e.texts("events", m.Events), Levels: e.texts("levels", m.Levels), ChannelIDs: e.texts("channel_ids", m.ChannelIDs),
		RuleIDs: e.texts("rule_ids", m.RuleIDs), CloudAccountIDs: e.texts("cloud_account_ids", m.CloudAccountIDs),
		CloudTags: e.tagFilter("cloud_tags", m.CloudTags),
	}
	return r, e.err
}
