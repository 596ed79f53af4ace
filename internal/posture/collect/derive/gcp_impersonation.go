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

// gcpImpersonators adds the principals that the IAM policy of a service account lets act as it.
var gcpImpersonators = resource.Function{
	Properties: []resource.Property{
		{Name: "impersonators", Kind: resource.Texts, Doc: "Who may act as it, by its own IAM policy: a role and a member each, such as roles/iam.serviceAccountTokenCreator user:ada@example.com."},
		{Name: "impersonatedByEverybody", Kind: resource.Flag, Doc: "Its own IAM policy lets allUsers or allAuthenticatedUsers act as it.", Exposed: "lets everybody act as it"},
	},
	Edges: []resource.Edge{{Label: "GRANTS", To: gcpMembers, Doc: "The members that its IAM policy lets act as it, with the role."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all []string
		var edges []posture.Edge
		everybody := predicate.Of(false, "")
		for _, binding := range in.Value.Get("bindings").Array() {
			role := binding.Get("role").String()
			custom := !strings.HasPrefix(role, "roles/")
			if !custom && !slices.Contains(gcpImpersonationRoles, role) {
				continue
			}
			for _, member := range texts(binding.Get("members")) {
				if !custom {
					all = append(all, role+" "+member)
					edges = append(edges, gcpGrantTo(in, member, role))
				}
			}
			public := gcp.Public(nil, gjson.Parse(`{"bindings":[`+binding.Raw+`]}`))
			if custom && public.Truth != predicate.No {
				public = predicate.NotKnown("the permissions of the custom role " + role + " are not evaluated")
			}
			everybody = predicate.Or(everybody, public)
		}
		gcpAddEdges(b, edges)
		b.Set("impersonators", all)
		putAnswer(b, "impersonatedByEverybody", everybody)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("impersonatedByEverybody", false) },
}
