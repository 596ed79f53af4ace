package derive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/resource"
)

const (
	gcpServiceAccount posture.EntityType = "GCP.IAM.ServiceAccount"
	gcpPrincipal      posture.EntityType = "GCP.IAM.Principal"
	gcpRole           posture.EntityType = "GCP.IAM.Role"
)

// gcpMembers are the types of the members of policies.
var gcpMembers = resource.EntityTypes{gcpPrincipal, gcpServiceAccount}

// gcpProjectPolicy is the call that reads the IAM policy of the project.
var gcpProjectPolicy = resource.NewRequest("POST cloudresourcemanager/v1/projects/$project:getIamPolicy", "options: {requestedPolicyVersion: 3}")

// gcpPolicyFunction returns a function that adds the facts about the IAM policy of a resource.
// more returns further policies that apply to the resource; it is nil when there are none. public
// decides whether everybody has access; it is nil when the policies alone decide. permissions are
// those that the calls of more and public need.
func gcpPolicyFunction(permissions []string, more func(in resource.FunctionInput) ([]gjson.Result, error), public func(in resource.FunctionInput, byPolicy predicate.Answer) (answer predicate.Answer, refused, err error)) resource.Function {
	return resource.Function{
		Properties: []resource.Property{
			{Name: "bindings", Kind: resource.Texts, Doc: "The bindings of its IAM policy: a role and a member each, such as roles/viewer user:ada@example.com."},
			{Name: "allUsers", Kind: resource.Flag, Doc: "Its IAM policy names allUsers: everybody on the internet."},
			{Name: "allAuthenticatedUsers", Kind: resource.Flag, Doc: "Its IAM policy names allAuthenticatedUsers: everybody who has a Google account."},
			{Name: "public", Kind: resource.Flag, Doc: "Everybody has access: an IAM policy of it, its project, a folder or the organisation gives allUsers or allAuthenticatedUsers a role, and nothing else keeps them out.", Exposed: "lets everybody in"},
		},
		Edges:       []resource.Edge{{Label: "GRANTS", To: gcpMembers, Doc: "The members that its IAM policy grants a role, with the role."}},
		Permissions: append(append(slices.Clone(gcpChainPermissions), "resourcemanager.projects.getIamPolicy"), permissions...),
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			policies := []gjson.Result{in.Value}
			if more != nil {
				further, err := more(in)
				if err != nil {
					return err
				}
				policies = append(policies, further...)
			}
			var bindings []gjson.Result
			for _, p := range policies {
				bindings = append(bindings, p.Get("bindings").Array()...)
			}
			gcpGrant(in, b, bindings)
			answer, refused, err := gcpPublic(in, b, policies)
			if err != nil {
				return err
			}
			if public != nil {
				var refusedByPublic error
				if answer, refusedByPublic, err = public(in, answer); err != nil {
					return err
				}
				refused = cmp.Or(refused, refusedByPublic)
			}
			putAnswerOrRefusal(b, "public", answer, refused)
			return nil
		},
	}
}

// gcpPublic decides whether everybody has a role by the policies of a resource or by those of the
// project, its folders and its organisation. refused is the error of a policy that could not be
// read.
func gcpPublic(in resource.FunctionInput, b *resource.Builder, policies []gjson.Result) (answer predicate.Answer, refused, err error) {
	chain, err := gcpInherited(in)
	if err != nil {
		return predicate.Answer{}, nil, err
	}
	refused = chain.refused
	project, err := in.Caller.Call(in.Ctx, gcpProjectPolicy, nil)
	if err != nil {
		if collect.IsFatal(err) {
			return predicate.Answer{}, nil, err
		}
		refused = gcpUnread("the IAM policy of the project", err)
	}
	all := slices.Concat(policies, project, chain.policies)
	answer = gcp.Public(nil, all...)
	if answer.Truth == predicate.Yes {
		denies, err := gcpDenies(in, b, chain.parents)
		if err != nil {
			return predicate.Answer{}, nil, err
		}
		answer = gcp.Public(denies, all...)
	}
	if refused != nil {
		answer = predicate.Or(answer, predicate.NotKnown(refused.Error()))
	}
	return answer, refused, nil
}

