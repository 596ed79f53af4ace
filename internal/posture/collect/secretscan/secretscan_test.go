package secretscan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Credentials are assembled so that scanners of source code do not take this file for a leak.
const (
	awsKey    = "AKIA" + "Y3FDLPCTQ7MWZRJA"
	awsSecret = "8hZkq2Lr0Xv" + "Yw9TfJ3mNcB5sGd7Q1uPeRaHiKoV4"
	slack     = "xoxb-" + "263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1"
	github    = "ghp_" + "q7WmZ2rT8xLk5vBn3cYh6sJd9fGp1aEo4uRi"
	google    = "AIza" + "SyB7qX2wK9mR4tL6vN8pZ3cF5hJ1dG0sYaE"
)

func TestVariable(t *testing.T) {
	for _, c := range []struct {
		name, value string
		kinds       []string
	}{
		{"KEY", awsKey, []string{"aws-access-token"}},
		{"AWS_SECRET_ACCESS_KEY", awsSecret, []string{"generic-api-key"}},
		{"HOOK", slack, []string{"slack-bot-token"}},
		{"GITHUB", github, []string{"github-pat"}},
		{"MAPS", google, []string{"gcp-api-key"}},
		{"SIGNING", "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEAxyz0123456789abcdefghijk+/\n", 4) + "-----END RSA PRIVATE KEY-----", []string{"private-key"}},
		{"DATABASE_URL", "postgres://app:s3cr3t-Pw@db.internal:5432/app", []string{"url-password"}},
		{"SQL", "Server=tcp:db,1433;User ID=app;Password=Tr0ub4dor&3;Encrypt=True;", []string{"connection-string-password"}},
		{"STORAGE", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + strings.Repeat("k3Jd8sQz", 10) + "abcdEF==;EndpointSuffix=core.windows.net", []string{"azure-account-key"}},
		{"DB_PASSWORD", "hunter2x", []string{"password"}},
		{"dbPassword", "Sommer2024!", []string{"password"}},
		{"MYSQL_ROOT_PASSWORD", "letmein!", []string{"password"}},
		{"PGPASSWORD", "letmein!", []string{"password"}},
		{"CLIENT_SECRET", "Zx9~aaaa", []string{"password"}},

		{"STAGE", "production", nil},
		{"AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", nil},
		{"DB_PASSWORD", "", nil},
		{"DB_PASSWORD", "${DB_PASSWORD}", nil},
		{"DB_PASSWORD", "{{resolve:secretsmanager:db:SecretString:password}}", nil},
		{"DB_PASSWORD", "@Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/db/)", nil},
		{"DB_PASSWORD", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf", nil},
		{"DB_PASSWORD", "/prod/db/password", nil},
		{"DB_PASSWORD", "prod-db-password", nil},
		{"DB_PASSWORD", "****", nil},
		{"DB_PASSWORD_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf", nil},
		{"SECRET_NAME", "prod/db", nil},
		{"KMS_KEY_ID", "1234abcd-12ab-34cd-56ef-1234567890ab", nil},
		{"TOKEN_ENDPOINT", "https://login.example.com/oauth2/token", nil},
		{"DATABASE_URL", "postgres://app@db.internal:5432/app", nil},
		{"DATABASE_URL", "postgres://app:${PASSWORD}@db.internal:5432/app", nil},
		{"PASSWORD_MIN_LENGTH", "12", nil},
		{"BYPASS", "internal", nil},
		{"COMPASS", "northwest7", nil},
		{"DB_PASSWORD", "true", nil},
	} {
		if got := Variable(c.name, c.value); !slices.Equal(got, c.kinds) {
			t.Errorf("Variable(%q, %q) = %v, want %v", c.name, c.value, got, c.kinds)
		}
	}
}

func TestText(t *testing.T) {
	text := "#!/bin/bash\nyum -y install httpd\nexport DB_PASSWORD='hunter2x'\naws configure set aws_access_key_id " + awsKey + "\n" +
		"aws_secret_access_key=" + awsSecret + "\ncurl -s https://example.com/install.sh\nPASSWORD=$(aws secretsmanager get-secret-value --secret-id db)\n" +
		"cat > key <<EOF\n-----BEGIN OPENSSH PRIVATE KEY-----\n" + strings.Repeat("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAA\n", 3) + "-----END OPENSSH PRIVATE KEY-----\nEOF\n"
	want := []Match{{"password", 3}, {"aws-access-token", 4}, {"generic-api-key", 5}, {"private-key", 9}}
	if got := Text(text); !slices.Equal(got, want) {
		t.Errorf("Text = %v, want %v", got, want)
	}
	for _, harmless := range []string{"", "#!/bin/sh\necho ready\n", "PASSWORD=\nNAME=value-of-name\n", "#cloud-config\npackages: [nginx]\nusers:\n  - name: app\n    ssh_authorized_keys:\n      - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGx\n"} {
		if got := Text(harmless); len(got) != 0 {
			t.Errorf("Text(%q) = %v, want nothing", harmless, got)
		}
	}
}

// TestRulesAreValid checks that every rule can be used: its expressions compile, its keywords are
// in lower case, and its group exists.
func TestRulesAreValid(t *testing.T) {
	set := loadRules()
	if len(set.Rules) < 200 {
		t.Fatalf("%d rules, want at least 200", len(set.Rules))
	}
	seen := map[string]bool{}
	for _, r := range set.Rules {
		if seen[r.ID] {
			t.Errorf("two rules are named %s", r.ID)
		}
		seen[r.ID] = true
		if r.Regex.get().NumSubexp() < r.Group {
			t.Errorf("%s: has no group %d", r.ID, r.Group)
		}
		if len(r.Keywords) == 0 {
			t.Errorf("%s: no keywords, so it is never tried", r.ID)
		}
		for _, word := range r.Keywords {
			if word != strings.ToLower(word) {
				t.Errorf("%s: keyword %q is not in lower case", r.ID, word)
			}
		}
		for _, a := range r.Allow {
			for _, p := range a.Regexes {
				p.get()
			}
		}
	}
}

// TestResultsHaveNoSecrets checks that no result contains a secret, with or without the prefix of its kind, such as AKIA.
func TestResultsHaveNoSecrets(t *testing.T) {
	for _, secret := range []string{awsKey, awsSecret, slack, github, google, "hunter2x"} {
		text, err := json.Marshal([]any{Text("DB_PASSWORD=" + secret), Variable("DB_PASSWORD", secret)})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), secret[4:]) {
			t.Errorf("the result contains the secret: %s", text)
		}
		if string(text) == "[null,null]" {
			t.Errorf("%q was not found", secret)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("DB_PASSWORD=hunter2x\n\n")
	f.Add("\n\n" + awsKey + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := 1 + strings.Count(text, "\n")
		for _, match := range Text(text) {
			if match.Line < 1 || match.Line > lines {
				t.Errorf("line %d of %d", match.Line, lines)
			}
		}
	})
}

func BenchmarkVariable(b *testing.B) {
	for b.Loop() {
		Variable("TABLE_NAME", "orders-production-eu-west-1")
	}
}
