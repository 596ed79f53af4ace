package azure_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/posture/collect/collecttest"
)

var (
	action          = regexp.MustCompile(`^Microsoft\.[A-Za-z]+(/[A-Za-z0-9]+)+/read$`)
	graphPermission = regexp.MustCompile(`^[A-Z][A-Za-z]+\.Read\.(All|Directory)$`)
)

func TestDeclarationsAreComplete(t *testing.T) {
	t.Parallel()
	all := azure.New(azure.Options{}).Declarations()
	types := map[posture.EntityType]bool{}
	for _, d := range all {
		if types[d.Type] {
			t.Errorf("%s is declared twice", d.Type)
		}
		types[d.Type] = true
	}
	sentence := func(where, doc string) {
		if !strings.HasSuffix(doc, ".") || len(doc) < 6 || doc[0] < 'A' || doc[0] > 'Z' {
			t.Errorf("%s: %q is not a sentence", where, doc)
		}
	}
	for _, d := range all {
		name := string(d.Type)
		sentence(name, d.Doc)
		if d.Type.Provider() != posture.Azure || strings.Count(name, ".") != 2 || d.Scope != collect.PerAccount || len(d.Events) == 0 || len(d.Permissions) == 0 {
			t.Errorf("%s is declared as %+v", name, d)
		}
		for _, p := range d.Permissions {
			// Types of Azure Resource Manager may also need permissions of Microsoft Graph.
			valid := graphPermission.MatchString(p) || d.Service == "arm" && action.MatchString(p)
			if (d.Service == "arm" || d.Service == "graph") && !valid {
				t.Errorf("%s: permission %q", name, p)
			}
		}
		seen := map[string]bool{}
		for _, p := range d.Properties {
			sentence(name+" "+p.Name, p.Doc)
			if seen[p.Name] || p.Kind != posture.StringProperty && p.Kind != posture.BoolProperty && p.Kind != posture.LongProperty {
				t.Errorf("%s: property %+v", name, p)
			}
			seen[p.Name] = true
		}
		for _, e := range d.Edges {
			sentence(name+" "+e.Label, e.Doc)
			if e.Label != strings.ToUpper(e.Label) || len(e.To) == 0 {
				t.Errorf("%s: edge %+v", name, e)
			}
			for _, to := range e.To {
				if !types[to] {
					t.Errorf("%s: edge %s leads to %s, which is not a type", name, e.Label, to)
				}
			}
		}
	}
}

// TestRuleInputsAreDeclared checks that the types, properties, permissions, edges and
// events in the list of checks are declared.
func TestRuleInputsAreDeclared(t *testing.T) {
	t.Parallel()
	declared := map[posture.EntityType]collect.Declaration{}
	for _, d := range azure.New(azure.Options{}).Declarations() {
		declared[d.Type] = d
	}
	rules := collecttest.Needs(t, "azure")
	if len(rules) != len(judgements) {
		t.Errorf("%d rules, %d of them have an expected verdict", len(rules), len(judgements))
	}
	for _, r := range rules {
		declaration, ok := declared[r.ResourceType]
		if !ok || judgements[r.ID].resourceType != r.ResourceType {
			t.Errorf("%s: %s is not declared, or judgements has another type", r.ID, r.ResourceType)
			continue
		}
		neighbours := []collect.Declaration{declaration} // the type itself and those within two edges of it
		for _, e := range declaration.Edges {
			for _, to := range e.To {
				neighbours = append(neighbours, declared[to])
				for _, e := range declared[to].Edges {
					for _, to := range e.To {
						neighbours = append(neighbours, declared[to])
					}
				}
			}
		}
		for _, name := range r.Properties {
			if !slices.ContainsFunc(neighbours, func(d collect.Declaration) bool { return hasProperty(d, name) }) {
				t.Errorf("%s: neither %s nor a type within two edges of it has the property %s", r.ID, r.ResourceType, name)
			}
		}
		for _, p := range r.Permissions {
			if !anyDeclares(declared, func(d collect.Declaration) bool { return slices.Contains(d.Permissions, p) }) {
				t.Errorf("%s: no call needs %s", r.ID, p)
			}
		}
		for _, path := range r.GraphEdges {
			checkPath(t, r.ID, path, declared)
		}
		for _, trigger := range r.EventTriggers {
			for _, operation := range operations(trigger) {
				if unrelatedOperations[r.ID] != nil && unrelatedOperations[r.ID].MatchString(operation) {
					continue
				}
				if !slices.ContainsFunc(typesOf(r, declared), func(d collect.Declaration) bool { return concerns(d, operation) }) {
					t.Errorf("%s: none of its types is read again after %q", r.ID, operation)
				}
			}
		}
	}
}