// gcpGrant adds the bindings of a policy.
func gcpGrant(in resource.FunctionInput, b *resource.Builder, bindings []gjson.Result) {
	var all []string
	var grants []posture.Edge
	named := map[string]bool{}
	for _, binding := range bindings {
		role, condition := binding.Get("role").String(), ""
		if binding.Get("condition").Exists() {
			condition = " (conditional)"
		}
		for _, member := range texts(binding.Get("members")) {
			all = append(all, role+" "+member+condition)
			named[member] = true
			grants = append(grants, gcpGrantTo(in, member, role))
		}
	}
	gcpAddEdges(b, grants)
	b.Set("bindings", all).Flag("allUsers", named["allUsers"]).Flag("allAuthenticatedUsers", named["allAuthenticatedUsers"])
}

// gcpGrantTo returns the edge to a member that has a role.
func gcpGrantTo(in resource.FunctionInput, member, role string) posture.Edge {
	return posture.Edge{Label: "GRANTS", To: in.Cloud.Ref(in.Vars, gcpMembers, member), Properties: []posture.Property{posture.Text("role", role)}}
}

// gcpAddEdges adds edges that may differ only in their properties. It sorts them, so that their
// order does not depend on the response, and removes duplicates.
func gcpAddEdges(b *resource.Builder, edges []posture.Edge) {
	slices.SortFunc(edges, gcpCompareEdges)
	b.Edges = append(b.Edges, slices.CompactFunc(edges, func(x, y posture.Edge) bool { return gcpCompareEdges(x, y) == 0 })...)
}

func gcpCompareEdges(a, b posture.Edge) int {
	if c := strings.Compare(a.Label+"\x00"+string(a.To), b.Label+"\x00"+string(b.To)); c != 0 {
		return c
	}
	return slices.CompareFunc(a.Properties, b.Properties, func(p, q posture.Property) int {
		if c := strings.Compare(p.Name+"\x00"+p.String, q.Name+"\x00"+q.String); c != 0 {
			return c
		}
		return int(p.Long - q.Long)
	})
}

// gcpPolicyOf reads the IAM policy of the resource with the given name, not of the item.
func gcpPolicyOf(in resource.FunctionInput, api, name, permission string) ([]gjson.Result, error) {
	r := resource.Request{Call: api + "/${name}:getIamPolicy", Permission: permission, Input: resource.NewInput("options.requestedPolicyVersion", "3")}
	r.Path = api + "/" + name + ":getIamPolicy" // the address; in Call, ${name} would be the name of the item
	return in.Caller.Call(in.Ctx, r, in.Item)
}

// gcpKeyPolicy adds the policy of a key combined with that of its key ring, which keys inherit.
var gcpKeyPolicy = gcpPolicyFunction([]string{"cloudkms.keyRings.getIamPolicy"}, func(in resource.FunctionInput) ([]gjson.Result, error) {
	ring, _, _ := strings.Cut(in.Item.Get("name").String(), "/cryptoKeys/")
	return gcpPolicyOf(in, "cloudkms/v1", ring, "cloudkms.keyRings.getIamPolicy")
}, nil)

// gcpFunctionPolicy adds the policy of a function. Functions of the second generation are Cloud
// Run services, whose policy decides who may invoke them.
var gcpFunctionPolicy = gcpPolicyFunction([]string{"run.services.getIamPolicy"}, func(in resource.FunctionInput) ([]gjson.Result, error) {
	service := in.Item.Get("serviceConfig.service").String()
	if in.Item.Get("environment").String() != "GEN_2" || service == "" {
		return nil, nil
	}
	policies, err := gcpPolicyOf(in, "run/v2", service, "run.services.getIamPolicy")
	if errors.Is(err, collect.ErrGone) || errors.Is(err, collect.ErrOff) {
		err = nil
	}
	return policies, err
}, func(in resource.FunctionInput, byPolicy predicate.Answer) (predicate.Answer, error, error) {
	return gcp.Invocable(in.Item.Get("serviceConfig.ingressSettings").String(), byPolicy), nil, nil
})

