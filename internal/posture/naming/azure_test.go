package naming_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

const azureTypes = `type: Azure.Sql.Server
doc: A server.
arm: Microsoft.Sql/servers@1
=
type: Azure.Sql.Database
doc: A database.
arm: Microsoft.Sql/servers/databases@1
in: Azure.Sql.Server
=
type: Azure.Security.Contact
doc: A contact.
arm: Microsoft.Security/securityContacts@1
spelled: Microsoft.Security/securityContact
none: default
=
type: Azure.Subscription.Subscription
doc: A subscription.
arm: Microsoft.Resources/subscriptions@1
=
type: Azure.Entra.User
doc: A user.
list: [{call: "graph:/v1.0/users", items: value}]
name: id
=
type: Azure.Subscription.Location
doc: A location.
list: [{call: /subscriptions/$subscription/locations@1, items: value}]
name: name
xid: id
region: name
`

func azureCatalog(t *testing.T) *resource.Catalog {
	t.Helper()
	files := fstest.MapFS{}
	for i, text := range strings.Split(azureTypes, "=\n") {
		files[fmt.Sprintf("%d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := resource.Load(resource.Functions{}, files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAzureResourcesAreIdentified(t *testing.T) {
	t.Parallel()
	c := azureCatalog(t)
	cloud, vars := naming.Of(posture.Azure, c), resource.Vars{Account: "s", Region: posture.Global, Tenant: "t"}
	parent := &resource.Item{Result: gjson.Parse(`{"location":"West Europe"}`)}
	for _, test := range []struct {
		typ  posture.EntityType
		item resource.Item
		want resource.Identity
	}{
		{
			"Azure.Sql.Database", resource.Item{Result: gjson.Parse(`{"id":"/subscriptions/S/resourceGroups/RG/providers/Microsoft.Sql/servers/A/databases/B","name":"A/B"}`), Parent: parent},
			resource.Identity{ID: "Azure.Sql.s.rg.Database.a/b", Name: "a/b", Display: "B", XID: "/subscriptions/S/resourceGroups/RG/providers/Microsoft.Sql/servers/A/databases/B", Region: "westeurope"},
		},
		{
			"Azure.Security.Contact", resource.Item{Result: gjson.Parse(`{"id":"/subscriptions/s/providers/Microsoft.Security/securityContact/default"}`)},
			resource.Identity{ID: "Azure.Security.s.global.Contact.default", Name: "default", Display: "default", XID: "/subscriptions/s/providers/Microsoft.Security/securityContacts/default", Region: "global"},
		},
		{
			"Azure.Security.Contact", resource.Item{Result: gjson.Parse(`{}`), None: true},
			resource.Identity{ID: "Azure.Security.s.global.Contact.default", Name: "default", Display: "default", XID: "/subscriptions/s/providers/Microsoft.Security/securityContacts/default", Region: "global"},
		},
		{
			"Azure.Entra.User", resource.Item{Result: gjson.Parse(`{"id":"ABC"}`)},
			resource.Identity{ID: "Azure.Entra.s.global.User.abc", Name: "abc", Display: "abc", XID: "abc", Region: "global"},
		},
		{
			"Azure.Subscription.Location", resource.Item{Result: gjson.Parse(`{"id":"/subscriptions/s/locations/eastus","name":"eastus"}`)},
			resource.Identity{ID: "Azure.Subscription.s.global.Location.eastus", Name: "eastus", Display: "eastus", XID: "/subscriptions/s/locations/eastus", Region: "eastus"},
		},
	} {
		got, err := cloud.Identify(c.Type(test.typ), &test.item, vars)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", test.typ, err, diff)
		}
	}
	for _, typ := range []posture.EntityType{"Azure.Sql.Server", "Azure.Entra.User"} {
		if identity, err := cloud.Identify(c.Type(typ), &resource.Item{Result: gjson.Parse(`{"name":"x"}`)}, vars); err == nil {
			t.Errorf("a %s without an id is %v", typ, identity)
		}
	}
}

func TestAzureReferences(t *testing.T) {
	t.Parallel()
	cloud, vars := naming.Of(posture.Azure, azureCatalog(t)), resource.Vars{Account: "s"}
	const database = "/subscriptions/OTHER/resourceGroups/RG/providers/microsoft.sql/SERVERS/A/databases/B"
	for _, test := range []struct {
		value string
		to    []posture.EntityType
		want  posture.EntityID
	}{
		{database, []posture.EntityType{"Azure.Sql.Database"}, "Azure.Sql.other.rg.Database.a/b"},
		{database, []posture.EntityType{"Azure.Sql.Server"}, "Azure.Sql.other.rg.Server.a"},
		{database, []posture.EntityType{"Azure.Security.Contact", "Azure.Subscription.Subscription"}, "Azure.Subscription.other.global.Subscription.other"},
		{database, []posture.EntityType{"Azure.Entra.User"}, ""},
		{"ABC", []posture.EntityType{"Azure.Sql.Server", "Azure.Entra.User"}, "Azure.Entra.s.global.User.abc"},
		{"West Europe", []posture.EntityType{"Azure.Subscription.Location"}, "Azure.Subscription.s.global.Location.westeurope"},
		{"/providers/Microsoft.Authorization/roleDefinitions/r", []posture.EntityType{"Azure.Subscription.Subscription"}, "Azure.Subscription.s.global.Subscription.s"},
		{"", []posture.EntityType{"Azure.Entra.User", "Azure.Sql.Server"}, ""},
		{"ABC", []posture.EntityType{"Azure.Not.Declared"}, ""},
	} {
		if got := cloud.Ref(vars, test.to, test.value); got != test.want {
			t.Errorf("%s of %v is %q, want %q", test.value, test.to, got, test.want)
		}
	}
}

func TestAzureEventsMayNameChildResources(t *testing.T) {
	t.Parallel()
	c := azureCatalog(t)
	cloud := naming.Of(posture.Azure, c)
	const rule = "/SUBSCRIPTIONS/S/resourceGroups/RG/providers/Microsoft.Sql/servers/A/firewallRules/R"
	if got := cloud.RequestName(c.Type("Azure.Sql.Server"), resource.Vars{}, rule); got != "/SUBSCRIPTIONS/S/resourceGroups/RG/providers/Microsoft.Sql/servers/A" {
		t.Errorf("the server of a firewall rule is %q", got)
	}
	if got := cloud.RequestName(c.Type("Azure.Sql.Database"), resource.Vars{}, rule); got != "" {
		t.Errorf("a firewall rule is mapped to the database %q", got)
	}
	if got := cloud.RequestName(c.Type("Azure.Entra.User"), resource.Vars{}, "ABC"); got != "abc" {
		t.Errorf("a user is %q", got)
	}
}
