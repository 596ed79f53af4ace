package demo

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"

	"vigil/internal/posture"
	"vigil/internal/sim/memcloud"
)

// simulated names one account per provider that the simulated clouds have and
// that is not onboarded.
type simulated struct {
	AWSAccountID           string `json:"aws_account_id"`
	AWSRoleArn             string `json:"aws_role_arn"`
	AWSExternalID          string `json:"aws_external_id"`
	AWSDeniedRoleArn       string `json:"aws_denied_role_arn"`
	AzureSubscriptionID    string `json:"azure_subscription_id"`
	AzureTenantID          string `json:"azure_tenant_id"`
	AzureApplicationID     string `json:"azure_application_id"`
	AzureApplicationKey    string `json:"azure_application_key"`
	GCPProjectID           string `json:"gcp_project_id"`
	GCPServiceAccountEmail string `json:"gcp_service_account_email"`
	GCPServiceAccountKey   string `json:"gcp_service_account_key"`
}

// world is the simulated clouds.
type world struct {
	cloud *memcloud.Cloud
	sim   simulated
}

func newWorld() (*world, error) {
	s := simulated{
		AWSAccountID: "200000000001", AWSRoleArn: "arn:aws:iam::200000000001:role/vigil", AWSExternalID: "vigil-demo",
		AWSDeniedRoleArn:    "arn:aws:iam::200000000001:role/vigil-denied",
		AzureSubscriptionID: "20000000-0000-4000-8000-000000000001", AzureTenantID: "20000000-0000-4000-8000-00000000000a",
		AzureApplicationID: "20000000-0000-4000-8000-00000000000b", AzureApplicationKey: "demo~" + rand.Text(),
		GCPProjectID: "vigil-demo-spare", GCPServiceAccountEmail: "vigil@vigil-demo-spare.iam.gserviceaccount.com",
	}
	key, err := serviceAccountKey(s.GCPProjectID, s.GCPServiceAccountEmail)
	if err != nil {
		return nil, err
	}
	s.GCPServiceAccountKey = key
	cloud := new(memcloud.Cloud)
	cloud.Add(posture.AccountID(s.AWSAccountID), memcloud.Account{
		Properties: map[string]string{posture.PropRoleArn: s.AWSRoleArn, posture.PropExternalID: s.AWSExternalID},
		Denied:     map[string]string{posture.PropRoleArn: s.AWSDeniedRoleArn},
	})
	cloud.Add(posture.AccountID(s.AzureSubscriptionID), memcloud.Account{Properties: map[string]string{
		posture.PropApplicationID: s.AzureApplicationID, posture.PropApplicationKey: s.AzureApplicationKey, posture.PropDirectoryID: s.AzureTenantID,
	}})
	cloud.Add(posture.AccountID(s.GCPProjectID), memcloud.Account{Properties: map[string]string{posture.PropServiceAccountKey: s.GCPServiceAccountKey}})
	cloud.AddProjects(s.GCPServiceAccountEmail, memcloud.Project(s.GCPProjectID))
	return &world{cloud, s}, nil
}

// serviceAccountKey makes the key file of a service account, in base64.
func serviceAccountKey(project, email string) (string, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(posture.ServiceAccountKey{
		Type: "service_account", ProjectID: project, PrivateKeyID: rand.Text(), ClientEmail: email,
		PrivateKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), TokenURI: "https://oauth2.googleapis.com/token",
	})
	return base64.StdEncoding.EncodeToString(text), err
}
