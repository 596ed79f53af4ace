package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

// demoProvider returns the provider and a provider block for the demo that
// VIGIL_READY names.
func demoProvider(t *testing.T) (map[string]func() (tfprotov6.ProviderServer, error), string) {
	t.Helper()
	text, err := os.ReadFile(os.Getenv("VIGIL_READY"))
	if err != nil {
		t.Fatalf("VIGIL_READY must name the ready file of a running demo: %v", err)
	}
	var demo struct {
		URL   string `json:"posture_url"`
		Token string `json:"api_token"`
	}
	if err := json.Unmarshal(text, &demo); err != nil {
		t.Fatal(err)
	}
	providerBlock := `provider "vigil" {
  server = "` + demo.URL + `"
  token  = "` + demo.Token + `"
}
`
	return map[string]func() (tfprotov6.ProviderServer, error){"vigil": providerserver.NewProtocol6WithError(newProvider())}, providerBlock
}

// TestResources creates each resource, changes it, imports it and destroys it. The
// test framework checks that a second plan after each step is empty.
func TestResources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typeName, before, after string                     // attributes, separated by semicolons; the attribute name is "before", then "after"
		empty                   string                     // attributes of which some are "", [] or {}; the attribute name is "empty"
		others                  string                     // blocks that the attributes refer to
		importID                resource.ImportStateIdFunc // if nil, the resource is imported by its id
		notReturned             []string                   // attributes that the server does not return, because they hold secrets
	}{
		{
			typeName: "vigil_cloud_account",
			before:   `cloud = "aws"; account_id = "210987000001"; name = "before"; environment = "test"; tags = { team = "a" }`,
			empty:    `cloud = "aws"; account_id = "210987000001"; name = "empty"; environment = ""; tags = {}`,
			after:    `cloud = "aws"; account_id = "210987000001"; name = "after"`,
			importID: idWith("vigil_cloud_account.test", "cloud", "id"),
		},
		{
			typeName: "vigil_rule",
			before:   `cloud = "aws"; name = "before"; display_name = "terraform-test"; level = "Low"; query = "g.V().hasLabel('AWS.S3.Bucket')"; description = "Why."`,
			empty:    `cloud = "aws"; name = "empty"; display_name = "terraform-test"; level = "Low"; query = "g.V().hasLabel('AWS.S3.Bucket')"; description = ""; suggested_action = ""; documentation_link = ""; compliance_control_ids = []`,
			after:    `cloud = "aws"; name = "after"; display_name = "terraform-test"; level = "High"; query = "g.V().hasLabel('AWS.SQS.Queue')"; enabled = false`,
		},
		{
			typeName: "vigil_mute_rule",
			before:   `name = "before"; reason = "a test"; until = "2036-01-02T03:04:05Z"; resource_patterns = ["no-such-*"]`,
			empty:    `name = "empty"; reason = "a test"; resource_patterns = ["no-such-*"]; rule_ids = []; cloud_account_ids = []; cloud_tags = {}`,
			after:    `name = "after"; reason = "a test"; cloud_tags = { team = ["a", "b"] }`,
		},
		{
			typeName: "vigil_notification_channel", notReturned: []string{"settings"},
			before: `name = "before"; type = "webhook"; settings = { url = "https://hooks.example.com/1", signingKey = null }`,
			after:  `name = "after"; type = "webhook"; enabled = false; settings = { url = "https://hooks.example.com/2" }`,
		},
		{
			typeName: "vigil_notification_rule",
			others:   block("vigil_notification_channel", "target", `name = "target of a rule"; type = "webhook"; settings = { url = "https://hooks.example.com/3" }`),
			before:   `name = "before"; events = ["FindingRaised"]; levels = ["High"]; channel_ids = [vigil_notification_channel.target.id]`,
			empty:    `name = "empty"; events = ["FindingRaised"]; levels = []; rule_ids = []; cloud_account_ids = []; cloud_tags = {}; channel_ids = [vigil_notification_channel.target.id]`,
			after:    `name = "after"; events = ["FindingRaised", "FindingResolved"]; min_risk_score = 50; channel_ids = [vigil_notification_channel.target.id]`,
		},
	} {
		t.Run(c.typeName, func(t *testing.T) {
			t.Parallel()
			providers, providerBlock := demoProvider(t)
			name := c.typeName + ".test"
			var steps []resource.TestStep
			for _, s := range []struct{ name, attributes string }{{"before", c.before}, {"empty", c.empty}, {"after", c.after}} {
				if s.attributes != "" {
					steps = append(steps, resource.TestStep{Config: providerBlock + c.others + block(c.typeName, "test", s.attributes), Check: resource.TestCheckResourceAttr(name, "name", s.name)})
				}
			}
			steps = append(steps, resource.TestStep{ResourceName: name, ImportState: true, ImportStateVerify: true, ImportStateIdFunc: c.importID, ImportStateVerifyIgnore: c.notReturned})
			resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: providers, Steps: steps})
		})
	}
}

// block returns a resource block.
func block(typeName, name, attributes string) string {
	return fmt.Sprintf("resource %q %q {\n  %s\n}\n", typeName, name, strings.ReplaceAll(attributes, "; ", "\n  "))
}
