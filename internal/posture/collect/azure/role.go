package azure

import (
	"encoding/json"
	"slices"
	"strings"

	"vigil/internal/posture/collect/declared"
)

// Role returns the least that the application must be allowed for everything to
// be read, as the definition of a custom role for some scopes. It allows neither
// data nor secrets.
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
		panic(err) // strings alone cannot fail
	}
	return append(text, '\n')
}

// GraphPermissions returns the application permissions of Microsoft Graph that
// the types of the directory take. Without them those types are unknown.
func GraphPermissions() []string {
	_, graph := permissions()
	return graph
}

// permissions returns what the collectors need, of Resource Manager and of Graph.
func permissions() (actions, graph []string) {
	for _, c := range declarations(declared.Catalog()) {
		for _, p := range c.Permissions {
			// Types of Resource Manager may ask the directory as well: who is in a group.
			if c.Service == graphService || !strings.Contains(p, "/") {
				graph = append(graph, p)
			} else {
				actions = append(actions, p)
			}
		}
	}
	// Validation lists groups, and discovery the subscriptions of a management group.
	actions = append(actions, "Microsoft.Management/managementGroups/descendants/read")
	return sortedSet(actions), sortedSet(graph)
}

// sortedSet sorts names without regard to case, as Azure compares them, and keeps
// each once.
func sortedSet(names []string) []string {
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return slices.CompactFunc(names, strings.EqualFold)
}
