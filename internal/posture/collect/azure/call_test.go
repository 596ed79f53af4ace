package azure

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/naming"
)

// FuzzIDs checks that no id in an event causes harm.
func FuzzIDs(f *testing.F) {
	f.Add("/subscriptions/s/resourceGroups/g/providers/Microsoft.Sql/servers/a/firewallRules/r")
	f.Add("/subscriptions/s/providers/microsoft.insights/diagnosticSettings/d")
	f.Add("//subscriptions/..//%2f")
	f.Fuzz(func(t *testing.T, id string) {
		for _, typ := range declared.Catalog().Of(posture.Azure) {
			kind := typ.ResourceType()
			if kind == "" {
				continue
			}
			ancestor, ok := naming.Within(id, kind)
			if ok && !strings.HasPrefix("/"+strings.Trim(id, "/"), ancestor) {
				t.Errorf("%q is inside %q", id, ancestor)
			}
			if a, parsed := naming.ParseARMID(ancestor); ok && (!parsed || !strings.EqualFold(a.ResourceType(), kind) || a.Name() == "") {
				t.Errorf("%q is accepted as a %s", ancestor, kind)
			}
		}
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	s := &session{base: "https://management.azure.com", graph: "https://graph.microsoft.com"}
	for _, test := range []struct{ address, query, want string }{
		{"/subscriptions/s/providers/Microsoft.Sql/servers", `{"api-version":"2021-11-01","$expand":"a/b"}`, "https://management.azure.com/subscriptions/s/providers/Microsoft.Sql/servers?api-version=2021-11-01&$expand=a%2Fb"},
		{"/subscriptions/s/x y?z#%41/keys", `{}`, "https://management.azure.com/subscriptions/s/x%20y%3Fz%23%2541/keys"},
		{"graph:/v1.0/users/u", `{"$select":"id,name","$top":999}`, "https://graph.microsoft.com/v1.0/users/u?$select=id%2Cname&$top=999"},
	} {
		if got := s.url(test.address, gjson.Parse(test.query)); got != test.want {
			t.Errorf("%s is at %s, want %s", test.address, got, test.want)
		}
	}
}