func hasProperty(d collect.Declaration, name string) bool {
	return slices.ContainsFunc(d.Properties, func(p collect.Property) bool { return p.Name == name })
}

func anyDeclares(all map[posture.EntityType]collect.Declaration, f func(collect.Declaration) bool) bool {
	for _, d := range all {
		if f(d) {
			return true
		}
	}
	return false
}

var hop = regexp.MustCompile(`-\[([A-Z_]+)\]->`)

// checkPath checks a path such as A-[HAS]->B|C-[IS]->D.
func checkPath(t *testing.T, id, path string, declared map[posture.EntityType]collect.Declaration) {
	t.Helper()
	nodes, labels := hop.Split(path, -1), hop.FindAllStringSubmatch(path, -1)
	for i, label := range labels {
		for _, to := range strings.Split(nodes[i+1], "|") {
			if !slices.ContainsFunc(fullTypes(nodes[i], declared), func(from posture.EntityType) bool {
				return slices.ContainsFunc(fullTypes(to, declared), func(target posture.EntityType) bool { return hasEdge(declared[from], label[1], target) })
			}) {
				t.Errorf("%s: %s has no edge %s to %s", id, nodes[i], label[1], to)
			}
		}
	}
}

// fullTypes returns the types that a short name may denote: both Log Analytics and
// Databricks have workspaces.
func fullTypes(short string, declared map[posture.EntityType]collect.Declaration) (all []posture.EntityType) {
	for t := range declared {
		if strings.HasSuffix(string(t), "."+short) {
			all = append(all, t)
		}
	}
	return all
}

// unrelatedOperations are operations that the list of checks names with a rule although they do not
// change its input: whether a machine's disks are managed does not depend on its network
// or roles.
var unrelatedOperations = map[string]*regexp.Regexp{
	"azure-vm-managed-disks": regexp.MustCompile(`^Microsoft\.(Network/(networkInterfaces|publicIPAddresses)|Authorization/roleAssignments)/`),
}

// typesOf returns the types that a rule reads: its own and those on its paths.
func typesOf(r collecttest.Need, declared map[posture.EntityType]collect.Declaration) []collect.Declaration {
	all := []collect.Declaration{declared[r.ResourceType]}
	for _, path := range r.GraphEdges {
		for _, node := range hop.Split(path, -1) {
			for short := range strings.SplitSeq(node, "|") {
				for _, t := range fullTypes(short, declared) {
					all = append(all, declared[t])
				}
			}
		}
	}
	return all
}

// operations returns the operations that a trigger denotes. Triggers look like
// "entra audit: Update policy, Add/Delete policy", "event grid: Microsoft.KeyVault.KeyNewVersionCreated"
// or "Microsoft.Compute/disks/write|delete".
func operations(trigger string) []string {
	if names, ok := strings.CutPrefix(trigger, "entra audit: "); ok {
		var all []string
		for _, name := range strings.Split(names, ", ") {
			verbs, rest, _ := strings.Cut(name, " ")
			for _, verb := range strings.Split(verbs, "/") {
				all = append(all, verb+" "+rest)
			}
		}
		return all
	}
	if name, ok := strings.CutPrefix(trigger, "event grid: "); ok {
		return []string{name}
	}
	i := strings.LastIndex(trigger, "/") + 1
	var all []string
	for _, verb := range strings.Split(trigger[i:], "|") {
		all = append(all, trigger[:i]+verb)
	}
	return all
}

// concerns reports whether an operation is one of a type's events.
func concerns(d collect.Declaration, operation string) bool {
	for _, e := range d.Events {
		for _, name := range e.Names {
			if operation == e.Source+"/"+name || operation == e.Source+"."+name || e.Source == "entra audit" && operation == name {
				return true
			}
		}
	}
	return false
}

// TestRoleIsReadOnly checks the role that customers assign to Vigil.
func TestRoleIsReadOnly(t *testing.T) {
	t.Parallel()
	got := azure.Role("/subscriptions/00000000-0000-0000-0000-000000000000")
	var role struct{ Actions, DataActions []string }
	if err := json.Unmarshal(got, &role); err != nil {
		t.Fatal(err)
	}
	for _, a := range role.Actions {
		if !action.MatchString(a) || strings.Contains(strings.ToLower(a), "listkeys") {
			t.Errorf("the role allows %s", a)
		}
	}
	if len(role.Actions) < 60 || len(role.DataActions) != 0 {
		t.Errorf("the role has %d actions and %d on data", len(role.Actions), len(role.DataActions))
	}
	if got := strings.Join(azure.GraphPermissions(), " "); got != "AuditLog.Read.All Directory.Read.All Policy.Read.All RoleEligibilitySchedule.Read.Directory" {
		t.Errorf("permissions of Graph are %s", got)
	}
}
