package main

import (
	"context"
	"net/http"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type credentialLinkModel struct {
	Cloud          types.String `tfsdk:"cloud"`
	CloudAccountID types.String `tfsdk:"cloud_account_id"`
	CredentialID   types.String `tfsdk:"credential_id"`
}

type credentialLinkRecord struct {
	CloudAccountID string `json:"cloudAccountId"`
	CredentialID   string `json:"credentialId"`
}

var credentialLink = kind[credentialLinkModel]{
	name: "credential_link",
	schema: schema.Schema{
		Description: "Links a cloud account with the credential that reads it. Vigil collects the account from then on.",
		Attributes: map[string]schema.Attribute{
			"cloud":            fixedText("The cloud: aws, azure or gcp."),
			"cloud_account_id": fixedText("The id of the vigil_cloud_account."),
			"credential_id":    fixedText("The id of the vigil_credential."),
		},
	},
	importID: []string{"cloud", "cloud_account_id", "credential_id"},
	create: func(ctx context.Context, s *server, m *credentialLinkModel) error {
		return s.call(ctx, http.MethodPost, m.path(), m.record(), nil)
	},
	read: func(ctx context.Context, s *server, m *credentialLinkModel) error {
		in := map[string]any{"getCredentials": true, "filters": map[string]any{"providers": []string{m.Cloud.ValueString()}}}
		var out struct {
			Relationships []credentialLinkRecord `json:"relationships"`
		}
		if err := s.call(ctx, http.MethodPost, "/v1/cloud-accounts/query", in, &out); err != nil {
			return err
		}
		if !slices.Contains(out.Relationships, m.record()) {
			return errNotFound
		}
		return nil
	},
	delete: func(ctx context.Context, s *server, m *credentialLinkModel) error {
		return s.call(ctx, http.MethodDelete, m.path()+"/"+m.CloudAccountID.ValueString()+"_"+m.CredentialID.ValueString(), nil, nil)
	},
}

func (m *credentialLinkModel) path() string {
	return "/v1/providers/" + m.Cloud.ValueString() + "/account-credential-relationship"
}

func (m *credentialLinkModel) record() credentialLinkRecord {
	return credentialLinkRecord{CloudAccountID: m.CloudAccountID.ValueString(), CredentialID: m.CredentialID.ValueString()}
}
