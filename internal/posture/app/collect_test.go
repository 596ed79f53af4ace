package app_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/app"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sqldb/dbtest"
)

// awsOnly implements posture.Cloud for AWS only.
type awsOnly struct{ *aws.Source }

func (awsOnly) Discover(context.Context, posture.ServiceAccountKey) ([]posture.Project, error) {
	return nil, nil
}

func (awsOnly) Subscriptions(context.Context, posture.Access, string) ([]posture.Subscription, error) {
	return nil, nil
}

// TestOnboardAndCollect adds, links, validates and collects an account of a simulated
// AWS over its real protocols.
func TestOnboardAndCollect(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		cloud := simaws.New(simaws.Options{Seed: 1, Accounts: 1, Size: 60}, g.Faults)
		for _, host := range simaws.Hosts {
			g.Handle(host, cloud)
		}
		background(t, g.Serve)
		key, secret := cloud.Identity()
		transport, err := egress.New(egress.Options{Gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()}})
		if err != nil {
			t.Fatal(err)
		}
		source := aws.New(aws.Options{HTTP: &http.Client{Transport: transport}, Identity: aws.Identity{AccessKeyID: key, SecretAccessKey: secret}})
		c, account := startCollecting(t, dsn, source), cloud.Account(0)

		c.want(201, "POST", accounts, awsAccount(account.ID))
		id := c.want(201, "POST", credentials, object{"properties": []object{
			textProperty("RoleArn", account.RoleArn), textProperty("ExternalId", account.ExternalID),
		}}).member("credentialId")
		c.want(201, "POST", relationships, object{"cloudAccountId": account.ID, "credentialId": id})

		run := c.waitRun(account.ID)
		if run["status"] != "Completed" {
			t.Fatalf("the run is %v: %v", run["status"], run)
		}
		got := c.want(200, "GET", accounts+"/"+account.ID, nil)
		if s, _ := got.body["rollupStatus"].(object); s["value"] != "healthy" {
			t.Errorf("rollupStatus %v", s)
		}
		checkCollectionSettings(t, c, account.ID)
	})
}

// checkCollectionSettings sets when an account is collected and which regions are read.
func checkCollectionSettings(t *testing.T, c *client, account string) {
	t.Helper()
	const plan = "/v1/collection-plan"
	settings := "/v1/cloud-accounts/" + account + "/collection-settings"
	if got := c.want(200, "GET", plan, nil).body; got["everyHours"] != 12.0 || got["paused"] != false {
		t.Errorf("default plan %v", got)
	}
	c.want(400, "PUT", plan, object{"everyHours": 0})
	c.want(400, "PUT", plan, object{"everyHours": 169})
	c.want(400, "PUT", plan, object{})
	c.want(400, "PUT", settings, object{"everyHours": 0})
	c.want(400, "PUT", settings, object{"regions": []string{"global"}})
	c.want(404, "GET", "/v1/cloud-accounts/none/collection-settings", nil)
	c.want(412, "PUT", settings, object{}, "If-Match", "other")
	c.want(200, "PUT", plan, object{"everyHours": 24, "paused": true})
	if got := c.want(200, "GET", settings, nil).body; got["nextCollectionTime"] != nil || got["effective"].(object)["paused"] != true || got["everyHours"] != nil {
		t.Errorf("settings of an account with a paused plan: %v", got)
	}

	byRegion := func() (all []string) {
		found := c.want(200, "POST", "/v1/entities/aggregations-query", object{"filters": object{"cloudAccountIds": []string{account}}, "aggregations": object{"by": object{"fieldName": "region", "aggregationType": "Terms"}}})
		for region := range found.body["aggregations"].(object)["by"].(object)["buckets"].(object) {
			all = append(all, region)
		}
		slices.Sort(all)
		return all
	}
	before := byRegion() // the first region is kept below, so it must not be global
	if len(before) < 3 || before[0] == "global" {
		t.Fatalf("the account has entities in %v only", before)
	}
	c.want(200, "PUT", settings, object{"everyHours": 1, "paused": false, "regions": before[:1]})
	if got := c.want(200, "GET", settings, nil).body; got["nextCollectionTime"] == nil || got["everyHours"] != 1.0 {
		t.Errorf("settings %v", got)
	}
	c.want(202, "POST", "/v1/cloud-accounts/"+account+"/collections", nil)
	if run := c.waitRun(account); run["status"] != "Completed" {
		t.Fatalf("the run is %v: %v", run["status"], run)
	}
	if got := byRegion(); !slices.Equal(got, []string{before[0], "global"}) {
		t.Errorf("entities in %v, want %s and global", got, before[0])
	}
	c.want(200, "PUT", settings, object{})
	c.want(202, "POST", "/v1/cloud-accounts/"+account+"/collections", nil)
	c.waitRun(account)
	if got := byRegion(); !slices.Equal(got, before) {
		t.Errorf("entities in %v after all regions are read again, want %v", got, before)
	}
}

// startCollecting runs a server with job workers, and returns an admin.
func startCollecting(t *testing.T, dsn string, source *aws.Source) *client {
	t.Helper()
	in, base := launch(t, dsn, app.Options{Cloud: awsOnly{source}, Sources: []collect.Source{source}})
	c, _, _ := newOrg(t, in, base, "org")
	return c
}

// background runs f until the end of the test.
func background(t *testing.T, f func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// waitRun waits until the newest run of an account has ended and returns it.
func (c *client) waitRun(account string) object {
	c.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		got := c.want(200, "POST", "/v1/cloud-accounts/collection-status/query", object{"filters": object{"cloudAccountId": account}})
		runs, _ := got.body["results"].([]any)
		if len(runs) > 0 {
			if run, _ := runs[0].(object); run["status"] != "Started" {
				return run
			}
		}
	}
	c.t.Fatal("no run ended within five minutes")
	return nil
}
