package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type cloudAccountModel struct {
	ID          types.String `tfsdk:"id"`
	Cloud       types.String `tfsdk:"cloud"`
	AccountID   types.String `tfsdk:"account_id"`
	Name        types.String `tfsdk:"name"`
	Environment types.String `tfsdk:"environment"`
	Tags        types.Map    `tfsdk:"tags"`
}

// accountIDNames are the names of the property with the id of an account, by cloud.
var accountIDNames = map[string]string{"aws": "accountId", "azure": "subscriptionId", "gcp": "projectId"}

// A property is a named text of an account or a credential.
type property struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"stringV"`
}

type cloudAccountRecord struct {
	ID          string            `json:"cloudAccountId,omitempty"`
	Name        string            `json:"cloudAccountName"`
	Provider    string            `json:"provider,omitempty"`
	Environment *string           `json:"environment"`
	Properties  []property        `json:"properties,omitempty"`
	Tags        map[string]string `json:"tags"`
}

var cloudAccount = kind[cloudAccountModel]{
	name: "cloud_account",
	schema: schema.Schema{
		Description: "A cloud account that Vigil reads.",
		Attributes: map[string]schema.Attribute{
			"id":          idAttribute(),
			"cloud":       fixedText("The cloud: aws, azure or gcp."),
			"account_id":  fixedText("The id of the AWS account, Azure subscription or Google Cloud project."),
			"name":        requiredText("Its name in Vigil."),
			"environment": optionalText("Its environment, such as production."),
			"tags":        schema.MapAttribute{Optional: true, ElementType: types.StringType, Description: "Its tags in Vigil."},
		},
	},
	importID: []string{"cloud", "id"},
	create: func(ctx context.Context, s *server, m *cloudAccountModel) error {
		in, err := m.record()
		if err != nil {
			return err
		}
		in.Properties = []property{{Name: accountIDNames[m.Cloud.ValueString()], Type: "string", Value: m.AccountID.ValueString()}}
		var out cloudAccountRecord
		err = s.call(ctx, http.MethodPost, "/v1/providers/"+m.Cloud.ValueString()+"/cloud-accounts", in, &out)
		m.ID = types.StringValue(out.ID)
		return err
	},
	read: func(ctx context.Context, s *server, m *cloudAccountModel) error {
		var out cloudAccountRecord
		if err := s.call(ctx, http.MethodGet, m.path(), nil, &out); err != nil {
			return err
		}
		environment := ""
		if out.Environment != nil {
			environment = *out.Environment
		}
		m.Name, m.Environment = types.StringValue(out.Name), readText(m.Environment, environment)
		for _, p := range out.Properties {
			if strings.EqualFold(p.Name, accountIDNames[out.Provider]) {
				m.AccountID = types.StringValue(p.Value)
			}
		}
		m.Tags = readTags(m.Tags, out.Tags)
		return nil
	},
	update: func(ctx context.Context, s *server, m *cloudAccountModel) error {
		in, err := m.record()
		if err != nil {
			return err
		}
		return s.change(ctx, http.MethodPut, m.path(), in)
	},
	delete: func(ctx context.Context, s *server, m *cloudAccountModel) error {
		return s.call(ctx, http.MethodDelete, m.path(), nil, nil)
	},
}

func (m *cloudAccountModel) path() string {
	return "/v1/providers/" + m.Cloud.ValueString() + "/cloud-accounts/" + m.ID.ValueString()
}

func (m *cloudAccountModel) record() (cloudAccountRecord, error) {
	var e converter
	r := cloudAccountRecord{Name: m.Name.ValueString(), Environment: m.Environment.ValueStringPointer(), Tags: e.tags("tags", m.Tags)}
	return r, e.err
}
