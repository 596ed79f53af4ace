package app_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/declared"
)

// TestPeerScripts runs the scripts with the real AWS CLI against moto, an independent
// implementation. It is skipped unless VIGIL_TEST_MOTO has the address of a moto
// server; aws must be installed.
func TestPeerScripts(t *testing.T) {
	address := os.Getenv("VIGIL_TEST_MOTO")
	if address == "" {
		t.Skip("VIGIL_TEST_MOTO does not name a moto server")
	}
	awsCommand, err := exec.LookPath("aws")
	if err != nil {
		t.Fatal("aws is not installed")
	}
	answer, err := http.Post("http://"+address+"/moto-api/reset", "", nil) // remove resources of other tests
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": "http://" + address, "AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1",
	} {
		t.Setenv(name, value)
	}
	d := newScriptFixture(t)
	if err := os.Remove(filepath.Join(d.dir, "aws")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(awsCommand, filepath.Join(d.dir, "aws")); err != nil {
		t.Fatal(err)
	}
	d.wait = 1 // moto sends no events and the server cannot read it, so waiting is useless
	// moto's default account is that of the caller; the other is reached through a
	// role.
	const ownAccount, otherAccount = "123456789012", "200000000002"
	runAWS := func(arguments ...string) string {
		text, _ := exec.CommandContext(t.Context(), awsCommand, append(arguments, "--output", "text")...).CombinedOutput()
		return strings.TrimSpace(string(text))
	}
	runAWS("iam", "create-role", "--role-name", "OrganizationAccountAccessRole", "--assume-role-policy-document", "{}")
	runAWS("s3api", "create-bucket", "--bucket", "trail-of-all")
	runAWS("cloudtrail", "create-trail", "--name", "all", "--s3-bucket-name", "trail-of-all")
	runAWS("cloudtrail", "start-logging", "--name", "all")

	for _, option := range []string{"", "--cloudformation"} {
		ids := []string{ownAccount, otherAccount}
		if option != "" { // only the own account
			ids = ids[:1]
		}
		arguments := slices.Concat(strings.Fields(option), ids)
		for range times(option) {
			// link.sh fails in the end, because the server cannot read moto.
			printed, err := d.bash(posture.AWS, "link.sh", arguments...)
			if err == nil || strings.Count(printed, "linked, but its status is") != len(ids) {
				t.Fatalf("link %s: %v\n%s", option, err, printed)
			}
		}
		if got := runAWS("iam", "get-role", "--role-name", "vigil-reader", "--query", "Role.AssumeRolePolicyDocument.Statement[0].Principal.AWS"); got != "arn:aws:iam::111111111111:user/collector" {
			t.Errorf("link %s: the role trusts %s", option, got)
		}
		query := []string{"iam", "list-attached-role-policies", "--role-name", "vigil-reader", "--query", "length(AttachedPolicies)"}
		if option != "" { // moto does not attach the policies of a template
			query = []string{"iam", "list-policies", "--scope", "Local", "--query", "length(Policies)"}
		}
		if got, count := runAWS(query...), strconv.Itoa(len(aws.Policies(declared.Catalog()))); got != count {
			t.Errorf("link %s: the role has %s policies, not %s", option, got, count)
		}
		first := "arn:aws:iam::" + ownAccount + ":policy/vigil-reader-1"
		// moto prints the policy of a template in another format.
		if policy := runAWS("iam", "get-policy-version", "--policy-arn", first, "--version-id", "v1", "--query", "PolicyVersion.Document"); strings.Count(policy, "Allow") != 1 || strings.Count(policy, "Deny") != 1 {
			t.Errorf("link %s: the policy is %s", option, policy)
		}
		if option == "" {
			d.peerUpdate(ownAccount, first, runAWS)
		}
		for range times(option) {
			if printed, err := d.bash(posture.AWS, "unlink.sh", ids...); err != nil {
				t.Fatalf("unlink %s: %v\n%s", option, err, printed)
			}
		}
		if got := runAWS("iam", "list-roles", "--query", "Roles[?RoleName=='vigil-reader'].RoleName"); got != "" {
			t.Errorf("unlink %s: %s is left", option, got)
		}
		// moto does not delete the policies of a stack.
		if got := runAWS("iam", "list-policies", "--scope", "Local", "--query", "Policies[].PolicyName"); got != "" && option == "" {
			t.Errorf("unlink %s: the policies %s are left", option, got)
		}
	}
	d.peerStreams(ownAccount, runAWS)
}

