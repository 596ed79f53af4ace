package naming

import (
	"strings"

	"vigil/internal/posture"
)

// An ARMID is a parsed resource id of Azure Resource Manager:
//
//	/subscriptions/S/resourceGroups/G/providers/Microsoft.Sql/servers/A/databases/B
//
// For a resource that extends another, such as a lock, namespace and types are those
// after the last "providers".
type ARMID struct {
	Subscription string
	Group        string   // "" if it is in none
	Namespace    string   // "Microsoft.Sql"
	Types        []string // "servers", "databases"
	Names        []string // "A", "B"; for an extension, preceded by the names of the extended resource
}

// ParseARMID parses an id. It keeps the case.
func ParseARMID(id string) (ARMID, bool) {
	var a ARMID
	parts := strings.Split(strings.Trim(id, "/"), "/")
	for len(parts) > 0 {
		if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
			return ARMID{}, false
		}
		switch key, value := parts[0], parts[1]; {
		case strings.EqualFold(key, "providers"):
			a.Namespace, a.Types = value, nil
		case a.Namespace == "" && strings.EqualFold(key, "subscriptions"):
			a.Subscription = value
		case a.Namespace == "" && strings.EqualFold(key, "resourceGroups"):
			a.Group = value
		case a.Namespace == "" && strings.EqualFold(key, "locations"):
			a.Types, a.Names = append(a.Types, key), append(a.Names, value)
		case a.Namespace == "":
			return ARMID{}, false
		default:
			a.Types, a.Names = append(a.Types, key), append(a.Names, value)
		}
		parts = parts[2:]
	}
	if a.Namespace != "" && len(a.Types) == 0 {
		return ARMID{}, false
	}
	return a, a.Subscription != "" || a.Namespace != ""
}

// ResourceType returns the resource type in lower case:
// microsoft.sql/servers/databases.
func (a ARMID) ResourceType() string {
	switch {
	case a.Namespace != "":
		return strings.ToLower(a.Namespace + "/" + strings.Join(a.Types, "/"))
	case len(a.Types) > 0:
		return "microsoft.resources/subscriptions/" + strings.ToLower(strings.Join(a.Types, "/"))
	case a.Group != "":
		return "microsoft.resources/subscriptions/resourcegroups"
	}
	return "microsoft.resources/subscriptions"
}

// Name returns the name that identifies the resource within its type and group: its own
// name after those of its parents. It is in lower case, because Resource Manager
// ignores the case of names and spells them inconsistently.
func (a ARMID) Name() string {
	switch {
	case len(a.Names) > 0:
		return strings.ToLower(strings.Join(a.Names, "/"))
	case a.Group != "":
		return strings.ToLower(a.Group)
	}
	return strings.ToLower(a.Subscription)
}

// Place returns the part of the entity id that holds the location of the resource: its
// resource group. Resource groups themselves, and resources without one, are global.
func (a ARMID) Place() string {
	if a.Group == "" || len(a.Names) == 0 {
		return posture.Global
	}
	return strings.ToLower(a.Group)
}

// Within returns the prefix of an id that is a resource of the given type: for the id
// of a server's firewall rule, the id of the server. It returns false if there is none.
func Within(id, resourceType string) (string, bool) {
	for id = "/" + strings.Trim(id, "/"); id != ""; id = id[:strings.LastIndex(id, "/")] {
		if a, ok := ParseARMID(id); ok && strings.EqualFold(a.ResourceType(), resourceType) {
			return id, true
		}
	}
	return "", false
}
