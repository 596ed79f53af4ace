package azure

import (
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const (
	assignedIdentityType = "Azure.ManagedIdentity.UserAssignedIdentity"
	principalType        = "Azure.Authorization.Principal"
)

// Many types can act under an identity; these rows and links say which.
var (
	identityTypeRow      = text("identityType", "identity.type", "The kinds of managed identity it has: None, SystemAssigned, UserAssigned.").or("None")
	identityPrincipalRow = text("identityPrincipalId", "identity.principalId", "The principal of its own managed identity.")

	identityLink         = principals("HAS_IDENTITY", "Under whose name it acts.", identityPrincipals)
	assignedIdentityLink = found("HAS_IDENTITY", "The identities it was given.", func(j gjson.Result) []string {
		return keys(j.Get("identity.userAssignedIdentities"))
	}, assignedIdentityType)
)

// identityPrincipals returns the principals of a resource's identities.
func identityPrincipals(j gjson.Result) []string {
	all := flat(j.Get("identity.principalId"))
	j.Get("identity.userAssignedIdentities").ForEach(func(_, v gjson.Result) bool {
		all = append(all, flat(v.Get("principalId"))...)
		return true
	})
	return all
}

// principals are edges to principals whose object ids are worked out.
func principals(label, doc string, f func(gjson.Result) []string) link {
	l := link{Edge: collect.Edge{Label: label, To: []posture.EntityType{principalType}, Doc: doc}}
	l.ids = func(s *session, j gjson.Result) []posture.EntityID {
		var all []posture.EntityID
		for _, id := range f(j) {
			all = append(all, s.global(principalType, id))
		}
		return all
	}
	return l
}
