package scan_test

import (
	"encoding/base64"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"vigil/frameworks"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/scan"
	simaws "vigil/internal/sim/aws"
	simazure "vigil/internal/sim/azure"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
	"vigil/rules"
)

var (
	today  = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	shares = world.Shares{Default: 0.3}
)

// clouds are simulated clouds behind one gateway.
type clouds struct {
	aws     *simaws.Cloud
	azure   *simazure.Cloud
	gcp     *simgcp.Cloud
	faults  *gateway.Faults
	gateway *egress.Gateway
}

func simulate(t *testing.T) *clouds {
	t.Helper()
	g := gatewaytest.Listen(t)
	c := &clouds{
		aws:    simaws.New(simaws.Options{Seed: 1, Size: 60, Shares: shares, Today: today}, g.Faults),
		azure:  simazure.New(simazure.Options{Seed: 2, Subscriptions: 2, Size: 60, Shares: shares, Today: today}, g.Faults),
		gcp:    simgcp.New(simgcp.Options{Seed: 3, Projects: 1, Size: 60, Shares: shares, Today: today}, g.Faults),
		faults: g.Faults, gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()},
	}
	for _, host := range simaws.Hosts {
		g.Handle(host, c.aws)
	}
	for _, host := range simazure.Hosts {
		g.Handle(host, c.azure)
	}
	for _, host := range simgcp.Hosts {
		g.Handle(host, c.gcp)
	}
	gatewaytest.Serve(t, g)
	return c
}

// useAWS sets the environment variables to session credentials of the first account.
func (c *clouds) useAWS(t *testing.T) {
	t.Helper()
	out, err := egress.New(egress.Options{Gateway: c.gateway})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	key, secret := c.aws.Identity()
	client, err := awsapi.New(awsapi.Options{HTTP: out.Client(), Credentials: credentials.NewStaticCredentialsProvider(key, secret, "")})
	if err != nil {
		t.Fatal(err)
	}
	account := c.aws.Account(0)
	session, err := client.AssumeRole(awsapi.Role{ARN: account.RoleArn, ExternalID: account.ExternalID, SessionName: "test", Region: "us-east-1"}).Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	setenv(t, map[string]string{
		"AWS_ACCESS_KEY_ID": session.AccessKeyID, "AWS_SECRET_ACCESS_KEY": session.SecretAccessKey, "AWS_SESSION_TOKEN": session.SessionToken,
		"AWS_REGION": "us-east-1", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
	})
}

// useAzure sets the environment variables to an application that may read everything.
func (c *clouds) useAzure(t *testing.T) {
	t.Helper()
	reader := c.azure.Reader(simazure.PublicCloud)
	setenv(t, map[string]string{"AZURE_TENANT_ID": reader.Tenant, "AZURE_CLIENT_ID": reader.Application, "AZURE_CLIENT_SECRET": reader.Key})
}

// useGCP sets the environment variables to a service account that may read everything, and
// returns its project.
func (c *clouds) useGCP(t *testing.T) (project string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key.json")
	key, err := base64.StdEncoding.DecodeString(c.gcp.Reader().Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
	project = c.gcp.Projects()[0].ID
	setenv(t, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file, "GOOGLE_CLOUD_PROJECT": project})
	return project
}

func setenv(t *testing.T, all map[string]string) {
	t.Helper()
	for name, value := range all {
		t.Setenv(name, value)
	}
}

// shipped loads the built-in rules once for all tests.
var shipped = sync.OnceValues(func() (*catalog.Catalog, error) { return catalog.Load(rules.Files, frameworks.Files) })

// allRules returns a new slice of the built-in rules.
func allRules(t *testing.T) []posture.Rule {
	t.Helper()
	c, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]posture.Rule, len(c.Rules))
	for i, e := range c.Rules {
		all[i] = e.Rule
	}
	return all
}

func options(t *testing.T, target scan.Target) scan.Options {
	return scan.Options{
		Source: target.Source, Access: target.Access, Rules: allRules(t), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return today },
	}
}

// only keeps the rules of some services, so that fewer types are collected.
func only(o scan.Options, services ...string) scan.Options {
	o.Rules = slices.DeleteFunc(slices.Clone(o.Rules), func(r posture.Rule) bool { return !slices.Contains(services, r.Service) })
	return o
}

