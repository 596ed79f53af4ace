package scripts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
	"vigil/internal/posture/scripts"
)

// all lists the scripts of each provider.
var all = map[posture.Provider][]string{
	posture.AWS: {"setup.sh", "teardown.sh", "link.sh", "unlink.sh"}, posture.Azure: {"setup.sh", "teardown.sh", "link.sh", "unlink.sh"}, posture.GCP: {"setup.sh", "teardown.sh", "link.sh", "unlink.sh"},
}

func fill(t *testing.T, p posture.Provider, name string, v scripts.Values) []byte {
	t.Helper()
	text, _, ok := scripts.Fill(p, name, v)
	if !ok {
		t.Fatalf("%s has no %s", p, name)
	}
	return text
}

func TestShellcheck(t *testing.T) {
	t.Parallel()
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	for p, names := range all {
		for _, name := range names {
			t.Run(string(p)+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := exec.CommandContext(t.Context(), shellcheck, "-")
				c.Stdin = bytes.NewReader(fill(t, p, name, scripts.Values{URL: "https://vigil.example", Principal: "arn:aws:iam::111111111111:role/vigil"}))
				if out, err := c.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// TestTemplatesParse parses the filled-in files that are not scripts.
func TestTemplatesParse(t *testing.T) {
	t.Parallel()
	v := scripts.Values{URL: "https://vigil.example", Principal: "arn:aws:iam::111111111111:role/vigil"}
	for name, keys := range map[string][]string{
		"aws/policy-1.json": {"Version", "Statement"}, "aws/role.yaml": {"Parameters", "Resources", "Outputs"}, "aws/template.yaml": {"Parameters", "Resources"},
		"azure/role.json": {"Actions", "AssignableScopes"}, "azure/template.json": {"parameters", "resources"}, "gcp/role.yaml": {"title", "includedPermissions"},
	} {
		p, file, _ := strings.Cut(name, "/")
		var got map[string]any
		if err := yaml.Unmarshal(fill(t, posture.Provider(p), file, v), &got); err != nil { // JSON is YAML, too
			t.Errorf("%s: %v", name, err)
		}
		for _, key := range keys {
			if got[key] == nil {
				t.Errorf("%s has no %s", name, key)
			}
		}
	}
	role := string(fill(t, posture.AWS, "role.yaml", v))
	if !strings.Contains(role, `Default: "arn:aws:iam::111111111111:role/vigil"`) {
		t.Errorf("the role's template is\n%s", role)
	}
	if scopes := string(fill(t, posture.Azure, "role.json", scripts.Values{Accounts: []string{"a", "b"}})); !strings.Contains(scopes, `"/subscriptions/a", "/subscriptions/b"`) {
		t.Errorf("the role is\n%s", scopes)
	}
}

// TestPolicies checks that every managed policy of the AWS role fits into the limit of
// IAM (6,144 characters), is in the template, and is counted in the script that
// downloads the policies by number.
func TestPolicies(t *testing.T) {
	t.Parallel()
	template := string(fill(t, posture.AWS, "role.yaml", scripts.Values{}))
	count := strings.Count(template, "AWS::IAM::ManagedPolicy")
	for i := range count {
		var small bytes.Buffer
		if err := json.Compact(&small, fill(t, posture.AWS, fmt.Sprintf("policy-%d.json", i+1), scripts.Values{})); err != nil || small.Len() > 6144 {
			t.Errorf("policy %d has %d characters, want at most 6144: %v", i+1, small.Len(), err)
		}
		if !strings.Contains(template, "PolicyDocument: "+small.String()+"\n") || strings.Count(template, fmt.Sprintf("!Ref Policy%d", i+1)) != 1 {
			t.Errorf("the template does not attach policy %d", i+1)
		}
	}
	if _, _, ok := scripts.Fill(posture.AWS, fmt.Sprintf("policy-%d.json", count+1), scripts.Values{}); ok || count == 0 || count > 10 {
		t.Errorf("the template has %d policies, a role can have 1 to 10; a file of a further policy exists: %v", count, ok)
	}
	if script := string(fill(t, posture.AWS, "link.sh", scripts.Values{})); !strings.Contains(script, fmt.Sprintf("\npolicy_count=%d\n", count)) {
		t.Errorf("the script does not attach %d policies", count)
	}
}

func TestValuesAreFilledInAndQuoted(t *testing.T) {
	t.Parallel()
	hostile := `https://x.example/'; touch pwned; echo '`
	for p, names := range all {
		for _, name := range names {
			text := string(fill(t, p, name, scripts.Values{URL: hostile, Accounts: []string{"a", "b"}}))
			if strings.Contains(text, "@url@") || strings.Contains(text, "@accounts@") || strings.Contains(text, "@library@") {
				t.Errorf("%s/%s: a value is not filled in", p, name)
			}
			if !strings.Contains(text, "accounts='a b'") {
				t.Errorf("%s/%s: the accounts are not filled in", p, name)
			}
			if !strings.Contains(text, `VIGIL_URL=${VIGIL_URL:-'https://x.example/'\''; touch pwned; echo '\'''}`) {
				t.Errorf("%s/%s: the address is not quoted", p, name)
			}
		}
	}
}

func TestUnknownNamesAreNotServed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "none.sh", "../library.sh", "setup", "library.sh", "..%2flibrary.sh", "aws/setup.sh", "setup.sh/", "become.sh", "../part/library.sh"} {
		if _, _, ok := scripts.Fill(posture.AWS, name, scripts.Values{}); ok {
			t.Errorf("%q is served", name)
		}
	}
	for p, name := range map[posture.Provider]string{posture.AWS: "template.yaml", posture.Azure: "template.json"} {
		if _, kind, ok := scripts.Fill(p, name, scripts.Values{}); !ok || !strings.HasPrefix(kind, "application/") {
			t.Errorf("%s %s: found %v, Content-Type %q; want it found", p, name, ok, kind)
		}
	}
}
