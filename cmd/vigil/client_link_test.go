package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientLink links an account of each cloud, and checks the requests and the output of
// the command. It sets environment variables, so it is not parallel.
func TestClientLink(t *testing.T) {
	const subscription = "0A1B2C3D-0000-4000-8000-000000000001"
	const application, directory = "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	secret, key, userKey := write("secret", "s3cret\n"), write("key.json", `{"type":"service_account","client_email":"vigil@p.iam.gserviceaccount.com"}`), write("user.json", `{"type":"authorized_user"}`)

	for _, test := range []struct {
		name string
		args []string
		env  map[string]string
		code int
		sent []string // parts of the paths and properties of the requests; none: the server must not be called
		says string
	}{
		{name: "AWS", args: []string{"123456789012", "--role-arn", "arn:aws:iam::123456789012:role/vigil"}, says: "is linked",
			sent: []string{"/v1/providers/aws/cloud-credentials", "RoleArn=arn:aws:iam::123456789012:role/vigil", "ExternalId=issued"}},
		{name: "Azure by flags", args: []string{subscription, "--application-id", application, "--directory-id", directory, "--application-key-file", secret}, says: "is linked",
			sent: []string{"/v1/providers/azure/cloud-credentials", "ApplicationId=" + application, "DirectoryId=" + directory, "ApplicationKey=s3cret "}}, // a space, not the line break of the file, follows the secret
		{name: "Azure by the environment", args: []string{subscription}, says: "is linked",
			env:  map[string]string{"AZURE_CLIENT_ID": application, "AZURE_TENANT_ID": directory, "AZURE_CLIENT_SECRET": "fromenv"},
			sent: []string{"/v1/providers/azure/cloud-accounts", "subscriptionId=" + subscription, "ApplicationKey=fromenv"}},
		{name: "Azure without a secret", args: []string{subscription, "--application-id", application, "--directory-id", directory}, code: exitUsage, says: "AZURE_CLIENT_SECRET"},
		{name: "Google Cloud by a file", args: []string{"payroll-prod", "--service-account-key-file", key, "--name", "Payroll"}, says: "is linked",
			sent: []string{"/v1/providers/gcp/cloud-credentials", "projectId=payroll-prod", "ServiceAccountEmail=vigil@p.iam.gserviceaccount.com", `ServiceAccountKey={"type"`}},
		{name: "Google Cloud by the environment", args: []string{"payroll-prod"}, env: map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": key}, says: "is linked",
			sent: []string{"ServiceAccountEmail=vigil@p.iam.gserviceaccount.com"}},
		{name: "the credentials of a person", args: []string{"payroll-prod", "--service-account-key-file", userKey}, code: exitUsage, says: "is not the key of a service account"},
		{name: "a missing file", args: []string{"payroll-prod", "--service-account-key-file", filepath.Join(dir, "none")}, code: exitFailed, says: "no such file"},
		{name: "steps for AWS", args: []string{"123456789012"}, code: exitUsage, says: "/scripts/aws/link.sh -o link.sh"},
		{name: "steps for Azure", args: []string{subscription}, code: exitUsage, says: "/scripts/azure/link.sh -o link.sh"},
		{name: "steps for Google Cloud", args: []string{"payroll-prod"}, code: exitUsage, says: "/scripts/gcp/link.sh -o link.sh"},
		{name: "no id of any cloud", args: []string{"Payroll"}, code: exitUsage, says: "neither an AWS account"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var sent strings.Builder
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/authorize") {
					_, _ = io.WriteString(w, `{"access_token":"access","expires_in":1800}`)
					return
				}
				var in struct {
					Properties []struct{ Name, StringV string }
				}
				_ = json.NewDecoder(r.Body).Decode(&in)
				fmt.Fprint(&sent, r.URL.Path, " ")
				for _, p := range in.Properties {
					fmt.Fprint(&sent, p.Name, "=", p.StringV, " ")
				}
				_, _ = io.WriteString(w, `{"externalId":"issued","credentialId":"c1"}`)
			}))
			defer s.Close()
			for _, name := range []string{"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS", "VIGIL_PROFILE"} {
				t.Setenv(name, test.env[name])
			}
			t.Setenv("VIGIL_URL", s.URL)
			t.Setenv("VIGIL_TOKEN", "api-token")
			var out, problems strings.Builder
			code := run(append([]string{"accounts", "link"}, test.args...), nil, &out, &problems)
			said := out.String() + problems.String()
			if code != test.code || !strings.Contains(said, test.says) {
				t.Errorf("exit %d: %s", code, said)
			}
			if strings.Contains(said, "s3cret") || strings.Contains(said, "fromenv") {
				t.Errorf("the output has the secret: %s", said)
			}
			for _, text := range test.sent {
				if !strings.Contains(sent.String(), text) {
					t.Errorf("%s was not sent, but %s", text, sent.String())
				}
			}
			if len(test.sent) == 0 && sent.Len() > 0 {
				t.Errorf("the server was called: %s", sent.String())
			}
		})
	}
}

// TestClientLinkContinues runs the command for an account that exists already, because an earlier run failed after it had added it.
func TestClientLinkContinues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, account, links string
		code                 int
		says, lastCall       string
	}{
		{"without a link", `{"cloudAccountId":"123456789012"}`, `{"cloudAccountId":"210987654321","credentialId":"c0"}`, 0, "is linked; ", "POST /v1/providers/aws/account-credential-relationship"},
		{
			"with a link", `{"cloudAccountId":"123456789012","accountStatus":{"value":"active"}}`, `{"cloudAccountId":"123456789012","credentialId":"c0"}`,
			exitFailed, "is linked already, and its status is active", "POST /v1/cloud-accounts/query",
		},
		{"another conflict", "", "", exitFailed, "the server refuses", "GET /v1/providers/aws/cloud-accounts/123456789012"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			last := ""
			call := commandsOn(t, writeSecret(t), func(w http.ResponseWriter, r *http.Request) {
				last = r.Method + " " + r.URL.Path
				switch {
				case last == "POST /v1/providers/aws/cloud-accounts":
					w.WriteHeader(http.StatusConflict)
					_, _ = io.WriteString(w, `{"message":"the server refuses"}`)
				case r.Method == http.MethodGet && tt.account == "":
					w.WriteHeader(http.StatusNotFound)
				case r.Method == http.MethodGet:
					_, _ = io.WriteString(w, tt.account)
				case r.URL.Path == "/v1/cloud-accounts/query":
					_, _ = io.WriteString(w, `{"relationships":[`+tt.links+`]}`)
				default:
					_, _ = io.WriteString(w, `{"credentialId":"c1"}`)
				}
			})
			code, out := call("accounts", "link", "123456789012", "--role-arn", "arn:aws:iam::123456789012:role/vigil", "--external-id", "x")
			if code != tt.code || !strings.Contains(out, tt.says) || last != tt.lastCall {
				t.Errorf("exit %d, last call %s: %s", code, last, out)
			}
		})
	}
}
