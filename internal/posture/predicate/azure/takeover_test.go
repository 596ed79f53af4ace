package azure

import (
	"slices"
	"testing"

	"github.com/tidwall/gjson"
)

func TestTakeovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, permissions string
		want              []string
	}{
		{"Reader", `[{"actions":["*/read"]}]`, nil},
		{"Contributor", `[{"actions":["*"],"notActions":["Microsoft.Authorization/*/Write"]}]`, []string{"clusters", "containerGroups", "scaleSets", "sites", "virtualMachines"}},
		{"Virtual Machine Contributor", `[{"actions":["Microsoft.Compute/virtualMachines/*","Microsoft.Compute/virtualMachineScaleSets/*"]}]`, []string{"scaleSets", "virtualMachines"}},
		{"Website Contributor", `[{"actions":["Microsoft.Web/sites/*"]}]`, []string{"sites"}},
		{"run command alone", `[{"actions":["Microsoft.Compute/virtualMachines/runCommand/action"]}]`, []string{"virtualMachines"}},
		{"restart alone", `[{"actions":["Microsoft.Compute/virtualMachines/restart/action"]}]`, nil},
		{"all actions on machines except those that run code", `[{"actions":["Microsoft.Compute/virtualMachines/*"],"notActions":["Microsoft.Compute/virtualMachines/runCommand*","Microsoft.Compute/virtualMachines/extensions/*"]}]`, nil},
	} {
		if got := Takeovers(gjson.Parse(`{"permissions":` + test.permissions + `}`)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
