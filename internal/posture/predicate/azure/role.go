package azure

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
)

// Operations with which a principal can give itself every permission.
const (
	assignRoles = "Microsoft.Authorization/roleAssignments/write"
	elevate     = "Microsoft.Authorization/elevateAccess/action"
	defineRoles = "Microsoft.Authorization/roleDefinitions/write"
)

// probeOperation is an operation of a resource provider that does not exist: a role
// that allows it allows writing everywhere.
const probeOperation = "Vigil.Probe/things/write"

// mainWrites are write operations on the main types of resources. A role that
// allows all of them administers a subscription, even if it excludes other
// operations.
var mainWrites = []string{
	"Microsoft.Compute/virtualMachines/write", "Microsoft.Storage/storageAccounts/write", "Microsoft.KeyVault/vaults/write",
	"Microsoft.Network/networkSecurityGroups/write", "Microsoft.Sql/servers/write", "Microsoft.Web/sites/write",
}

// Admin decides whether a role, given by the properties of its
// Microsoft.Authorization/roleDefinitions, administers its scope: it may write
// resources of every kind, or may assign roles.
func Admin(definition gjson.Result) predicate.Answer {
	return predicate.Or(WritesEverything(definition), givesRoles(definition))
}

// AdminBy is Admin for an assignment of the role, whose condition may limit the
// roles that can be assigned.
func AdminBy(definition gjson.Result, condition string) predicate.Answer {
	answer := givesRoles(definition)
	if answer.Truth == predicate.Yes && strings.TrimSpace(condition) != "" {
		answer = predicate.NotKnown("a condition limits which roles it may assign")
	}
	return predicate.Or(WritesEverything(definition), answer)
}

// WritesEverything decides whether a role may write resources of every kind.
func WritesEverything(definition gjson.Result) predicate.Answer {
	permissions := definition.Get("permissions")
	if !permissions.IsArray() {
		return predicate.NotKnown("the role's permissions are not known")
	}
	if Allows(permissions, probeOperation) {
		return predicate.Of(true, "it may write everywhere")
	}
	for _, operation := range mainWrites {
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

// builtIn are built-in roles whose definitions are known without reading them:
// Owner, Contributor, User Access Administrator, and Role Based Access Control
// Administrator.
var builtIn = map[string]gjson.Result{
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": gjson.Parse(`{"permissions":[{"actions":["*"]}]}`),
	"b24988ac-6180-42a0-ab88-20f7382dd24c": gjson.Parse(`{"permissions":[{"actions":["*"],"notActions":["Microsoft.Authorization/*/Delete","Microsoft.Authorization/*/Write","Microsoft.Authorization/elevateAccess/Action"]}]}`),
	"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": gjson.Parse(`{"permissions":[{"actions":["*/read","Microsoft.Authorization/*"]}]}`),
	"f58310d9-a9f6-439a-9e8d-f62e7b41a168": gjson.Parse(`{"permissions":[{"actions":["*/read","Microsoft.Authorization/roleAssignments/write","Microsoft.Authorization/roleAssignments/delete"]}]}`),
	// Reader, the most frequently assigned role.
	"acdd72a7-3385-48ef-bd42-f606fba81ae7": gjson.Parse(`{"permissions":[{"actions":["*/read"]}]}`),
}

// BuiltIn returns the definition of a built-in role by name, if it is known without reading it.
func BuiltIn(name string) (definition gjson.Result, known bool) {
	definition, known = builtIn[strings.ToLower(name)]
	return definition, known
}

// Allows reports whether a role's permissions allow an operation: one of them
// has it among its actions and not among its notActions. An operation that one
// permission excludes may be allowed by another.
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
		if matchesWildcard(strings.ToLower(pattern), strings.ToLower(operation)) {
			return true
		}
	}
	return false
}

// matchesWildcard reports whether a pattern, in which * matches anything, matches a text.
func matchesWildcard(pattern, text string) bool {
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

// Wide reports whether a scope is a whole subscription, a management group or
// the root. An assignment at such a scope applies to all resources of the subscription.
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

// An Assignment gives a role at a scope. It is a role assignment or an
// eligibility (roleEligibilityScheduleInstances), which the principal can
// activate.
type Assignment struct {
	Scope      string
	Condition  string
	Definition gjson.Result // properties of the role definition; the zero Result if it could not be read
}

// Privileged decides whether a principal administers a whole subscription by one
// of its assignments, including those of its groups and those it is eligible
// for. unread describes what could not be read, or is empty.
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

// directoryRoles are the templates of the directory roles that Microsoft marks
// as privileged: with them one can take over the directory.
// https://learn.microsoft.com/entra/identity/role-based-access-control/permissions-reference
var directoryRoles = []string{
	"62e90394-69f5-4237-9190-012177145e10", "e8611ab8-c189-46e8-94e1-60213ab1f814", "7be44c8a-adaf-4e2a-84d6-ab2649e08a13",
	"194ae4cb-b126-40b2-bd5b-6091b380977d", "b1be1c3e-b65d-4f19-8427-f6fa0d97feb9", "9b895d92-2cd3-44c7-9d02-a6ac2d5ea5c3",
	"158c047a-c907-4556-b7ef-446551a6b5f7", "fe930be7-5e62-47db-91af-98c3a49a38b1", "29232cdf-9323-42fd-ade2-1d097af3e4de",
	"f28a1f50-f6e7-4571-818b-6a12f2af6b6c", "c4e39bd9-1100-46d3-8c65-fb160da0071f", "8ac3fc64-6eca-42ea-9e69-59f4c7b60eb2",
	"b0f54661-2d74-4c50-afa3-1ec803f12efe", "729827e3-9c14-49f7-bb1b-9608f156bbb8",
}

// PrivilegedDirectoryRole reports whether one can take over the directory with a
// directory role, given by its template.
func PrivilegedDirectoryRole(template string) bool { return has(directoryRoles, template) }

// takeovers are the operations with which a principal can run code in a workload, and so
// request tokens of its managed identity, by the kind of workload.
var takeovers = map[string][]string{
	"virtualMachines": {
		"Microsoft.Compute/virtualMachines/runCommand/action", "Microsoft.Compute/virtualMachines/runCommands/write",
		"Microsoft.Compute/virtualMachines/extensions/write",
	},
	"scaleSets": {
		"Microsoft.Compute/virtualMachineScaleSets/virtualMachines/runCommand/action", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/runCommands/write",
		"Microsoft.Compute/virtualMachineScaleSets/extensions/write", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/extensions/write",
	},
	"sites": {"Microsoft.Web/sites/publishxml/action", "Microsoft.Web/sites/config/list/action"},
	"clusters": {
		"Microsoft.ContainerService/managedClusters/listClusterAdminCredential/action", "Microsoft.ContainerService/managedClusters/runcommand/action",
	},
	"containerGroups": {"Microsoft.ContainerInstance/containerGroups/containers/exec/action"},
}

// TakeoverKinds are the values that Takeovers returns.
var TakeoverKinds = slices.Sorted(maps.Keys(takeovers))

// Takeovers returns the sorted kinds of workloads in which holders of a role can run code.
func Takeovers(definition gjson.Result) []string {
	var kinds []string
	for _, kind := range TakeoverKinds {
		if slices.ContainsFunc(takeovers[kind], func(operation string) bool { return Allows(definition.Get("permissions"), operation) }) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
