package azure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vigil/internal/posture"
	collectazure "vigil/internal/posture/collect/azure"
	"vigil/internal/posture/stream/change"
)

// TestWriteOfAParentReadsTheResourcesInside checks which resources are read after operations on
// virtual networks. A template writes a network together with its subnets, and the log has only the
// write of the network.
func TestWriteOfAParentReadsTheResourcesInside(t *testing.T) {
	t.Parallel()
	const network = "/subscriptions/6f9619ff-8b86-4011-b42d-00c04fc964ff/resourceGroups/Shop/providers/Microsoft.Network/virtualNetworks/net"
	index := change.NewIndex(collectazure.New(collectazure.Options{}).Declarations())
	target := func(t posture.EntityType, name string) posture.Target {
		return posture.Target{Type: t, Region: posture.Global, Name: name}
	}
	for _, c := range []struct {
		resource, operation string
		want                []posture.Target
	}{
		{network, "Microsoft.Network/virtualNetworks/write", []posture.Target{
			target("Azure.Network.VirtualNetwork", network), target("Azure.Network.Subnet", ""), target("Azure.Network.VirtualNetworkPeering", ""),
		}},
		// The subnets of a deleted network are read as its neighbours.
		{network, "Microsoft.Network/virtualNetworks/delete", []posture.Target{target("Azure.Network.VirtualNetwork", network)}},
		{network + "/subnets/web", "Microsoft.Network/virtualNetworks/subnets/write", []posture.Target{
			target("Azure.Network.Subnet", network+"/subnets/web"), target("Azure.Network.VirtualNetwork", network),
		}},
	} {
		got := record{resource: c.resource, operation: c.operation, status: "Succeeded"}.targets(index)
		less := func(a, b posture.Target) bool { return a.Type < b.Type }
		if diff := cmp.Diff(c.want, got, cmpopts.SortSlices(less)); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s", c.operation, c.resource, diff)
		}
	}
}
