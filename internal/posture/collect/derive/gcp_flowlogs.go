package derive

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/resource"
)

// The calls that list the VPC Flow Logs configurations of the project and of its organisation.
// Those of the organisation apply to all networks.
var (
	gcpFlowLogs    = gcpRequest("networkmanagement/v1/projects/$project/locations/global/vpcFlowLogsConfigs", "pageSize: 500", "networkmanagement.vpcflowlogsconfigs.list")
	gcpOrgFlowLogs = gcpRequest("networkmanagement/v1/organizations/${id}/locations/global/vpcFlowLogsConfigs", "pageSize: 500", "networkmanagement.vpcflowlogsconfigs.list")
)

// gcpFlowLogsConfigured adds whether a VPC Flow Logs configuration of the Network Management API
// logs the traffic of a subnetwork. Such a configuration is independent of the flow logs that the
// subnetwork itself enables. Where the API is off, there are no configurations.
var gcpFlowLogsConfigured = resource.Function{
	Properties:  []resource.Property{{Name: "flowLogsConfigured", Kind: resource.Flag, Doc: "A VPC Flow Logs configuration of the Network Management API logs its traffic: one of the subnetwork, its network or the organisation."}},
	Permissions: []string{gcpAncestry.Permission, gcpFlowLogs.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		answer := predicate.Of(false, "")
		var refused error
		read := func(owner string, q resource.Request, item *resource.Item) error {
			pages, err := in.Caller.Call(in.Ctx, q, item)
			switch {
			case err != nil && collect.IsFatal(err):
				return err
			case err != nil && !errors.Is(err, collect.ErrOff):
				refused = cmp.Or(refused, gcpUnread("the VPC Flow Logs configurations of "+owner, err))
				answer = predicate.Or(answer, predicate.NotKnown(refused.Error()))
			}
			for _, page := range pages {
				answer = predicate.Or(answer, predicate.Of(gcpLogsSubnetwork(page, in.Value), "a VPC Flow Logs configuration of "+owner))
			}
			return nil
		}
		if err := read("the project", gcpFlowLogs, nil); err != nil {
			return err
		}
		parents, err := gcpParents(in)
		switch {
		case err != nil && collect.IsFatal(err):
			return err
		case err != nil:
			refused = cmp.Or(refused, gcpUnread("the organisation of the project", err))
			answer = predicate.Or(answer, predicate.NotKnown(refused.Error()))
		}
		for _, p := range parents {
			if p.kind == "organization" {
				if err := read(p.String(), gcpOrgFlowLogs, new(gcpItem(map[string]any{"id": p.id}))); err != nil {
					return err
				}
			}
		}
		putAnswerOrRefusal(b, "flowLogsConfigured", answer, refused)
		return nil
	},
}

// gcpLogsSubnetwork reports whether an enabled configuration in a list logs the traffic of a
// subnetwork. Configurations of an organisation name no resource.
func gcpLogsSubnetwork(list, subnetwork gjson.Result) bool {
	return slices.ContainsFunc(list.Get("vpcFlowLogsConfigs").Array(), func(config gjson.Result) bool {
		subnet, network := config.Get("subnet").String(), config.Get("network").String()
		switch {
		case config.Get("state").String() == "DISABLED":
			return false
		case subnet != "":
			return strings.HasSuffix(subnetwork.Get("selfLink").String(), "/"+subnet)
		case network != "":
			return strings.HasSuffix(subnetwork.Get("network").String(), "/"+network)
		}
		return strings.HasPrefix(config.Get("name").String(), "organizations/")
	})
}