// gcpRunPolicy adds the policy of a Cloud Run service. The IAM check of a service can be
// disabled.
var gcpRunPolicy = gcpPolicyFunction(nil, nil, func(in resource.FunctionInput, byPolicy predicate.Answer) (predicate.Answer, error, error) {
	if in.Item.Get("invokerIamDisabled").Bool() {
		byPolicy = predicate.Of(true, "the IAM check of invokers is disabled")
	}
	return gcp.Invocable(in.Item.Get("ingress").String(), byPolicy), nil, nil
})

// gcpBucketPolicy adds the policy of a bucket. Access control lists also apply unless access is
// uniform. Public access prevention, on the bucket or by an organisation policy, overrides both.
var gcpBucketPolicy = gcpPolicyFunction([]string{gcpOrgPolicy.Permission}, nil, func(in resource.FunctionInput, byPolicy predicate.Answer) (predicate.Answer, error, error) {
	answers, err := in.Caller.Call(in.Ctx, gcpOrgPolicy, nil)
	var refused error
	prevented := predicate.NotKnown("the organisation policy storage.publicAccessPrevention could not be read")
	switch {
	case err != nil && collect.IsFatal(err):
		return predicate.Answer{}, nil, err
	case err != nil:
		refused = gcpUnread("the organisation policy storage.publicAccessPrevention", err)
	case len(answers) > 0:
		prevented = predicate.Of(answers[0].Get("booleanPolicy.enforced").Bool(), "")
	}
	return gcp.PublicBucket(in.Item.Result, byPolicy, prevented), refused, nil
})

// gcpAuditConfigs adds the audit log configuration of a project, which includes what its folders
// and organisation enable.
var gcpAuditConfigs = resource.Function{
	Properties: []resource.Property{
		{Name: "auditConfigs", Kind: resource.Texts, Doc: "The data access audit logs that its own policy enables: a service and a log type each, such as allServices DATA_READ."},
		{Name: "auditExemptedMembers", Kind: resource.Texts, Doc: "The members whom data access audit logs leave out, by its own policy."},
		{Name: "auditsAllServices", Kind: resource.Flag, Doc: "Admin reads, data reads and data writes of all services are logged, without exempted members, by its policy and those of its folders and organisation."},
	},
	Permissions: gcpChainPermissions,
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		chain, err := gcpInherited(in)
		if err != nil {
			return err
		}
		var enabled, exempted []string
		for _, config := range in.Value.Get("auditConfigs").Array() {
			for _, log := range config.Get("auditLogConfigs").Array() {
				enabled = append(enabled, config.Get("service").String()+" "+log.Get("logType").String())
				exempted = append(exempted, texts(log.Get("exemptedMembers"))...)
			}
		}
		b.Set("auditConfigs", enabled).Set("auditExemptedMembers", exempted)
		putAnswerOrRefusal(b, "auditsAllServices", gcp.AuditsAllServices(append([]gjson.Result{in.Value}, chain.policies...), chain.unread()), chain.refused)
		return nil
	},
}

