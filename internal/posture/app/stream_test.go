package app_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/app"
	"vigil/internal/posture/clouds"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	simaws "vigil/internal/sim/aws"
	simazure "vigil/internal/sim/azure"
	"vigil/internal/sim/events"
	"vigil/internal/sim/gateway"
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
	"vigil/internal/sqldb/dbtest"
)

// A cloudFixture is the three simulated clouds with their events, and a server that collects
// them.
type cloudFixture struct {
	aws       *simaws.Cloud
	azure     *simazure.Cloud
	gcp       *simgcp.Cloud
	publisher *events.Publisher
	*client
}

// newCloudFixture starts a fixture over a database, with one account in each cloud.
func newCloudFixture(t *testing.T, dsn string) *cloudFixture { return newCloudFixtureOf(t, dsn, 1) }

// newCloudFixtureOf starts a fixture with several accounts in each cloud.
func newCloudFixtureOf(t *testing.T, dsn string, accounts int, with ...func(*app.Options)) *cloudFixture {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.Listen("127.0.0.1:0", log)
	if err != nil {
		t.Fatal(err)
	}
	s := &cloudFixture{
		aws:       simaws.New(simaws.Options{Seed: 1, Size: 60, Accounts: accounts, Regions: []string{"us-east-1"}}, g.Faults),
		azure:     simazure.New(simazure.Options{Seed: 2, Size: 60, Subscriptions: accounts}, g.Faults),
		gcp:       simgcp.New(simgcp.Options{Seed: 3, Size: 60, Projects: accounts}, g.Faults),
		publisher: &events.Publisher{Client: http.DefaultClient, Log: log, Now: time.Now},
	}
	if s.publisher.SNS, err = events.NewSNS(time.Now); err != nil {
		t.Fatal(err)
	}
	if s.publisher.Google, err = events.NewGoogle(time.Now); err != nil {
		t.Fatal(err)
	}
	for _, host := range simaws.Hosts {
		g.Handle(host, s.aws)
	}
	for _, host := range simazure.Hosts {
		g.Handle(host, s.azure)
	}
	for _, host := range simgcp.Hosts {
		g.Handle(host, s.gcp)
	}
	g.Handle("sns.us-east-1.amazonaws.com", s.publisher.SNS.Handler(s.aws))
	g.Handle(events.KeysHost, s.publisher.Google.Handler(s.gcp))
	background(t, g.Serve)
	key, secret := s.aws.Identity()
	c, err := clouds.New(clouds.Options{
		AWS: aws.Identity{AccessKeyID: key, SecretAccessKey: secret}, Gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.client = serveClouds(t, dsn, c, with...)
	s.publisher.Start(t.Context())
	t.Cleanup(s.publisher.Wait)
	s.publisher.WatchAWS(s.aws)
	s.publisher.WatchGCP(s.gcp)
	return s
}

// serveClouds runs a server that collects from clouds, and returns an admin.
func serveClouds(t *testing.T, dsn string, c *clouds.Clouds, with ...func(*app.Options)) *client {
	t.Helper()
	o := app.Options{
		Cloud: c, Sources: c.Sources(), Client: c.Client(), Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, f := range with {
		f(&o)
	}
	in, base := launch(t, dsn, o)
	admin, _, _ := newOrg(t, in, base, "org")
	return admin
}

// onboard adds an account with its credential, and waits until it is collected.
func (s *cloudFixture) onboard(p posture.Provider, idProperty, id string, credential ...object) {
	s.t.Helper()
	base := "/v1/providers/" + string(p)
	s.want(201, "POST", base+"/cloud-accounts", object{"cloudAccountName": "a", "properties": []object{textProperty(idProperty, id)}})
	c := s.want(201, "POST", base+"/cloud-credentials", object{"properties": credential}).member("credentialId")
	s.want(201, "POST", base+"/account-credential-relationship", object{"cloudAccountId": id, "credentialId": c})
	if run := s.waitRun(id); run["status"] != "Completed" && run["status"] != "CompletedWithErrors" {
		s.t.Fatalf("the run of %s is %v", id, run)
	}
}

// subscribe opens the account's stream and makes its cloud send events to it.
func (s *cloudFixture) subscribe(id string) events.Stream {
	s.t.Helper()
	answer := s.want(201, "POST", "/v1/cloud-accounts/"+id+"/event-stream", nil)
	var stream events.Stream
	if err := json.Unmarshal([]byte(answer.text), &stream); err != nil {
		s.t.Fatal(err)
	}
	if err := s.publisher.Subscribe(s.t.Context(), stream); err != nil {
		s.t.Fatal(err)
	}
	record := s.want(200, "GET", "/v1/cloud-accounts/"+id, nil)
	if status, _ := record.body["eventStreamStatus"].(object); status["value"] != "connected" {
		s.t.Errorf("after the handshake of %s: %v", id, status)
	}
	return stream
}

// findings returns the rules that an entity violates.
func (s *cloudFixture) findings(entity posture.EntityID) map[string]bool {
	s.t.Helper()
	got := s.want(200, "POST", "/v2/findings/query", object{"filters": object{"objectIds": []string{string(entity)}, "status": "Open"}})
	rules := map[string]bool{}
	results, _ := got.body["results"].([]any)
	for _, r := range results {
		rule, _ := r.(object)["ruleId"].(string)
		rules[rule] = true
	}
	return rules
}

// awaitFinding waits until an entity violates a rule, or no longer does.
func (s *cloudFixture) awaitFinding(entity posture.EntityID, rule string, want bool) {
	s.t.Helper()
	begin := time.Now()
	for time.Since(begin) < 5*time.Minute {
		if s.findings(entity)[rule] == want {
			s.t.Logf("finding of %s open: %v, after %s", rule, want, time.Since(begin).Round(time.Millisecond))
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("after %s, want that a finding of %s about %s is open: %v; the open findings are %v", time.Since(begin).Round(time.Second), rule, entity, want, s.findings(entity))
}

// TestChangeInTheCloudBecomesAFinding makes a change in each of the clouds, whose event
// must lead to a finding, and corrects it, which must resolve the finding.
func TestChangeInTheCloudBecomesAFinding(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		s := newCloudFixture(t, dsn)
		s.changeAWS()
		s.changeAzure()
		s.changeGCP()
	})
}

func (s *cloudFixture) changeAWS() {
	account := s.aws.Account(0)
	s.onboard(posture.AWS, "accountId", account.ID, textProperty("RoleArn", account.RoleArn), textProperty("ExternalId", account.ExternalID))
	s.subscribe(account.ID)
	place := world.Place{Account: account.ID, Region: "us-east-1"}
	vpc, _, _ := s.aws.Resource("AWS.EC2.Vpc", place, 0)
	const name = "sg-0123456789abcdef0"
	open := func(cidr string) world.Object {
		return world.Obj("ipPermissions", world.Items(world.Obj("ipProtocol", "tcp", "fromPort", 22, "toPort", 22, "ipRanges", world.Items(world.Obj("cidrIp", cidr)))))
	}
	ref := world.Ref{Type: "AWS.EC2.SecurityGroup", Place: place, Name: name}
	entity := posture.EntityType("AWS.EC2.SecurityGroup").ID(posture.AccountID(account.ID), "us-east-1", name)
	group := append(world.Obj("groupId", name, "groupName", "scripted", "groupDescription", "made in a test", "ownerId", account.ID, "vpcId", vpc,
		"ipPermissionsEgress", []any{}), open("0.0.0.0/0")...)
	s.requireNoError(s.aws.Change(world.Change{Ref: ref, Make: group}))
	s.awaitFinding(entity, "aws-ec2-sg-ssh-open", true)
	s.requireNoError(s.aws.Change(world.Change{Ref: ref, Patch: open("10.0.0.0/8")}))
	s.awaitFinding(entity, "aws-ec2-sg-ssh-open", false)
	s.requireNoError(s.aws.Change(world.Change{Ref: ref, Patch: open("0.0.0.0/0")}))
	s.awaitFinding(entity, "aws-ec2-sg-ssh-open", true)
	s.requireNoError(s.aws.Change(world.Change{Ref: ref, Gone: true}))
	s.awaitFinding(entity, "aws-ec2-sg-ssh-open", false)
	s.want(404, "GET", "/v1/entities/"+string(entity), nil)
}

// requireNoError fails the test if a change failed.
func (s *cloudFixture) requireNoError(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *cloudFixture) changeAzure() {
	sub, reader := s.azure.Subscriptions()[0], s.azure.Reader(simazure.PublicCloud)
	s.onboard(posture.Azure, "subscriptionId", sub.ID, textProperty("ApplicationId", reader.Application),
		textProperty("ApplicationKey", reader.Key), textProperty("DirectoryId", reader.Tenant))
	s.subscribe(sub.ID)
	id := "/subscriptions/" + sub.ID + "/resourceGroups/rg-1/providers/Microsoft.Network/networkSecurityGroups/nsg-90001"
	open := func(from string) world.Object {
		return world.Obj("properties", world.Obj("securityRules", world.Items(world.Obj("name", "ssh", "properties", world.Obj(
			"priority", 100, "direction", "Inbound", "access", "Allow", "protocol", "Tcp", "sourceAddressPrefix", from, "sourcePortRange", "*",
			"destinationAddressPrefix", "*", "destinationPortRange", "22")))))
	}
	entity := posture.EntityID("Azure.Network." + strings.ToLower(sub.ID) + ".rg-1.NetworkSecurityGroup.nsg-90001")
	s.requireNoError(s.publisher.ChangeAzure(s.azure, simazure.Change{ID: id, Make: append(world.Obj("location", "eastus"), open("*")...)}))
	s.awaitFinding(entity, "azure-nsg-ssh-open", true)
	s.requireNoError(s.publisher.ChangeAzure(s.azure, simazure.Change{ID: id, Patch: open("10.0.0.0/8")}))
	s.awaitFinding(entity, "azure-nsg-ssh-open", false)
	s.requireNoError(s.publisher.ChangeAzure(s.azure, simazure.Change{ID: id, Patch: open("Internet")}))
	s.awaitFinding(entity, "azure-nsg-ssh-open", true)
	s.requireNoError(s.publisher.ChangeAzure(s.azure, simazure.Change{ID: id, Gone: true}))
	s.awaitFinding(entity, "azure-nsg-ssh-open", false)
}

func (s *cloudFixture) changeGCP() {
	project, reader := s.gcp.Projects()[0], s.gcp.Reader()
	s.onboard(posture.GCP, "projectId", project.ID, textProperty("ServiceAccountEmail", reader.Email), textProperty("ServiceAccountKey", reader.Key))
	s.subscribe(project.ID)
	link := fmt.Sprintf("https://www.googleapis.com/compute/v1/projects/%s/global/", project.ID)
	firewall := simgcp.Change{Type: "GCP.Compute.Firewall", Project: project.ID, Name: "scripted"}
	entity := posture.EntityID("GCP.Compute." + project.ID + ".global.Firewall.scripted")
	changeWith := func(f func(c *simgcp.Change)) simgcp.Change {
		c := firewall
		f(&c)
		return c
	}
	s.requireNoError(s.gcp.Change(changeWith(func(c *simgcp.Change) {
		c.Make = world.Obj("name", "scripted", "selfLink", link+"firewalls/scripted", "network", link+"networks/vpc-00001", "direction", "INGRESS",
			"priority", 1000, "disabled", false, "sourceRanges", world.Items("0.0.0.0/0"),
			"allowed", world.Items(world.Obj("IPProtocol", "tcp", "ports", world.Items("22"))))
	})))
	s.awaitFinding(entity, "gcp-fw-ssh-open", true)
	s.requireNoError(s.gcp.Change(changeWith(func(c *simgcp.Change) { c.Patch = world.Obj("sourceRanges", world.Items("10.0.0.0/8")) })))
	s.awaitFinding(entity, "gcp-fw-ssh-open", false)
	s.requireNoError(s.gcp.Change(changeWith(func(c *simgcp.Change) { c.Patch = world.Obj("sourceRanges", world.Items("0.0.0.0/0")) })))
	s.awaitFinding(entity, "gcp-fw-ssh-open", true)
	s.requireNoError(s.gcp.Change(changeWith(func(c *simgcp.Change) { c.Gone = true })))
	s.awaitFinding(entity, "gcp-fw-ssh-open", false)
}
