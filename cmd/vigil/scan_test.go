package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vigil/frameworks"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/scan"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
	"vigil/internal/sim/world"
	"vigil/internal/terminal"
	"vigil/rules"
)

// simulatedAWS serves a simulated AWS in which each resource violates a rule with the
// probability flaws, and returns the flags to scan its account.
func simulatedAWS(t *testing.T, flaws float64) (flags []string, faults *gateway.Faults) {
	t.Helper()
	g := gatewaytest.Listen(t)
	cloud := simaws.New(simaws.Options{Seed: 1, Size: 20, Shares: world.Shares{Default: flaws}}, g.Faults)
	for _, host := range simaws.Hosts {
		g.Handle(host, cloud)
	}
	gatewaytest.Serve(t, g)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, g.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	key, secret := cloud.Identity()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": "",
	} {
		t.Setenv(name, value)
	}
	account := cloud.Account(0)
	return []string{"--gateway", g.Address(), "--gateway-ca", ca, "--role-arn", account.RoleArn, "--external-id", account.ExternalID}, g.Faults
}

// runScan runs a scan and returns its exit code and output.
func runScan(flags []string, more ...string) (code int, stdout, stderr string) {
	var out, problems strings.Builder
	args := append(append([]string{"scan", "aws"}, flags...), more...)
	code = run(args, nil, &out, &problems)
	return code, out.String(), problems.String()
}