// compareFindings compares the findings of a scan with those that the simulated cloud
// was generated with, for the rules that the cloud has data for.
func compareFindings(t *testing.T, got scan.Result, want iter.Seq[world.Finding]) {
	t.Helper()
	key := func(rule, entity string) string { return rule + " " + entity }
	found, expected, known := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for f := range want {
		expected[key(f.Rule, string(f.Entity))], known[f.Rule] = true, true
	}
	all := map[posture.FindingID]bool{}
	for _, f := range got.Findings {
		all[f.ID] = true
		if known[string(f.Rule)] {
			found[key(string(f.Rule), string(f.Object))] = true
		}
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(expected)), slices.Sorted(maps.Keys(found))); d != "" || len(found) == 0 {
		t.Errorf("findings (-want +got), %d wanted:\n%s", len(expected), d)
	}
	if len(all) != len(got.Findings) {
		t.Errorf("%d findings, %d distinct ids", len(got.Findings), len(all))
	}
}

func TestScanAWSWithCredentialsOfTheEnvironment(t *testing.T) {
	c := simulate(t)
	c.useAWS(t)
	targets, err := scan.AWS{Gateway: c.gateway}.Targets(t.Context())
	if err != nil || len(targets) != 1 {
		t.Fatalf("targets %v, %v", targets, err)
	}
	account := c.aws.Account(0).ID
	if got := string(targets[0].Access.Account.ID); got != account || targets[0].As == "" {
		t.Errorf("account %s as %q, want %s", got, targets[0].As, account)
	}
	o := options(t, targets[0])
	last := collect.Progress{}
	o.Progress = func(p collect.Progress) { last = p }
	got, err := scan.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	compareFindings(t, got, slices.Values(c.aws.Findings(account)))
	if last.Done != last.Units || last.Units == 0 || last.Entities != got.Outcome.Entities {
		t.Errorf("progress ended at %+v", last)
	}
	for i, f := range got.Findings {
		if f.XID == "" || f.Created.IsZero() || f.ID == "" || f.Status != posture.FindingOpen {
			t.Fatalf("finding %+v", f)
		}
		if i > 0 && f.Risk.Score > got.Findings[i-1].Risk.Score {
			t.Fatalf("finding %d is riskier than the one before", i)
		}
	}
}

func TestOnlyTypesThatRulesReadAreCollected(t *testing.T) {
	c := simulate(t)
	c.useAWS(t)
	targets, err := scan.AWS{Gateway: c.gateway}.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, targets[0])
	o.Rules = slices.DeleteFunc(o.Rules, func(r posture.Rule) bool { return r.ID != "aws-iam-root-mfa" })
	all := 0
	o.Each = func(posture.Entity) error { all++; return nil }
	got, err := scan.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if all != got.Outcome.Entities || all == 0 || len(got.Outcome.Collectors) > 5 {
		t.Errorf("%d entities of %d types, %d passed to Each", got.Outcome.Entities, len(got.Outcome.Collectors), all)
	}
	o.AllTypes = true
	got, err = scan.Run(t.Context(), o)
	if err != nil || len(got.Outcome.Collectors) < 100 {
		t.Errorf("all types: %d, %v", len(got.Outcome.Collectors), err)
	}
}

func TestScanOneRegion(t *testing.T) {
	c := simulate(t)
	c.useAWS(t)
	targets, err := scan.AWS{Gateway: c.gateway}.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := only(options(t, targets[0]), "EC2", "IAM")
	o.Regions = []string{"eu-west-1"}
	got, err := scan.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	regions := map[string]bool{}
	for _, f := range got.Findings {
		regions[f.Region] = true
	}
	if regions["us-east-1"] || !regions["eu-west-1"] || !regions[posture.Global] {
		t.Errorf("findings in %v", regions)
	}
	if got, err = scan.Run(t.Context(), only(o, "IAM")); err != nil || len(got.Findings) == 0 {
		t.Errorf("rules about global resources: %d findings, %v", len(got.Findings), err)
	}
	o.Regions = []string{"eu-wets-1"} // misspelled on purpose
	if _, err := scan.Run(t.Context(), o); !fault.Is(err, fault.Invalid) {
		t.Errorf("a region that does not exist: %v", err)
	}
}

// TestScanOneRegionWithoutTheList scans a region with a role that may not list regions.
func TestScanOneRegionWithoutTheList(t *testing.T) {
	c := simulate(t)
	c.useAWS(t)
	targets, err := scan.AWS{Gateway: c.gateway}.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.faults.Add(gateway.Fault{Match: gateway.Call{Service: "ec2", Action: "DescribeRegions"}, Kind: gateway.Deny}); err != nil {
		t.Fatal(err)
	}
	o := only(options(t, targets[0]), "EC2")
	o.Regions = []string{"eu-west-1"}
	got, err := scan.Run(t.Context(), o)
	if err != nil || !slices.ContainsFunc(got.Findings, func(f posture.Finding) bool { return f.Region == "eu-west-1" }) {
		t.Errorf("%d findings, %v", len(got.Findings), err)
	}
}