// gcpAccountRoles adds the roles that the project's policy grants to a service account.
var gcpAccountRoles = resource.Function{
	Properties: []resource.Property{
		{Name: "bindings", Kind: resource.Texts, Doc: "The roles that the project's IAM policy grants it."},
		gcpMemberProperties[0], gcpMemberProperties[1],
	},
	Permissions: gcpMemberPermissions,
	Edges:       []resource.Edge{{Label: "BOUND_TO", To: resource.EntityTypes{gcpRole}, Doc: "The roles that the project's IAM policy grants it."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		member := "serviceAccount:" + in.Item.Get("email").String()
		roles := gcpRolesOf(in.Value.Get("bindings"))[member]
		for _, role := range roles {
			b.Edge("BOUND_TO", in.Cloud.Ref(in.Vars, []posture.EntityType{gcpRole}, role))
		}
		b.Set("bindings", roles)
		return gcpMemberPower(in, b, member, in.Value)
	},
}

// gcpRolesOf returns the distinct roles of each member of a policy.
func gcpRolesOf(bindings gjson.Result) map[string][]string {
	roles := map[string][]string{}
	for _, binding := range bindings.Array() {
		role := binding.Get("role").String()
		for _, member := range texts(binding.Get("members")) {
			if !slices.Contains(roles[member], role) {
				roles[member] = append(roles[member], role)
			}
		}
	}
	return roles
}

// gcpUserManaged adds whether a user of the project created a service account.
var gcpUserManaged = resource.Function{
	Properties: []resource.Property{{Name: "userManaged", Kind: resource.Flag, Doc: "Somebody created it in the project; otherwise it comes with a service."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("userManaged", naming.UserManaged(in.Vars, in.Value.String()))
		return nil
	},
}

// gcpPrincipals lists the members of the project's policy, except its own service accounts.
var gcpPrincipals = resource.ListFunction{
	Calls: []string{gcpProjectPolicy.Call},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
		answers, err := c.Call(ctx, gcpProjectPolicy, nil)
		if err != nil || len(answers) == 0 {
			return nil, err
		}
		var items []resource.Item
		for member, roles := range gcpRolesOf(answers[0].Get("bindings")) {
			email, isServiceAccount := strings.CutPrefix(member, "serviceAccount:")
			if isServiceAccount && naming.OwnsServiceAccount(c.Vars(), email) {
				continue
			}
			kind, address, _ := strings.Cut(member, ":")
			if !strings.Contains(address, "@") {
				address = ""
			}
			items = append(items, gcpItem(map[string]any{"member": member, "kind": kind, "email": address, "roles": roles}))
		}
		slices.SortFunc(items, func(a, b resource.Item) int { return cmp.Compare(a.Get("member").Str, b.Get("member").Str) })
		return items, nil
	},
}

// gcpItem returns an item with the members. Strings and lists always marshal.
func gcpItem(members map[string]any) resource.Item {
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return resource.Item{Result: gjson.ParseBytes(text)}
}

// gcpCustomRoles is the call that lists the roles of the project.
var gcpCustomRoles = resource.NewRequest("iam/v1/projects/$project/roles", "{pageSize: 300, view: FULL}")

// gcpRoles lists the custom roles of the project and the predefined roles that its policy grants.
var gcpRoles = resource.ListFunction{
	Calls: []string{gcpCustomRoles.Call, gcpProjectPolicy.Call},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
		customRoles, err := c.Call(ctx, gcpCustomRoles, nil)
		if err != nil && !errors.Is(err, collect.ErrOff) { // without the IAM API, the policy still grants predefined roles
			return nil, err
		}
		var items []resource.Item
		for _, page := range customRoles {
			for _, role := range page.Get("roles").Array() {
				items = append(items, gcpItem(map[string]any{
					"name": role.Get("name").String(), "title": role.Get("title").String(), "stage": role.Get("stage").String(), "custom": true,
					"includedPermissions": texts(role.Get("includedPermissions")),
				}))
			}
		}
		policy, err := c.Call(ctx, gcpProjectPolicy, nil)
		if err != nil || len(policy) == 0 {
			return items, err
		}
		seen := map[string]bool{}
		for _, role := range texts(policy[0].Get("bindings.#.role")) {
			if !seen[role] && !strings.HasPrefix(role, "projects/") {
				seen[role] = true
				items = append(items, gcpItem(map[string]any{"name": role, "custom": false}))
			}
		}
		return items, nil
	},
}
