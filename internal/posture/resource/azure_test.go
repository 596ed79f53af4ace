package resource

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
)

// load loads declarations from their texts.
func load(declarations ...string) (*Catalog, error) {
	return loadWith(Functions{}, declarations...)
}

func loadWith(functions Functions, declarations ...string) (*Catalog, error) {
	files := fstest.MapFS{}
	for i, text := range declarations {
		files[fmt.Sprintf("azure/test/%d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	return Load(functions, files)
}

const server = `
type: Azure.Sql.Server
doc: A server.
arm: Microsoft.Sql/servers@2021-11-01
query: {$expand: administrators}
permissions: [Microsoft.Sql/servers/administrators/read]
has: [Azure.Sql.Rule]
identity: true
calls:
  - {call: /auditingSettings/default, properties: {auditing: {at: state, doc: Its auditing.}}}
  - {call: /providers/Microsoft.Insights/diagnosticSettings@2021-05-01-preview, properties: {logs: {at: logs, doc: Its logs.}}}
events: {Microsoft.Sql/servers/auditingSettings: [write]}
`

const rule = `
type: Azure.Sql.Rule
doc: A firewall rule.
arm: Microsoft.Sql/servers/firewallRules@2021-11-01
in: Azure.Sql.Server
of: {kind: "*v12*"}
properties: {start: {at: properties.start, doc: The first address.}}
`

// describeRequests returns a line for each request of a type.
func describeRequests(c *Catalog, t posture.EntityType) (all []string) {
	item := &Item{}
	item.Result = textResult("x")
	vars := Vars{Account: "s", Tenant: "t", Name: "N"}
	for r := range c.Requests(c.Type(t)) {
		path := r.Path
		if path == "" {
			path = r.Call
		}
		all = append(all, fmt.Sprintf("%s %s (%s) shared=%v", path, r.Input.JSON(item, vars), r.Permission, r.Shared))
	}
	return all
}

func TestExpandAzureTypes(t *testing.T) {
	t.Parallel()
	c, err := load(server, rule)
	if err != nil {
		t.Fatal(err)
	}
	const permissions = "Microsoft.Sql/servers/read Microsoft.Sql/servers/administrators/read"
	want := []string{
		`/subscriptions/$subscription/providers/Microsoft.Sql/servers {"api-version":"2021-11-01","$expand":"administrators"} (` + permissions + `) shared=true`,
		`$name {"api-version":"2021-11-01","$expand":"administrators"} (` + permissions + `) shared=false`,
		`${id}/auditingSettings/default {"api-version":"2021-11-01"} (Microsoft.Sql/servers/auditingSettings/read) shared=false`,
		`${id}/providers/Microsoft.Insights/diagnosticSettings {"api-version":"2021-05-01-preview"} (Microsoft.Insights/diagnosticSettings/read) shared=false`,
		`${id}/firewallRules {"api-version":"2021-11-01"} (Microsoft.Sql/servers/firewallRules/read) shared=true`,
	}
	if diff := cmp.Diff(want, describeRequests(c, "Azure.Sql.Server")); diff != "" {
		t.Errorf("server (-want +got)\n%s", diff)
	}
	want = []string{
		want[0],
		`${id}/firewallRules {"api-version":"2021-11-01"} (Microsoft.Sql/servers/firewallRules/read) shared=true`,
		`$name {"api-version":"2021-11-01"} (Microsoft.Sql/servers/firewallRules/read) shared=false`,
	}
	if diff := cmp.Diff(want, describeRequests(c, "Azure.Sql.Rule")); diff != "" {
		t.Errorf("rule (-want +got)\n%s", diff)
	}
	declared := c.Type("Azure.Sql.Server")
	var edges []string
	for a := range declared.Answers() {
		for _, e := range a.AllEdges() {
			edges = append(edges, fmt.Sprint(e.Label, e.To))
		}
	}
	wantEdges := []string{
		"IN[Azure.Resources.ResourceGroup Azure.Subscription.Subscription]",
		"HAS_IDENTITY[Azure.Authorization.Principal Azure.ManagedIdentity.UserAssignedIdentity]", "HAS[Azure.Sql.Rule]",
	}
	if diff := cmp.Diff(wantEdges, edges); diff != "" {
		t.Errorf("edges (-want +got)\n%s", diff)
	}
	if got := fmt.Sprint(declared.Events); got != "[{Microsoft.Sql/servers [write delete]} {Microsoft.Sql/servers/auditingSettings [write]}]" {
		t.Errorf("events %s", got)
	}
	part := c.Type("Azure.Sql.Rule")
	if !slices.Equal(part.Edges[0].To, EntityTypes{"Azure.Sql.Server"}) || len(part.List) != 2 || part.List[1].When == nil {
		t.Errorf("the part is listed by %+v and is in %v", part.List, part.Edges[0].To)
	}
}

func TestConditionAppliesToChildrenInTheDescriptionOfTheParent(t *testing.T) {
	t.Parallel()
	c, err := load(strings.Replace(server, "has: [Azure.Sql.Rule]\n", "", 1), rule+"inside: properties.rules\n")
	if err != nil {
		t.Fatal(err)
	}
	last := c.Type("Azure.Sql.Rule").List[1]
	if last.Call != "" || len(last.Items) != 1 || len(last.When) != 1 {
		t.Errorf("the last stage has call %q, items %v and when %v; want no call, the path and the condition", last.Call, last.Items, last.When)
	}
}

func TestGetGraphObjectByID(t *testing.T) {
	t.Parallel()
	c, err := load(`
type: Azure.Entra.User
doc: A user.
list: [{call: "graph:/v1.0/users", input: {$select: "id,name", $top: 999}, items: value, permission: Directory.Read.All}]
name: id
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`graph:/v1.0/users {"$select":"id,name","$top":999} (Directory.Read.All) shared=false`,
		`graph:/v1.0/users/$name {"$select":"id,name"} (Directory.Read.All) shared=false`,
	}
	if diff := cmp.Diff(want, describeRequests(c, "Azure.Entra.User")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestInvalidAzureTypes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Replace(server, "@2021-11-01", "", 1): "the version of its API",
		server: "child type (has) Azure.Sql.Rule is not declared",
		rule:   "parent type (in) Azure.Sql.Server is not declared",
		"type: Azure.A.B\ndoc: It.\nname: id\nlist: [{call: /subscriptions/$subscription/things}]": "lacks the version of the API",
		strings.Replace(rule, "in: Azure.Sql.Server\n", "", 1):                                     "5: of needs a parent type (in)",
		"type: Azure.A.B\ndoc: It.\narm: A/b@1\ninside: properties.parts\n":                        "4: inside needs a parent type (in)",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// TestMembersWithoutEffect adds a member to a type that does not use it.
func TestMembersWithoutEffect(t *testing.T) {
	t.Parallel()
	const list = "doc: It.\nscope: account\nname: id\nlist: [{call: \"graph:/x\"}]\n"
	for _, member := range []string{
		"spelled: A/B", "path: /x", "in: Azure.A.C", "has: [Azure.A.C]", "identity: true", "query: {a: b}", "permissions: [a/read]",
		"google: a/v1/projects/{project}/b/{name}", "granted: a.b", "eachLocation: v1", "policy: true", "arm: A/b@1",
	} {
		name, _, _ := strings.Cut(member, ":")
		for _, cloud := range []string{"Azure", "AWS", "GCP"} {
			if name == "arm" && cloud == "Azure" || cloud == "GCP" && slices.Contains([]string{"google", "granted"}, name) {
				continue
			}
			if _, err := load("type: " + cloud + ".A.B\n" + list + member + "\n"); err == nil || !strings.Contains(err.Error(), " 6: "+name+" needs ") {
				t.Errorf("%s of a type of %s: %v, want an error about %s in line 6", member, cloud, err, name)
			}
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		condition, text string
		want            bool
	}{
		{"Enabled", "enabled", true}, {"*", "x", true}, {"*", "", false}, {"", "", true}, {"*app*", "functionApp,linux", true}, {"*app", "webapp", true},
		{"*app", "apple", false}, {"app*", "apple", true}, {"app*", "webapp", false}, {"/*", "/x", true}, {"a", "b", false},
	} {
		if got := matches(test.condition, test.text); got != test.want {
			t.Errorf("%q matches %q: %v", test.condition, test.text, got)
		}
	}
}
