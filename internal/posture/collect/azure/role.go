package azure

import (
	"encoding/json"
	"slices"
	"strings"

	"vigil/internal/posture/collect/declared"
)

// Role returns the minimal custom role with which an application can read every type, for
// some scopes. It allows access neither to data nor to secrets.
func Role(scopes ...string) []byte {
	actions, _ := permissions()
	text, err := json.MarshalIndent(struct {
		Name, Description string
		IsCustom          bool
		Actions           []string
		NotActions        []string
		DataActions       []string
		NotDataActions    []string
		AssignableScopes  []string
	}{
		Name: "Vigil Reader", Description: "Reads the configuration of resources for Vigil: no data, no secrets, no changes.",
		IsCustom: true, Actions: actions, NotActions: []string{}, DataActions: []string{}, NotDataActions: []string{}, AssignableScopes: scopes,
	}, "", "  ")
	if err != nil {
		panic(err) // strings always marshal
	}
	return append(text, '\n')
}

// GraphPermissions returns the application permissions of Microsoft Graph that the directory
// types need. Without them those types are unknown.
func GraphPermissions() []string {
	_, graph := permissions()
	return graph
}

// permissions returns the permissions of Resource Manager and of Graph that all types need.
func permissions() (actions, graph []string) {
	for _, c := range declarations(declared.Catalog()) {
		for _, p := range c.Permissions {
			// Types of Resource Manager may also read the directory, for example the members
			// of a group. Permissions of Graph have no slash.
			if c.Service == graphService || !strings.Contains(p, "/") {
				graph = append(graph, p)
			} else {
				actions = append(actions, p)
			}
		}
	}
	// Discovery lists the subscriptions of a management group.
	actions = append(actions, "Microsoft.Management/managementGroups/descendants/read")
	return sortedSet(actions), sortedSet(graph)
}

// sortedSet sorts names, ignoring case as Azure does, and removes duplicates.
func sortedSet(names []string) []string {
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return slices.CompactFunc(names, strings.EqualFold)
}
