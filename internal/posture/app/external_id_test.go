package app_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/posture/app"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sqldb/dbtest"
)

// TestAnotherOrganisationsRoleCannotBeUsed has organisation B try to use the role of
// organisation A with all that it can know.
func TestAnotherOrganisationsRoleCannotBeUsed(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		cloud := simaws.New(simaws.Options{Seed: 3, Accounts: 1, Size: 20}, g.Faults)
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
		in, base := launch(t, dsn, app.Options{Cloud: awsOnly{source}, Sources: []collect.Source{source}})
		a, _, admin := newOrg(t, in, base, "a")
		b, _, _ := newOrg(t, in, base, "b")
		const issue = "/v1/cloud-credentials/aws-external-id"
		aID, bID := a.want(200, "GET", issue, nil).member("externalId"), b.want(200, "GET", issue, nil).member("externalId")
		if aID == bID || !strings.HasPrefix(aID, "vigil-") || a.want(200, "GET", issue, nil).member("externalId") != aID {
			t.Fatalf("issued %q and %q", aID, bID)
		}

		account := cloud.Account(0).ID
		arn := "arn:aws:iam::" + account + ":role/reader"
		role := func(asksFor string) {
			cloud.PutRole(simaws.Role{Account: account, Name: "reader", Trusts: simaws.Collector, ExternalID: asksFor, Actions: []string{"ec2:DescribeRegions"}})
		}
		role(aID)
		credentialWith := func(id string) object {
			properties := []object{textProperty("RoleArn", arn)}
			if id != "" {
				properties = append(properties, textProperty("ExternalId", id))
			}
			return object{"properties": properties}
		}
		// status waits until the account of an organisation has a status other than draft and the given ones.
		status := func(c *client, before ...any) (value, reason string) {
			t.Helper()
			for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
				got := c.want(200, "GET", accounts+"/"+account, nil)
				s, _ := got.body["accountStatus"].(object)
				if s["value"] != "draft" && !slices.Contains(before, s["value"]) {
					reason, _ := s["reason"].(string)
					return s["value"].(string), reason
				}
			}
			t.Fatal("the account was not validated within five minutes")
			return "", ""
		}
		link := func(c *client, id string) string {
			credential := c.want(201, "POST", credentials, credentialWith(id)).member("credentialId")
			c.want(201, "POST", relationships, object{"cloudAccountId": account, "credentialId": credential})
			return credential
		}
		a.want(201, "POST", accounts, awsAccount(account))
		credential := link(a, aID)
		if value, reason := status(a); value != "active" {
			t.Fatalf("the owner's account is %s: %s", value, reason)
		}

		// B cannot use A's external id in any kind of request.
		refused := func(what string, got answer, member string) {
			t.Helper()
			if got.status != 400 || !strings.Contains(got.text, member) || !strings.Contains(got.text, "cannot be used by this organisation") {
				t.Errorf("%s: status %d, %s; want 400 with an error about %s", what, got.status, got.text, member)
			}
		}
		refused("POST", b.do("POST", credentials, credentialWith(aID)), "properties[1].stringV")
		refused("bulk", b.do("POST", "/v1/cloud-accounts/bulk-update", object{"provider": "aws",
			"credentialUpdates": []object{{"action": "post", "properties": credentialWith(aID)["properties"]}}}), "credentialUpdates[0].properties[1].stringV")
		refused("discovery", b.do("POST", "/v1/cloud-accounts/aws-discovery-task", object{"roleArn": arn, "externalId": aID}), "externalId")
		ownCredential := b.want(201, "POST", credentials, credentialWith(bID)).member("credentialId")
		refused("PUT", b.do("PUT", credentials+"/"+ownCredential, credentialWith(aID)), "properties[1].stringV")

		// With B's own external id, or with none, A's role does not admit B.
		b.want(201, "POST", accounts, awsAccount(account))
		b.want(201, "POST", relationships, object{"cloudAccountId": account, "credentialId": ownCredential})
		if value, reason := status(b); value != "validation-failed" {
			t.Errorf("B's account with B's external id is %s: %s", value, reason)
		}
		b.want(200, "DELETE", credentials+"/"+ownCredential, nil)
		withoutID := link(b, "")
		if value, reason := status(b); value != "validation-failed" {
			t.Errorf("B's account without an external id is %s: %s", value, reason)
		}

		// A's external id stays reserved for A after its credential was deleted.
		a.want(200, "DELETE", credentials+"/"+credential, nil)
		refused("after A removed its credential", b.do("POST", credentials, credentialWith(aID)), "properties[1].stringV")

		// A role that does not require an external id is rejected with a reason, and
		// accepted after a correction.
		b.want(200, "DELETE", credentials+"/"+withoutID, nil)
		a.waitRun(account) // a run that ends later would set the status too
		role("")
		link(a, aID)
		if value, reason := status(a); value != "validation-failed" || !strings.Contains(reason, "without an external id") {
			t.Errorf("a role without a condition is %s: %s", value, reason)
		}
		role(aID)
		a.want(202, "POST", "/v1/cloud-accounts/"+account+"/validation", nil)
		if value, reason := status(a, "validation-failed"); value != "active" {
			t.Errorf("the corrected role is %s: %s", value, reason)
		}

		// Only administrators can read A's external id.
		viewer := newClient(t, in, base, admin, auth.Viewer)
		viewer.want(403, "GET", issue, nil)
		for _, got := range []answer{
			viewer.want(200, "POST", "/v1/cloud-credentials/query", object{}),
			viewer.want(200, "POST", "/v1/cloud-accounts/query", object{"getCredentials": true}),
		} {
			if strings.Contains(got.text, aID) || !strings.Contains(got.text, arn) {
				t.Errorf("a viewer sees %s", got.text)
			}
		}
	})
}
