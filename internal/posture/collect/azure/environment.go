package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	_ "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/runtime" // registers the endpoints of Resource Manager

	"vigil/internal/posture"
)

// An environment is one of the clouds of Azure.
type environment struct {
	cloud cloud.Configuration
	graph string // base URL of Microsoft Graph
}

var (
	commercial = environment{cloud.AzurePublic, "https://graph.microsoft.com"}
	government = environment{cloud.AzureGovernment, "https://graph.microsoft.us"}
)

// environmentOf returns the cloud of a subscription.
func environmentOf(a posture.Account) environment {
	if a.Government() {
		return government
	}
	return commercial
}
