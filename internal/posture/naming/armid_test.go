package naming

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseARMID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{ // an id to its resource type, place and name; empty if it is not valid
		"/subscriptions/S":                  "microsoft.resources/subscriptions global s",
		"/subscriptions/S/resourceGroups/G": "microsoft.resources/subscriptions/resourcegroups global g",
		"/subscriptions/S/locations/eastus": "microsoft.resources/subscriptions/locations global eastus",
		"/SUBSCRIPTIONS/s/RESOURCEGROUPS/G/PROVIDERS/Microsoft.Sql/SERVERS/A/databases/B":               "microsoft.sql/servers/databases g a/b",
		"subscriptions/s/providers/Microsoft.Security/pricings/Arm":                                     "microsoft.security/pricings global arm",
		"/subscriptions/s/resourceGroups/g/providers/N.A/t/x/providers/Microsoft.Authorization/locks/l": "microsoft.authorization/locks g x/l",
		"/providers/Microsoft.Authorization/roleDefinitions/R":                                          "microsoft.authorization/roledefinitions global r",
		"":                                    "",
		"/":                                   "",
		"/subscriptions":                      "",
		"/subscriptions/s/odd":                "",
		"/subscriptions/s/providers/N":        "",
		"/subscriptions/s/providers/N/t":      "",
		"/subscriptions//resourceGroups/g":    "",
		"/elsewhere/x":                        "",
		"https://vault.azure.net/keys/k/v":    "",
		"/subscriptions/s/virtualMachines/vm": "",
	} {
		got := ""
		if a, ok := ParseARMID(id); ok {
			got = a.ResourceType() + " " + a.Place() + " " + a.Name()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", id, diff)
		}
	}
}
