package main

import (
	"context"
	"net/http"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type credentialModel struct {
	ID    types.String     `tfsdk:"id"`
	Cloud types.String     `tfsdk:"cloud"`
	AWS   *awsCredential   `tfsdk:"aws"`
	Azure *azureCredential `tfsdk:"azure"`
	GCP   *gcpCredential   `tfsdk:"gcp"`
}

type awsCredential struct {
	RoleARN    types.String `tfsdk:"role_arn"`
	ExternalID types.String `tfsdk:"external_id"`
}

type azureCredential struct {
	ApplicationID  types.String `tfsdk:"application_id"`
	ApplicationKey types.String `tfsdk:"application_key"`
	DirectoryID    types.String `tfsdk:"directory_id"`
}

type gcpCredential struct {
	ServiceAccountEmail types.String `tfsdk:"service_account_email"`
	ServiceAccountKey   types.String `tfsdk:"service_account_key"`
}

type credentialRecord struct {
	ID         string     `json:"credentialId,omitempty"`
	Properties []property `json:"properties"`
}

var credential = kind[credentialModel]{
	name: "credential",
	schema: schema.Schema{
		Description: "A read-only credential with which Vigil reads cloud accounts. Set the block of its cloud.",
		Attributes: map[string]schema.Attribute{
			"id":    idAttribute(),
			"cloud": fixedText("The cloud: aws, azure or gcp."),
			"aws": schema.SingleNestedAttribute{Optional: true, Description: "A role to assume.", Attributes: map[string]schema.Attribute{
				"role_arn":    requiredText("The ARN of the role."),
				"external_id": secretText("The external id in the trust policy of the role."),
			}},
			"azure": schema.SingleNestedAttribute{Optional: true, Description: "An application.", Attributes: map[string]schema.Attribute{
				"application_id":  requiredText("The id of the application."),
				"application_key": secretText("The value of its client secret."),
				"directory_id":    requiredText("The id of the tenant."),
			}},
			"gcp": schema.SingleNestedAttribute{Optional: true, Description: "A service account.", Attributes: map[string]schema.Attribute{
				"service_account_email": requiredText("The address of the service account."),
				"service_account_key":   secretText("Its key file, encoded with base64encode()."),
			}},
		},
	},
	importID: []string{"cloud", "id"},
	create: func(ctx context.Context, s *server, m *credentialModel) error {
		var out credentialRecord
		err := s.call(ctx, http.MethodPost, "/v1/providers/"+m.Cloud.ValueString()+"/cloud-credentials", m.record(), &out)
		m.ID = types.StringValue(out.ID)
		return err
	},
	read: func(ctx context.Context, s *server, m *credentialModel) error {
		var out credentialRecord
		if err := s.call(ctx, http.MethodGet, m.path(), nil, &out); err != nil {
			return err
		}
		if m.properties() == nil { // imported: only the attributes of the import id are known
			m.addBlock()
		}
		// The server does not return secrets: their values in the state remain.
		for name, value := range m.properties() {
			i := slices.IndexFunc(out.Properties, func(p property) bool { return p.Name == name })
			if i >= 0 && out.Properties[i].Type == "string" && !secretProperties[name] {
				*value = types.StringValue(out.Properties[i].Value)
			}
		}
		return nil
	},
	update: func(ctx context.Context, s *server, m *credentialModel) error {
		return s.change(ctx, http.MethodPut, m.path(), m.record())
	},
	delete: func(ctx context.Context, s *server, m *credentialModel) error {
		return s.call(ctx, http.MethodDelete, m.path(), nil, nil)
	},
}

// secretProperties are the properties that the server does not return.
var secretProperties = map[string]bool{"ExternalId": true, "ApplicationKey": true, "ServiceAccountKey": true}

// addBlock adds an empty block for the cloud.
func (m *credentialModel) addBlock() {
	switch m.Cloud.ValueString() {
	case "aws":
		m.AWS = new(awsCredential)
	case "azure":
		m.Azure = new(azureCredential)
	case "gcp":
		m.GCP = new(gcpCredential)
	}
}

// properties returns the attributes of the credential by the server's names.
func (m *credentialModel) properties() map[string]*types.String {
	switch {
	case m.AWS != nil:
		return map[string]*types.String{"RoleArn": &m.AWS.RoleARN, "ExternalId": &m.AWS.ExternalID}
	case m.Azure != nil:
		return map[string]*types.String{"ApplicationId": &m.Azure.ApplicationID, "ApplicationKey": &m.Azure.ApplicationKey, "DirectoryId": &m.Azure.DirectoryID}
	case m.GCP != nil:
		return map[string]*types.String{"ServiceAccountEmail": &m.GCP.ServiceAccountEmail, "ServiceAccountKey": &m.GCP.ServiceAccountKey}
	}
	return nil
}

func (m *credentialModel) path() string {
	return "/v1/providers/" + m.Cloud.ValueString() + "/cloud-credentials/" + m.ID.ValueString()
}

func (m *credentialModel) record() credentialRecord {
	r := credentialRecord{Properties: []property{}}
	for name, value := range m.properties() {
		r.Properties = append(r.Properties, property{Name: name, Type: "string", Value: value.ValueString()})
	}
	return r
}