// peerUpdate links an account whose role has an inline policy, and a managed policy with
// other permissions and as many versions as IAM permits.
func (d *scriptFixture) peerUpdate(id, policy string, runAWS func(...string) string) {
	t := d.t
	if got := runAWS("iam", "list-policy-versions", "--policy-arn", policy, "--query", "length(Versions)"); got != "1" {
		t.Errorf("the policy has %s versions after it was linked twice", got)
	}
	const old = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:DescribeVpcs"],"Resource":"*"}]}`
	runAWS("iam", "put-role-policy", "--role-name", "vigil-reader", "--policy-name", "read-configuration", "--policy-document", old)
	for range 4 {
		runAWS("iam", "create-policy-version", "--policy-arn", policy, "--policy-document", old, "--set-as-default")
	}
	printed, err := d.bash(posture.AWS, "link.sh", id)
	if err == nil || !strings.Contains(printed, "linked, but its status is") {
		t.Fatalf("update: %v\n%s", err, printed)
	}
	if got := runAWS("iam", "list-policy-versions", "--policy-arn", policy, "--query", "sort(Versions[].VersionId)"); got != "v2\tv3\tv4\tv5\tv6" {
		t.Errorf("the versions are %s\n%s", got, printed)
	}
	if got := runAWS("iam", "get-policy", "--policy-arn", policy, "--query", "Policy.DefaultVersionId"); got != "v6" {
		t.Errorf("the default version is %s", got)
	}
	if got := runAWS("iam", "list-role-policies", "--role-name", "vigil-reader", "--query", "PolicyNames"); got != "" {
		t.Errorf("the inline policy %s is left", got)
	}
}

// times returns how often each step is run: twice without an option, otherwise once. A real
// command takes a second to start, and moto fails on an unchanged stack, where AWS reports
// that there is nothing to do.
func times(option string) int {
	if option == "" {
		return 2
	}
	return 1
}

// peerStreams sets up a stream in moto in every way and removes it.
func (d *scriptFixture) peerStreams(id string, runAWS func(...string) string) {
	t := d.t
	d.do("POST", "/v1/providers/aws/cloud-accounts", object{"cloudAccountName": "a", "properties": []object{textProperty("accountId", id)}})
	for _, option := range []string{"", "--cloudformation", "--api-destination"} {
		arguments := slices.Concat(strings.Fields(option), []string{"--regions", "us-east-1 eu-west-1", id})
		for range times(option) {
			printed, err := d.bash(posture.AWS, "setup.sh", arguments...)
			// With --api-destination, the script itself tells the server that the stream is connected. Otherwise
			// a message of SNS would, but moto sends none.
			if connected := option == "--api-destination"; connected != (err == nil) || !connected && !strings.Contains(printed, "the server has not received a message yet") {
				t.Fatalf("set up %s: %v\n%s", option, err, printed)
			}
		}
		if got := runAWS("events", "list-rules", "--region", "eu-west-1", "--query", "length(Rules)"); got != "1" {
			t.Errorf("set up %s: %s rules", option, got)
		}
		if got := runAWS("events", "list-rules", "--query", "length(Rules)"); got != "2" {
			t.Errorf("set up %s: %s rules in the home region", option, got)
		}
		want := d.base + "/events/aws"
		if option != "" { // moto does not support subscriptions in templates
			want = ""
		}
		if got := runAWS("sns", "list-subscriptions", "--region", "eu-west-1", "--query", "Subscriptions[].Endpoint"); got != want {
			t.Errorf("set up %s: subscribed is %q", option, got)
		}
		for range times(option) {
			if printed, err := d.bash(posture.AWS, "teardown.sh", "--regions", "us-east-1 eu-west-1", id); err != nil {
				t.Fatalf("tear down %s: %v\n%s", option, err, printed)
			}
		}
		for what, query := range map[string][]string{
			"rules": {"events", "list-rules"}, "topics": {"sns", "list-topics"}, "connections": {"events", "list-connections"}, "destinations": {"events", "list-api-destinations"},
		} {
			if got := runAWS(query...); got != "" {
				t.Errorf("torn down %s: left are %s %s", option, what, got)
			}
		}
	}
}
