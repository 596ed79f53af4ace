package azure

import (
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
)

// Operations whose holders can make themselves whatever they want.
const (
	assignRoles = "Microsoft.Authorization/roleAssignments/write"
	elevate     = "Microsoft.Authorization/elevateAccess/action"
	defineRoles = "Microsoft.Authorization/roleDefinitions/write"
)

// somewhere is an operation of a resource provider that does not exist: what
// allows it allows writing everywhere.
const somewhere = "Vigil.Probe/things/write"

// resources are operations on what subscriptions are made of. Who may do all of
// them administers a subscription, whatever a role leaves out besides.
var resources = []string{
	"Microsoft.Compute/virtualMachines/write", "Microsoft.Storage/storageAccounts/write", "Microsoft.KeyVault/vaults/write",
	"Microsoft.Network/networkSecurityGroups/write", "Microsoft.Sql/servers/write", "Microsoft.Web/sites/write",
}

// Admin answers whether a role, as its definition describes it (properties of
// Microsoft.Authorization/roleDefinitions), administers what it is assigned on: its
// holder may write resources of every kind, or may give roles away.
func Admin(definition gjson.Result) predicate.Answer {
	return predicate.Or(WritesEverything(definition), givesRoles(definition))
}

// AdminBy answers the same of an assignment of the role: a condition may limit
// which roles its holder may give away.
func AdminBy(definition gjson.Result, condition string) predicate.Answer {
	gives := givesRoles(definition)
	if gives.Truth == predicate.Yes && strings.TrimSpace(condition) != "" {
		gives = predicate.NotKnown("a condition limits which roles it may assign")
	}
	return predicate.Or(WritesEverything(definition), gives)
}

// WritesEverything answers whether a role may write resources of every kind.
func WritesEverything(definition gjson.Result) predicate.Answer {
	permissions := definition.Get("permissions")
	if !permissions.IsArray() {
		return predicate.NotKnown("the role's permissions are not known")
	}
	if Allows(permissions, somewhere) {
		return predicate.Of(true, "it may write everywhere")
	}
	for _, operation := range resources {
		if !Allows(permissions, operation) {
			return predicate.Of(false, "")
		}
	}
	return predicate.Of(true, "it may write resources of every kind")
}

func givesRoles(definition gjson.Result) predicate.Answer {
	permissions := definition.Get("permissions")
	if !permissions.IsArray() {
		return predicate.NotKnown("the role's permissions are not known")
	}
	for _, operation := range []string{assignRoles, elevate, defineRoles} {
		if Allows(permissions, operation) {
			return predicate.Of(true, "it may do "+operation)
		}
	}
	return predicate.Of(false, "")
}

// builtIn are the roles that administer what they are assigned on, whose
// definitions are known without reading them: Owner, Contributor, User Access
// Administrator, and Role Based Access Control Administrator.
var builtIn = map[string]gjson.Result{
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": gjson.Parse(`{"permissions":[{"actions":["*"]}]}`),
	"b24988ac-6180-42a0-ab88-20f7382dd24c": gjson.Parse(`{"permissions":[{"actions":["*"],"notActions":["Microsoft.Authorization/*/Delete","Microsoft.Authorization/*/Write","Microsoft.Authorization/elevateAccess/Action"]}]}`),
	"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": gjson.Parse(`{"permissions":[{"actions":["*/read","Microsoft.Authorization/*"]}]}`),
	"f58310d9-a9f6-439a-9e8d-f62e7b41a168": gjson.Parse(`{"permissions":[{"actions":["*/read","Microsoft.Authorization/roleAssignments/write","Microsoft.Authorization/roleAssignments/delete"]}]}`),
	// Reader, which is assigned everywhere.
	"acdd72a7-3385-48ef-bd42-f606fba81ae7": gjson.Parse(`{"permissions":[{"actions":["*/read"]}]}`),
}

