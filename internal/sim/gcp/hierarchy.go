package gcp

import (
	"net/http"
	"path"
	"strings"

	"vigil/internal/sim/world"
)

// Organization is the number of the organisation of all projects.
const Organization = "990000000001"

// folder returns the number of a project's folder.
func (p Project) folder() string { return "8" + p.Number }

// folderPolicy returns the policy of a folder. It grants roles/owner to service
// accounts to which the project's own policy grants only roles/storage.admin.
func (a address) folderPolicy() world.Object {
	members := []string{"group:folder-admins@example.com"}
	for i := range a.accounts() {
		if a.peer(accountType, i).violates("gcp-iam-sa-admin-role") && i%2 == 1 {
			members = append(members, "serviceAccount:"+a.email(i))
		}
	}
	return grants(binding("roles/owner", members...), binding("roles/viewer", "group:everyone@example.com"))
}

// hierarchyRoutes are the methods about a project's ancestors.
var hierarchyRoutes = []route{
	{"cloudresourcemanager.projects.getAncestry", http.MethodPost, "/v1/projects/{project}:getAncestry", "resourcemanager.projects.get", func(x *call) (world.Object, *failure) {
		resourceOf := func(kind, id string) world.Object { return world.Obj("resourceId", world.Obj("type", kind, "id", id)) }
		return world.Obj("ancestor", world.Items(resourceOf("project", x.project.ID), resourceOf("folder", x.project.folder()), resourceOf("organization", Organization))), nil
	}},
	{"cloudresourcemanager.projects.getEffectiveOrgPolicy", http.MethodPost, "/v1/projects/{project}:getEffectiveOrgPolicy", "orgpolicy.policy.get", func(x *call) (world.Object, *failure) {
		return world.Obj("constraint", x.body.Text("constraint"), "booleanPolicy", world.Obj()), nil
	}},
	{"cloudresourcemanager.folders.getIamPolicy", http.MethodPost, "/v3/folders/{folder}:getIamPolicy", "resourcemanager.folders.getIamPolicy", func(x *call) (world.Object, *failure) {
		for _, p := range x.order {
			if p.folder() == x.args["folder"] {
				x.project = p
				return x.address(projectType).folderPolicy(), nil
			}
		}
		return nil, x.denied()
	}},
	{"cloudresourcemanager.organizations.getIamPolicy", http.MethodPost, "/v3/organizations/{organization}:getIamPolicy", "resourcemanager.organizations.getIamPolicy", func(*call) (world.Object, *failure) {
		return grants(binding("roles/resourcemanager.organizationAdmin", "group:organization-admins@example.com")), nil
	}},
	{"logging.folders.sinks.list", http.MethodGet, "/v2/folders/{folder}/sinks", "logging.sinks.list", func(*call) (world.Object, *failure) {
		return world.Obj(), nil
	}},
	{"logging.organizations.sinks.list", http.MethodGet, "/v2/organizations/{organization}/sinks", "logging.sinks.list", func(*call) (world.Object, *failure) {
		return world.Obj("sinks", world.Items(world.Obj("name", "audit", "destination", "storage.googleapis.com/organization-audit", "filter", `logName:"cloudaudit.googleapis.com"`, "includeChildren", true))), nil
	}},
	{"networkmanagement.projects.locations.vpcFlowLogsConfigs.list", http.MethodGet, "/v1/projects/{project}/locations/global/vpcFlowLogsConfigs", "networkmanagement.vpcflowlogsconfigs.list", func(*call) (world.Object, *failure) {
		return world.Obj(), nil
	}},
	{"networkmanagement.organizations.locations.vpcFlowLogsConfigs.list", http.MethodGet, "/v1/organizations/{organization}/locations/global/vpcFlowLogsConfigs", "networkmanagement.vpcflowlogsconfigs.list", func(*call) (world.Object, *failure) {
		return world.Obj(), nil
	}},
	{"iam.policies.listPolicies", http.MethodGet, "/v2/policies/{attachmentPoint}/denypolicies", "iam.denypolicies.list", func(x *call) (world.Object, *failure) {
		if !strings.HasPrefix(x.args["attachmentPoint"], "cloudresourcemanager.googleapis.com/organizations/") {
			return world.Obj(), nil
		}
		return world.Obj("policies", world.Items(world.Obj("name", "policies/"+strings.ReplaceAll(x.args["attachmentPoint"], "/", "%2F")+"/denypolicies/no-deletion", "kind", "DenyPolicy"))), nil
	}},
	{"iam.policies.get", http.MethodGet, "/v2/policies/{attachmentPoint}/denypolicies/{name}", "iam.denypolicies.get", func(x *call) (world.Object, *failure) {
		return world.Obj("name", "policies/"+strings.ReplaceAll(x.args["attachmentPoint"], "/", "%2F")+"/denypolicies/"+x.args["name"], "kind", "DenyPolicy", "rules", world.Items(
			world.Obj("denyRule", world.Obj("deniedPrincipals", world.Items("principal://goog/subject/contractor@example.com"), "deniedPermissions", world.Items("cloudresourcemanager.googleapis.com/projects.delete"))))), nil
	}},
	{"iam.roles.get", http.MethodGet, "/v1/roles/{name}", "iam.roles.get", func(x *call) (world.Object, *failure) {
		return world.Obj("name", "roles/"+x.args["name"], "title", x.args["name"], "stage", "GA", "etag", "AA==", "includedPermissions", world.Items("resourcemanager.projects.get")), nil
	}},
	{"iam.projects.roles.get", http.MethodGet, "/v1/projects/{project}/roles/{name}", "iam.roles.get", get(roleType)},
}