func TestUnreadableTypesHaveNoFindings(t *testing.T) {
	c := simulate(t)
	c.useAWS(t)
	targets, err := scan.AWS{Gateway: c.gateway}.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	deny := gateway.Fault{Match: gateway.Call{Service: "s3", Action: "ListBuckets"}, Kind: gateway.Deny}
	if _, err := c.faults.Add(deny); err != nil {
		t.Fatal(err)
	}
	got, err := scan.Run(t.Context(), only(options(t, targets[0]), "S3", "IAM"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Outcome.Unread) == 0 || got.Outcome.Unread[0].Type != "AWS.S3.Bucket" {
		t.Errorf("unread %+v", got.Outcome.Unread)
	}
	for _, f := range got.Findings {
		if f.Type == "AWS.S3.Bucket" {
			t.Errorf("finding for a type that was not read: %+v", f)
		}
	}
}

func TestScanByAssumedRole(t *testing.T) {
	c := simulate(t)
	key, secret := c.aws.Identity()
	setenv(t, map[string]string{"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": "", "AWS_REGION": "us-east-1"})
	account := c.aws.Account(0)
	targets, err := scan.AWS{Gateway: c.gateway, RoleARN: account.RoleArn, ExternalID: account.ExternalID}.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := scan.Run(t.Context(), only(options(t, targets[0]), "IAM"))
	if err != nil || len(got.Findings) == 0 {
		t.Fatalf("%d findings, %v", len(got.Findings), err)
	}
	targets, err = scan.AWS{Gateway: c.gateway, RoleARN: account.DeniedRoleArn, ExternalID: account.ExternalID}.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scan.Run(t.Context(), only(options(t, targets[0]), "IAM")); err == nil {
		t.Error("a scan with a role without permissions succeeded")
	}
}

func TestScanAzureWithCredentialsOfTheEnvironment(t *testing.T) {
	c := simulate(t)
	c.useAzure(t)
	targets, err := scan.Azure{Gateway: c.gateway}.Targets(t.Context())
	if err != nil || len(targets) != 2 {
		t.Fatalf("targets %v, %v", targets, err)
	}
	got, err := scan.Run(t.Context(), options(t, targets[1]))
	if err != nil {
		t.Fatal(err)
	}
	compareFindings(t, got, c.azure.Findings(string(targets[1].Access.Account.ID)))
}

// TestOtherErrorsAreNotAMissingLogin lists the subscriptions without the permission to do so.
// The error must not propose to log in. With credentials that Azure refuses, it must.
func TestOtherErrorsAreNotAMissingLogin(t *testing.T) {
	c := simulate(t)
	c.useAzure(t)
	id, err := c.faults.Add(gateway.Fault{Match: gateway.Call{Action: "subscriptions/read"}, Kind: gateway.Deny})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (scan.Azure{Gateway: c.gateway}).Targets(t.Context()); !fault.Is(err, fault.Invalid) || contains(err.Error(), "az login") {
		t.Errorf("without the permission: %v", err)
	}
	c.faults.Remove(id)
	t.Setenv("AZURE_CLIENT_SECRET", "wrong")
	if _, err := (scan.Azure{Gateway: c.gateway}).Targets(t.Context()); !fault.Is(err, fault.Unauthenticated) || !contains(err.Error(), "az login") {
		t.Errorf("with a wrong secret: %v", err)
	}
}

func TestScanGCPWithCredentialsOfTheEnvironment(t *testing.T) {
	c := simulate(t)
	project := c.useGCP(t)
	targets, err := scan.GCP{Gateway: c.gateway}.Targets(t.Context())
	if err != nil || len(targets) != 1 {
		t.Fatalf("targets %v, %v", targets, err)
	}
	got, err := scan.Run(t.Context(), options(t, targets[0]))
	if err != nil {
		t.Fatal(err)
	}
	compareFindings(t, got, c.gcp.Findings(project))
}

func TestMissingCredentialsErrorSaysWhatToDo(t *testing.T) {
	setenv(t, map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "",
	})
	_, err := scan.AWS{Endpoint: "http://127.0.0.1:1"}.Targets(t.Context())
	if err == nil || !contains(err.Error(), "AWS_ACCESS_KEY_ID", "aws sso login") {
		t.Errorf("got %v", err)
	}
	if _, err := (scan.AWS{RoleARN: "vigil", Endpoint: "http://127.0.0.1:1"}).Targets(t.Context()); !fault.Is(err, fault.Invalid) {
		t.Errorf("a role without its account: %v", err)
	}
}

func contains(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
}