// BuiltIn returns the definition of a role that is known without reading it, by
// its name.
func BuiltIn(name string) (definition gjson.Result, known bool) {
	definition, known = builtIn[strings.ToLower(name)]
	return definition, known
}

// Allows reports whether a role's permissions allow an operation: one of them has
// it among its actions and not among its notActions. What one leaves out another
// may give.
// https://learn.microsoft.com/azure/role-based-access-control/role-definitions
func Allows(permissions gjson.Result, operation string) bool {
	for _, p := range permissions.Array() {
		if matchesAny(texts(p.Get("actions")), operation) && !matchesAny(texts(p.Get("notActions")), operation) {
			return true
		}
	}
	return false
}

func matchesAny(patterns []string, operation string) bool {
	for _, pattern := range patterns {
		if wildcard(strings.ToLower(pattern), strings.ToLower(operation)) {
			return true
		}
	}
	return false
}

// wildcard reports whether a pattern, in which * stands for anything, is of a text.
func wildcard(pattern, text string) bool {
	first, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == text
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		part, more, another := strings.Cut(rest, "*")
		if !another {
			return strings.HasSuffix(text, rest)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}

// Wide reports whether a scope is a whole subscription, a management group or the
// root: what is assigned there holds for all resources of the subscription.
func Wide(scope string) bool {
	parts := strings.FieldsFunc(scope, func(r rune) bool { return r == '/' })
	switch {
	case len(parts) == 0:
		return true
	case strings.EqualFold(parts[0], "subscriptions"):
		return len(parts) == 2
	}
	return len(parts) == 4 && strings.EqualFold(parts[0], "providers") && strings.EqualFold(parts[2], "managementGroups")
}

// An Assignment gives a role at a scope: of roleAssignments, or of
// roleEligibilityScheduleInstances, whose holders take it when they like.
type Assignment struct {
	Scope      string
	Condition  string
	Definition gjson.Result // properties of the role definition; not there when it could not be read
}

// Privileged answers whether somebody administers a whole subscription by one of
// their assignments: their own, those of groups they are in, and those they are
// eligible for. Unread says what of that could not be read, or is empty.
func Privileged(assignments []Assignment, unread string) predicate.Answer {
	answers := []predicate.Answer{predicate.Of(false, "")}
	for _, a := range assignments {
		if !Wide(a.Scope) {
			continue
		}
		answers = append(answers, AdminBy(a.Definition, a.Condition))
	}
	if unread != "" {
		answers = append(answers, predicate.NotKnown(unread))
	}
	return predicate.Or(answers...)
}

// directoryRoles are the templates of the directory roles whose holders can take
// over the directory: Microsoft marks them as privileged.
// https://learn.microsoft.com/entra/identity/role-based-access-control/permissions-reference
var directoryRoles = []string{
	"62e90394-69f5-4237-9190-012177145e10", "e8611ab8-c189-46e8-94e1-60213ab1f814", "7be44c8a-adaf-4e2a-84d6-ab2649e08a13",
	"194ae4cb-b126-40b2-bd5b-6091b380977d", "b1be1c3e-b65d-4f19-8427-f6fa0d97feb9", "9b895d92-2cd3-44c7-9d02-a6ac2d5ea5c3",
	"158c047a-c907-4556-b7ef-446551a6b5f7", "fe930be7-5e62-47db-91af-98c3a49a38b1", "29232cdf-9323-42fd-ade2-1d097af3e4de",
	"f28a1f50-f6e7-4571-818b-6a12f2af6b6c", "c4e39bd9-1100-46d3-8c65-fb160da0071f", "8ac3fc64-6eca-42ea-9e69-59f4c7b60eb2",
	"b0f54661-2d74-4c50-afa3-1ec803f12efe", "729827e3-9c14-49f7-bb1b-9608f156bbb8",
}

// PrivilegedDirectoryRole reports whether the holders of a directory role can take
// over the directory, by the role's template.
func PrivilegedDirectoryRole(template string) bool { return has(directoryRoles, template) }