// effectiveFirewalls returns the firewall rules of a network and two policies.
// That of the organisation denies port 23 and delegates all other decisions;
// that of the network delegates all decisions.
func effectiveFirewalls(x *call) (world.Object, *failure) {
	rules, policies, failed := firewallsOf(x, x.args["name"])
	return world.Obj("firewalls", rules, "firewallPolicys", policies), failed
}

// regionalFirewalls returns the same for a region of a network, and a policy of the region, which
// delegates all decisions.
func regionalFirewalls(x *call) (world.Object, *failure) {
	rules, policies, failed := firewallsOf(x, path.Base(x.query.Get("network")))
	policies = append(policies, world.Obj("name", "regional-policy", "type", "NETWORK_REGIONAL", "rules", world.Items(inboundRule(100, "goto_next", "all"))))
	return world.Obj("firewalls", rules, "firewallPolicys", policies), failed
}

// firewallsOf returns the firewall rules of a network and the policies that apply to all regions.
func firewallsOf(x *call, network string) (rules, policies []any, failed *failure) {
	if _, ok := x.address(networkType).get(network); !ok {
		return nil, nil, notFound(network)
	}
	rules = []any{}
	x.address(firewallType).list(0, -1, func(_ string, o world.Object) bool {
		if strings.HasSuffix(o.Text("network"), "/"+network) {
			rules = append(rules, o.Visible())
		}
		return true
	})
	return rules, world.Items(
		world.Obj("name", "770000000001", "displayName", "organization", "type", "HIERARCHY", "rules", world.Items(inboundRule(100, "deny", "tcp", "23"), inboundRule(200, "goto_next", "all"))),
		world.Obj("name", "network-policy", "type", "NETWORK", "rules", world.Items(inboundRule(100, "goto_next", "all"))),
	), nil
}

// inboundRule returns a rule of a firewall policy for traffic from everywhere.
func inboundRule(priority int, action, protocol string, ports ...string) world.Object {
	layer := world.Obj("ipProtocol", protocol)
	if len(ports) > 0 {
		layer = world.Obj("ipProtocol", protocol, "ports", world.Items(ports...))
	}
	return world.Obj("priority", priority, "action", action, "direction", "INGRESS", "match", world.Obj("srcIpRanges", world.Items("0.0.0.0/0"), "layer4Configs", world.Items(layer)))
}
