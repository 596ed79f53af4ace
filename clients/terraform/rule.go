package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type ruleModel struct {
	ID                   types.String `tfsdk:"id"`
	Cloud                types.String `tfsdk:"cloud"`
	Name                 types.String `tfsdk:"name"`
	DisplayName          types.String `tfsdk:"display_name"`
	Level                types.String `tfsdk:"level"`
	Query                types.String `tfsdk:"query"`
	Description          types.String `tfsdk:"description"`
	SuggestedAction      types.String `tfsdk:"suggested_action"`
	DocumentationLink    types.String `tfsdk:"documentation_link"`
	Enabled              types.Bool   `tfsdk:"enabled"`
	ComplianceControlIDs types.Set    `tfsdk:"compliance_control_ids"`
}

// ruleText is the part of a rule that PUT changes.
type ruleText struct {
	Name                 string   `json:"name"`
	DisplayName          string   `json:"displayName"`
	Query                string   `json:"query"` // JSON in a string
	Description          string   `json:"description"`
	SuggestedAction      string   `json:"suggestedAction"`
	DocumentationLink    string   `json:"documentationLink"`
	ComplianceControlIDs []string `json:"complianceControlIds"`
}

// ruleSwitches is the part of a rule that PATCH changes.
type ruleSwitches struct {
	Level  string `json:"level"`
	Status string `json:"status"`
}

type ruleRecord struct {
	ruleText
	ruleSwitches
	ID       string `json:"id,omitempty"`
	Provider string `json:"provider"`
}

// A graphQuery is the content of the member query.
type graphQuery struct {
	Type string `json:"inventoryQueryType"`
	Text string `json:"queryString"`
}

var rule = kind[ruleModel]{
	name: "rule",
	schema: schema.Schema{
		Description: "A custom rule. Every resource that its query returns violates it.",
		Attributes: map[string]schema.Attribute{
			"id":                     idAttribute(),
			"cloud":                  fixedText("The cloud: aws, azure or gcp."),
			"name":                   requiredText("Its title, which states the violation."),
			"display_name":           requiredText("Its short name, without spaces."),
			"level":                  requiredText("Its severity: High, Med or Low."),
			"query":                  requiredText("A Gremlin query."),
			"description":            optionalText("Why it matters."),
			"suggested_action":       optionalText("How to fix a violation."),
			"documentation_link":     optionalText("A URL."),
			"enabled":                schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true), Description: "Whether it is evaluated; true by default."},
			"compliance_control_ids": optionalTexts("The controls that it answers: <framework id>_<control id>."),
		},
	},
	importID: []string{"id"},
	create: func(ctx context.Context, s *server, m *ruleModel) error {
		text, err := m.text()
		if err != nil {
			return err
		}
		in := ruleRecord{ruleText: text, ruleSwitches: m.switches(), Provider: m.Cloud.ValueString()}
		var out ruleRecord
		err = s.call(ctx, http.MethodPost, "/v1/rules", in, &out)
		m.ID = types.StringValue(out.ID)
		return err
	},
	read: func(ctx context.Context, s *server, m *ruleModel) error {
		var out ruleRecord
		if err := s.call(ctx, http.MethodGet, m.path(), nil, &out); err != nil {
			return err
		}
		var query graphQuery
		if err := json.Unmarshal([]byte(out.Query), &query); err != nil {
			return err
		}
		m.Cloud, m.Name, m.DisplayName = types.StringValue(out.Provider), types.StringValue(out.Name), types.StringValue(out.DisplayName)
		m.Level, m.Query = types.StringValue(out.Level), types.StringValue(query.Text)
		m.Description, m.SuggestedAction = readText(m.Description, out.Description), readText(m.SuggestedAction, out.SuggestedAction)
		m.DocumentationLink = readText(m.DocumentationLink, out.DocumentationLink)
		m.Enabled, m.ComplianceControlIDs = types.BoolValue(out.Status == "Enabled"), readSet(m.ComplianceControlIDs, out.ComplianceControlIDs)
		return nil
	},
	update: func(ctx context.Context, s *server, m *ruleModel) error {
		text, err := m.text()
		if err != nil {
			return err
		}
		if err := s.change(ctx, http.MethodPut, m.path(), text); err != nil {
			return err
		}
		return s.change(ctx, http.MethodPatch, m.path(), m.switches())
	},
	delete: func(ctx context.Context, s *server, m *ruleModel) error {
		return s.call(ctx, http.MethodDelete, m.path(), nil, nil)
	},
}

func (m *ruleModel) path() string { return "/v1/rules/" + m.ID.ValueString() }

func (m *ruleModel) text() (ruleText, error) {
	query, _ := json.Marshal(graphQuery{Type: "Graph", Text: m.Query.ValueString()}) // strings always marshal
	var e converter
	r := ruleText{
		Name: m.Name.ValueString(), DisplayName: m.DisplayName.ValueString(), Query: string(query),
		Description: m.Description.ValueString(), SuggestedAction: m.SuggestedAction.ValueString(), DocumentationLink: m.DocumentationLink.ValueString(),
		ComplianceControlIDs: e.texts("compliance_control_ids", m.ComplianceControlIDs),
	}
	return r, e.err
}

func (m *ruleModel) switches() ruleSwitches {
	status := "Disabled"
	if m.Enabled.ValueBool() {
		status = "Enabled"
	}
	return ruleSwitches{Level: m.Level.ValueString(), Status: status}
}