func TestScanExitCodes(t *testing.T) {
	flags, faults := simulatedAWS(t, 1)
	dir := t.TempDir()
	file := filepath.Join(dir, "findings.csv")
	code, out, problems := runScan(flags, "--framework", "cis-aws-3.0", "--rule", "aws-iam-root-mfa", "--fail-on", "medium", "--output", file)
	if code != exitFindings || !strings.Contains(problems, "1 finding is medium or higher") {
		t.Errorf("exit %d: %s", code, problems)
	}
	for _, part := range []string{"High   Root user has no MFA device  aws-iam-root-mfa", ":root", "1 findings: 1 high, 0 medium, 0 low", "of 62 controls pass"} {
		if !strings.Contains(out, part) {
			t.Errorf("the report lacks %q:\n%s", part, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("colours although the output is not a terminal")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll(); err != nil || len(rows) != 2 || rows[1][1] != "aws-iam-root-mfa" {
		t.Errorf("file %q, %v", text, err)
	}
	if remaining, err := os.ReadDir(dir); err != nil || len(remaining) != 1 {
		t.Errorf("temporary files are left: %v, %v", remaining, err)
	}
	if code, out, _ := runScan(flags, "--rule", "aws-iam-root-mfa", "--format", "jsonl"); code != 0 || !strings.HasPrefix(out, `{"id":`) || strings.Count(out, "\n") != 1 {
		t.Errorf("exit %d, standard output %q", code, out)
	}
	if _, err := faults.Add(gateway.Fault{Match: gateway.Call{Service: "iam", Action: "GetAccountSummary"}, Kind: gateway.Deny}); err != nil {
		t.Fatal(err)
	}
	code, out, problems = runScan(flags, "--rule", "aws-iam-root-mfa", "--fail-on", "high")
	if code != exitUnknown || !strings.Contains(out, "iam:GetAccountSummary") {
		t.Errorf("unreadable resources: exit %d: %s%s", code, problems, out)
	}
	if code, _, problems := runScan(flags, "--rule", "aws-iam-root-mfa", "--fail-on", "high", "--unknown", "ignore", "-q"); code != 0 {
		t.Errorf("ignored unreadable resources: exit %d: %s", code, problems)
	}
}

func TestScanNamesServicesThatAreNotEnabled(t *testing.T) {
	flags, faults := simulatedAWS(t, 0)
	if _, err := faults.Add(gateway.Fault{Match: gateway.Call{Service: "guardduty"}, Kind: gateway.Off}); err != nil {
		t.Fatal(err)
	}
	code, out, problems := runScan(flags, "--rule", "aws-guardduty-s3", "--region", "us-east-1", "--fail-on", "low")
	if code != 0 || !strings.Contains(out, "Not enabled, so there is nothing to read:\n       AWS.GuardDuty in us-east-1\n") || strings.Contains(out, "Not everything could be read") {
		t.Errorf("exit %d: %s%s", code, problems, out)
	}
}

func TestScanNamesWhatARegionDoesNotOfferAndWhatIsGone(t *testing.T) {
	t.Parallel()
	r := &scanReport{results: []scan.Result{{Outcome: collect.Outcome{Collectors: map[posture.EntityType]posture.CollectorResult{
		"AWS.Macie.Session":     {NotOffered: []string{"ca-west-1", "mx-central-1"}},
		"AWS.Lightsail.Disk":    {NotOffered: []string{"a", "b", "c"}},
		"AWS.Lightsail.Machine": {NotOffered: []string{"a", "b", "c", "d"}},
		"AWS.Glue.Job":          {NotEnabled: []string{"a"}},
		"AWS.Glue.Crawler":      {NotEnabled: []string{"a"}},
		"AWS.SSM.Document":      {NotEnabled: []string{"a"}},
		"AWS.SSM.Parameter":     {Entities: 3},
		"AWS.S3.Bucket":         {Entities: 3, Gone: 2},
	}}}, {Outcome: collect.Outcome{Collectors: map[posture.EntityType]posture.CollectorResult{
		"GCP.SQL.Instance": {NotEnabled: []string{posture.Global}},
	}}}}}
	var out strings.Builder
	r.printUnavailable(&out)
	want := `
Not enabled, so there is nothing to read:
       AWS.Glue in a, AWS.SSM.Document in a, GCP.SQL

Not offered by the region, so there is nothing to read:
       AWS.Lightsail in 3 regions, AWS.Lightsail.Machine in d, AWS.Macie in ca-west-1 and mx-central-1

Listed but gone when their details were read:
       AWS.S3.Bucket: 2
`
	if out.String() != want {
		t.Errorf("printed %s\nwant %s", out.String(), want)
	}
}

// TestScanListsEveryReadError has two accounts with the same problems, and a type with an unread region and unread details in another.
func TestScanListsEveryReadError(t *testing.T) {
	t.Parallel()
	outcome := collect.Outcome{
		Unread: []collect.Unread{
			{Type: "AWS.EC2.Instance", Region: "eu-west-1", Why: "ec2:DescribeInstances is denied"},
			{Type: "AWS.IAM.User", Region: posture.Global, Why: "iam:ListUsers is denied"},
			{Type: "AWS.SQS.Queue", Region: "eu-west-1", Why: "not read in time"},
			{Type: "AWS.SQS.Queue", Region: "eu-west-2", Why: "not read in time"},
		},
		Collectors: map[posture.EntityType]posture.CollectorResult{
			"AWS.EC2.Instance": {Errors: []string{"eu-west-1: ec2:DescribeInstances is denied", "us-east-1: ec2:DescribeInstanceAttribute is denied"}},
			"AWS.IAM.User":     {Errors: []string{"iam:ListUsers is denied"}},
		},
	}
	r := &scanReport{results: []scan.Result{{Outcome: outcome}, {Outcome: outcome}}}
	var out strings.Builder
	r.printUnread(&out, terminal.StyleOf(&out))
	want := `
Not everything could be read; rules that need it have unknown results:
       AWS.EC2.Instance in eu-west-1: ec2:DescribeInstances is denied
       AWS.IAM.User: iam:ListUsers is denied
       AWS.SQS.Queue in 2 regions: not read in time
       AWS.EC2.Instance: us-east-1: ec2:DescribeInstanceAttribute is denied
`
	if out.String() != want {
		t.Errorf("printed %s\nwant %s", out.String(), want)
	}
}

func TestScanWithoutFindings(t *testing.T) {
	flags, _ := simulatedAWS(t, 0)
	if code, out, problems := runScan(flags, "--rule", "aws-iam-root-mfa", "--fail-on", "low"); code != 0 || !strings.Contains(out, "0 findings") {
		t.Errorf("exit %d: %s%s", code, problems, out)
	}
}

func TestScanRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string]string{
		"days=60":                                               "give RULE.NAME=VALUE, such as",
		"aws-iam-access-key-age-90.days":                        "give RULE.NAME=VALUE, such as",
		"aws-none.days=60":                                      `there is no rule "aws-none"`,
		"aws-iam-access-key-age-90.weeks=many":                  "is not a parameter of the rule",
		"aws-iam-access-key-age-90.days=many":                   `"many" is not a whole number`,
		"aws-iam-access-key-age-90.days=99999999999999999999":   "99999999999999999999 is too large a number",
		"aws-ec2-sg-permitted-ports.permittedTcpPorts=443,http": `"http" is not a whole number`,
	} {
		if code, _, problems := runScan(nil, "--parameter", pair); code != exitUsage || !strings.Contains(problems, "--parameter "+pair+": ") || !strings.Contains(problems, want) {
			t.Errorf("--parameter %s: exit %d: %s", pair, code, problems)
		}
	}
	for name, args := range map[string][]string{
		"a framework that does not exist": {"--framework", "cis-aws-99"},
		"a rule that does not exist":      {"--rule", "aws-none"},
		"a format that does not exist":    {"--format", "pdf"},
		"a file without a format":         {"--output", "findings"},
		"a level that does not exist":     {"--fail-on", "worst"},
		"a parameter without a rule":      {"--parameter", "days=60"},
		"a parameter without a value":     {"--parameter", "aws-iam-access-key-age-90.days"},
		"a parameter that does not exist": {"--parameter", "aws-iam-access-key-age-90.weeks=3"},
		"a parameter of a missing rule":   {"--parameter", "aws-none.days=60"},
		"a parameter that is no number":   {"--parameter", "aws-iam-access-key-age-90.days=many"},
		"a parameter that is too large":   {"--parameter", "aws-iam-access-key-age-90.days=99999999"},
		"an invalid role":                 {"--role-arn", "vigil", "--endpoint", "http://127.0.0.1:1"},
	} {
		if code, _, problems := runScan(nil, args...); code != exitUsage {
			t.Errorf("%s: exit %d, want %d: %s", name, code, exitUsage, problems)
		}
	}
}

func TestScanParametersSetRules(t *testing.T) {
	t.Parallel()
	known, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		t.Fatal(err)
	}
	flags := scanFlags{Parameter: []string{
		"aws-iam-access-key-age-90.days=60", "aws-permitted-region-bucket.permittedRegions=eu-west-1, eu-central-1", "aws-ec2-sg-permitted-ports.permittedTcpPorts=443",
	}}
	chosen, err := flags.rules(known)
	if err != nil {
		t.Fatal(err)
	}
	want := map[posture.RuleID]string{
		"aws-iam-access-key-age-90": `"days":60`, "aws-permitted-region-bucket": `["eu-west-1","eu-central-1"]`, "aws-ec2-sg-permitted-ports": `"permittedTcpPorts":[443]`,
		"aws-permitted-region-instance": `["any"]`,
	}
	for _, r := range chosen {
		if text, ok := want[r.ID]; ok && !strings.Contains(r.Query.Bound, text) {
			t.Errorf("%s has %s, want %s", r.ID, r.Query.Bound, text)
		}
		delete(want, r.ID)
	}
	if len(chosen) != len(known.Rules) || len(want) > 0 {
		t.Errorf("%d of %d rules, without %v", len(chosen), len(known.Rules), want)
	}
}
