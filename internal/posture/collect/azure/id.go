package azure

import (
	"strings"

	"vigil/internal/posture"
)

// An armID is what Resource Manager calls a resource, taken apart:
//
//	/subscriptions/S/resourceGroups/G/providers/Microsoft.Sql/servers/A/databases/B
//
// Of a resource that extends another, such as a lock, the namespace and types are
// those after the last "providers".
type armID struct {
	subscription string
	group        string   // "" for what is in none
	namespace    string   // "Microsoft.Sql"
	types        []string // "servers", "databases"
	names        []string // "A", "B", after those of what it extends
}

// parseID takes an id apart. Case is kept.
func parseID(id string) (armID, bool) {
	var a armID
	parts := strings.Split(strings.Trim(id, "/"), "/")
	for len(parts) > 0 {
		if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
			return armID{}, false
		}
		switch key, value := parts[0], parts[1]; {
		case strings.EqualFold(key, "providers"):
			a.namespace, a.types = value, nil
		case a.namespace == "" && strings.EqualFold(key, "subscriptions"):
			a.subscription = value
		case a.namespace == "" && strings.EqualFold(key, "resourceGroups"):
			a.group = value
		case a.namespace == "" && strings.EqualFold(key, "locations"):
			a.types, a.names = append(a.types, key), append(a.names, value)
		case a.namespace == "":
			return armID{}, false
		default:
			a.types, a.names = append(a.types, key), append(a.names, value)
		}
		parts = parts[2:]
	}
	if a.namespace != "" && len(a.types) == 0 {
		return armID{}, false
	}
	return a, a.subscription != "" || a.namespace != ""
}

// kind returns the resource's type in lower case: microsoft.sql/servers/databases.
func (a armID) kind() string {
	switch {
	case a.namespace != "":
		return strings.ToLower(a.namespace + "/" + strings.Join(a.types, "/"))
	case len(a.types) > 0:
		return "microsoft.resources/subscriptions/" + strings.ToLower(strings.Join(a.types, "/"))
	case a.group != "":
		return "microsoft.resources/subscriptions/resourcegroups"
	}
	return "microsoft.resources/subscriptions"
}

// name returns what tells the resource apart from others of its type and group:
// its own name after those of what it is part of.
func (a armID) name() string {
	switch {
	case len(a.names) > 0:
		return strings.ToLower(strings.Join(a.names, "/"))
	case a.group != "":
		return strings.ToLower(a.group)
	}
	return strings.ToLower(a.subscription)
}

// place returns the part of the entity id that says where the resource is.
func (a armID) place() string {
	if a.group == "" || len(a.names) == 0 {
		return posture.Global
	}
	return strings.ToLower(a.group)
}

// within cuts an id down to the resource of the given type that holds it: of a
// firewall rule of a server, the server.
func within(id, kind string) (string, bool) {
	for id = "/" + strings.Trim(id, "/"); id != ""; id = id[:strings.LastIndex(id, "/")] {
		if a, ok := parseID(id); ok && strings.EqualFold(a.kind(), kind) {
			return id, true
		}
	}
	return "", false
}
