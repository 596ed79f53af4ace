package posture_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"vigil/internal/posture"
)

func key(json string) string { return base64.StdEncoding.EncodeToString([]byte(json)) }

var goodKey = key(`{"type":"service_account","client_email":"a@b.iam.gserviceaccount.com","private_key":"x"}`)

func TestCredentialsAreChecked(t *testing.T) {
	t.Parallel()
	const id = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	role := posture.Text("RoleArn", "arn:aws:iam::123456789012:role/path/vigil")
	app := posture.Text("ApplicationId", id)
	dir := posture.Text("DirectoryId", id)
	mail := posture.Text("ServiceAccountEmail", "a@b.iam.gserviceaccount.com")
	for _, tt := range []struct {
		name     string
		provider posture.Provider
		ps       []posture.Property
		want     string // a part of the error; empty if the credential is valid
	}{
		{"aws", posture.AWS, []posture.Property{role}, ""},
		{"aws, other spelling", posture.AWS, []posture.Property{posture.Text("ROLEARN", role.String), posture.Text("ExternalID", "abc")}, ""},
		{"aws without role", posture.AWS, []posture.Property{posture.Text("ExternalId", "abc")}, "RoleArn"},
		{"aws, no role name", posture.AWS, []posture.Property{posture.Text("RoleArn", "vigil")}, "arn:aws:iam"},
		{"aws, role as flag", posture.AWS, []posture.Property{posture.Flag("RoleArn", true)}, "type must be string"},
		{"aws, foreign property", posture.AWS, []posture.Property{role, app}, "is not a property of aws"},
		{"azure", posture.Azure, []posture.Property{app, dir, posture.Text("ApplicationKey", "s3cr~t")}, ""},
		{"azure, identifier for value", posture.Azure, []posture.Property{app, dir, posture.Text("ApplicationKey", id)}, "identifier"},
		{"azure, empty key", posture.Azure, []posture.Property{app, dir, posture.Text("ApplicationKey", " ")}, "must not be empty"},
		{"gcp", posture.GCP, []posture.Property{mail, posture.Text("ServiceAccountKey", goodKey)}, ""},
		{"gcp, not base64", posture.GCP, []posture.Property{mail, posture.Text("ServiceAccountKey", "{}")}, "it is not base64"},
		{"gcp, no JSON", posture.GCP, []posture.Property{mail, posture.Text("ServiceAccountKey", key("x"))}, "JSON object"},
		{"gcp, a user's key", posture.GCP, []posture.Property{mail, posture.Text("ServiceAccountKey", key(`{"type":"authorized_user"}`))}, "of a service account is missing"},
	} {
		c, secrets, err := posture.NewCredential("c", tt.provider, tt.ps, now)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			continue
		}
		for _, p := range c.Properties {
			if _, secret := secrets[p.Name]; secret {
				t.Errorf("%s: %s is a secret and among the properties", tt.name, p.Name)
			}
		}
	}
}

func TestErrorsDoNotRepeatSecrets(t *testing.T) {
	t.Parallel()
	_, _, err := posture.NewCredential("c", posture.GCP, []posture.Property{
		posture.Text("ServiceAccountEmail", "a@b.c"), posture.Text("ServiceAccountKey", "hunter2!"),
	}, now)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v, want one that does not contain the key", err)
	}
}

func TestOmittedSecretsKeepTheirValues(t *testing.T) {
	t.Parallel()
	c, secrets, err := posture.NewCredential("c", posture.GCP, []posture.Property{
		posture.Text("ServiceAccountEmail", "a@b.c"), posture.Text("ServiceAccountKey", goodKey),
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	_, stored, err := c.Changed([]posture.Property{posture.Text("ServiceAccountEmail", "d@e.f")}, secrets, now)
	if err != nil {
		t.Fatal(err)
	}
	if stored["ServiceAccountKey"] != goodKey {
		t.Error("the key was lost")
	}
}

func FuzzParseServiceAccountKey(f *testing.F) {
	f.Add(goodKey)
	f.Add("")
	f.Add(key("[]"))
	f.Fuzz(func(t *testing.T, text string) {
		k, problem := posture.ParseServiceAccountKey(text)
		if problem == "" && (k.PrivateKey == "" || k.ClientEmail == "") {
			t.Errorf("accepted without a private key or an email: %q", text)
		}
	})
}
