package derive

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/resource"
)

// gcpImpersonationRoles are the predefined roles on a service account that let their members act
// as it: request its tokens, attach it to a workload, create its keys or change its policy.
var gcpImpersonationRoles = []string{
	"roles/owner", "roles/editor", "roles/iam.serviceAccountAdmin", "roles/iam.serviceAccountKeyAdmin", "roles/iam.serviceAccountOpenIdTokenCreator",
	"roles/iam.serviceAccountTokenCreator", "roles/iam.serviceAccountUser", "roles/iam.workloadIdentityUser",
}

// gcpImpersonationPermissions are the permissions on a service account that do the same. Custom
// roles may have them.
var gcpImpersonationPermissions = []string{
	"iam.serviceAccountKeys.create", "iam.serviceAccounts.actAs", "iam.serviceAccounts.getAccessToken", "iam.serviceAccounts.getOpenIdToken",
	"iam.serviceAccounts.implicitDelegation", "iam.serviceAccounts.setIamPolicy", "iam.serviceAccounts.signBlob", "iam.serviceAccounts.signJwt",
}

// gcpImpersonates decides whether a role on a service account lets its members act as it.
func gcpImpersonates(role string, permissionsOf gcp.Role) predicate.Answer {
	if strings.HasPrefix(role, "roles/") {
		return predicate.Of(slices.Contains(gcpImpersonationRoles, role), "")
	}
	permissions, known := permissionsOf(role)
	if !known {
		return predicate.NotKnown("the permissions of the custom role " + role + " are unknown")
	}
	return predicate.Of(slices.ContainsFunc(permissions, func(p string) bool { return slices.Contains(gcpImpersonationPermissions, p) }), "")
}

// gcpImpersonators adds the principals that the IAM policy of a service account lets act as it.
var gcpImpersonators = resource.Function{
	Properties: []resource.Property{
		{Name: "impersonators", Kind: resource.Texts, Doc: "Who may act as it, by its own IAM policy: a role and a member each, such as roles/iam.serviceAccountTokenCreator user:ada@example.com."},
		{Name: "impersonatedByEverybody", Kind: resource.Flag, Doc: "Its own IAM policy lets allUsers or allAuthenticatedUsers act as it.", Exposed: "lets everybody act as it"},
	},
	Edges:       []resource.Edge{{Label: "GRANTS", To: gcpMembers, Doc: "The members that its IAM policy lets act as it, with the role."}},
	Permissions: []string{gcpRoleGet.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all []string
		var edges []posture.Edge
		var refused error
		permissionsOf := gcpPermissionsOf(in, &refused)
		everybody := predicate.Of(false, "")
		for _, binding := range in.Value.Get("bindings").Array() {
			role := binding.Get("role").String()
			impersonates := gcpImpersonates(role, permissionsOf)
			if impersonates.Truth == predicate.No {
				continue
			}
			for _, member := range texts(binding.Get("members")) {
				all = append(all, role+" "+member)
				edges = append(edges, gcpGrantTo(in, member, role))
			}
			public := gcp.Public(nil, gjson.Parse(`{"bindings":[`+binding.Raw+`]}`)) // nil: without deny policies
			everybody = predicate.Or(everybody, predicate.And(impersonates, public))
		}
		if refused != nil { // a role that could not be read may let more members act as it
			b.Unread(refused, "impersonators", "GRANTS")
		} else {
			gcpAddEdges(b, edges)
			b.Set("impersonators", all)
		}
		putAnswerOrRefusal(b, "impersonatedByEverybody", everybody, refused)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("impersonatedByEverybody", false) },
}
