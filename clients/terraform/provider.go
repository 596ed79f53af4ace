package main

import (
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// vigilProvider is the Terraform provider.
type vigilProvider struct{}

func newProvider() provider.Provider { return vigilProvider{} }

func (vigilProvider) Metadata(_ context.Context, _ provider.MetadataRequest, r *provider.MetadataResponse) {
	r.TypeName = "vigil"
}

func (vigilProvider) Schema(_ context.Context, _ provider.SchemaRequest, r *provider.SchemaResponse) {
	r.Schema = schema.Schema{
		Description: "Manages cloud accounts, rules, mute rules and notifications of a Vigil posture server.",
		Attributes: map[string]schema.Attribute{
			"server": schema.StringAttribute{Optional: true, Description: "The URL of the posture server; by default that of the environment variable VIGIL_SERVER."},
			"token":  schema.StringAttribute{Optional: true, Sensitive: true, Description: "An API token; by default that of the environment variable VIGIL_TOKEN."},
		},
	}
}

func (vigilProvider) Configure(ctx context.Context, q provider.ConfigureRequest, r *provider.ConfigureResponse) {
	var config struct {
		Server types.String `tfsdk:"server"`
		Token  types.String `tfsdk:"token"`
	}
	r.Diagnostics.Append(q.Config.Get(ctx, &config)...)
	server := settingOr(config.Server, "VIGIL_SERVER")
	if server == "" {
		r.Diagnostics.AddAttributeError(path.Root("server"), "No server", "Set server in the provider block, or the environment variable VIGIL_SERVER.")
	}
	token := settingOr(config.Token, "VIGIL_TOKEN")
	if token == "" {
		r.Diagnostics.AddAttributeError(path.Root("token"), "No API token", "Set token in the provider block, or the environment variable VIGIL_TOKEN.")
	}
	if !r.Diagnostics.HasError() {
		r.ResourceData = newServer(server, token)
	}
}

// settingOr returns a setting of the provider block, or an environment variable.
func settingOr(setting types.String, variable string) string {
	if v := setting.ValueString(); v != "" {
		return v
	}
	return os.Getenv(variable)
}

func (vigilProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (vigilProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		newResource(cloudAccount), newResource(credential), newResource(credentialLink),
		newResource(rule), newResource(muteRule),
		newResource(notificationChannel), newResource(notificationRule),
	}
}
