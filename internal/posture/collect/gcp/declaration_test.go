package gcp_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/collecttest"
	"vigil/internal/posture/collect/gcp"
)

var permission = regexp.MustCompile(`^[a-z]+(\.[a-zA-Z]+){1,2}\.(list|get|getIamPolicy|getEffectiveFirewalls|getRegionEffectiveFirewalls)$`)

func declarations() map[posture.EntityType]collect.Declaration {
	all := map[posture.EntityType]collect.Declaration{}
	for _, d := range gcp.New(gcp.Options{}).Declarations() {
		all[d.Type] = d
	}
	return all
}

func TestDeclarationsAreComplete(t *testing.T) {
	t.Parallel()
	all := gcp.New(gcp.Options{}).Declarations()
	types := declarations()
	if len(all) != len(types) || len(all) < 35 {
		t.Errorf("%d declarations of %d types, want one for each of at least 35 types", len(all), len(types))
	}
	sentence := func(where, doc string) {
		if !strings.HasSuffix(doc, ".") || len(doc) < 6 || doc[0] < 'A' || doc[0] > 'Z' {
			t.Errorf("%s: %q is not a sentence", where, doc)
		}
	}
	for _, d := range all {
		name := string(d.Type)
		if first := d.Doc[:1]; first != strings.ToUpper(first) {
			t.Errorf("%s: %q does not begin with a capital letter", name, d.Doc)
		}
		if d.Type.Provider() != posture.GCP || strings.Count(name, ".") != 2 || d.Scope != collect.PerAccount || d.Service == "" || len(d.Permissions) == 0 || len(d.Properties) == 0 {
			t.Errorf("%s is declared as %+v", name, d)
		}
		if len(d.Events) == 0 && d.Type != "GCP.Compute.PublicIp" {
			t.Errorf("%s: no events", name)
		}
		for _, p := range d.Permissions {
			if !permission.MatchString(p) {
				t.Errorf("%s: permission %q", name, p)
			}
		}
		seen := map[string]bool{}
		for _, p := range d.Properties {
			if !strings.HasSuffix(p.Doc, ".") {
				t.Errorf("%s %s: %q is not a sentence", name, p.Name, p.Doc)
			}
			if seen[p.Name] || p.Kind != posture.StringProperty && p.Kind != posture.BoolProperty && p.Kind != posture.LongProperty {
				t.Errorf("%s: property %+v", name, p)
			}
			seen[p.Name] = true
		}
		labels := map[string]bool{}
		for _, e := range d.Edges {
			sentence(name+" "+e.Label, e.Doc)
			if e.Label != strings.ToUpper(e.Label) || len(e.To) == 0 || labels[e.Label] {
				t.Errorf("%s: edge %+v", name, e)
			}
			labels[e.Label] = true
			for _, to := range e.To {
				if _, ok := types[to]; !ok {
					t.Errorf("%s: edge %s leads to %s, which is not a type", name, e.Label, to)
				}
			}
		}
		for _, e := range d.Events {
			if !strings.HasSuffix(e.Source, ".googleapis.com") || len(e.Names) == 0 {
				t.Errorf("%s: event %+v", name, e)
			}
		}
	}
}

// TestRuleInputsAreDeclared checks that the types, properties, permissions, edges and events that
// each rule needs, by the list of built-in checks, are declared.
func TestRuleInputsAreDeclared(t *testing.T) {
	t.Parallel()
	declared := declarations()
	rules := collecttest.Needs(t, "gcp")
	if len(rules) < 40 {
		t.Errorf("only %d rules, want at least 40", len(rules))
	}
	for _, r := range rules {
		declaration, ok := declared[r.ResourceType]
		if !ok || judgements[r.ID].resourceType != r.ResourceType {
			t.Errorf("%s: the type %s is not declared, or the judgement of the rule is of another type", r.ID, r.ResourceType)
			continue
		}
		related := neighbours(declared, declaration)
		for _, name := range r.Properties {
			if !slices.ContainsFunc(related, func(d collect.Declaration) bool { return hasProperty(d, name) }) {
				t.Errorf("%s: neither %s nor a neighbour has the property %s", r.ID, r.ResourceType, name)
			}
		}
		for _, p := range r.Permissions {
			if !slices.ContainsFunc(related, func(d collect.Declaration) bool { return slices.Contains(d.Permissions, p) }) {
				t.Errorf("%s: no type near %s needs %s", r.ID, r.ResourceType, p)
			}
		}
		for _, path := range r.GraphEdges {
			checkPath(t, r.ID, path, declared)
		}
		for _, trigger := range r.EventTriggers {
			for _, method := range methods(trigger) {
				if !slices.ContainsFunc(related, func(d collect.Declaration) bool { return concerns(d, method) }) {
					t.Errorf("%s: %q is no event of a type near %s", r.ID, method, r.ResourceType)
				}
			}
		}
	}
}

// neighbours returns a declaration and those within two edges of it, in either direction.
func neighbours(declared map[posture.EntityType]collect.Declaration, declaration collect.Declaration) []collect.Declaration {
	types := map[posture.EntityType]bool{declaration.Type: true}
	for range 2 {
		next := map[posture.EntityType]bool{}
		for t, d := range declared {
			for _, e := range d.Edges {
				for _, to := range e.To {
					if types[t] || types[to] {
						next[t], next[to] = true, true
					}
				}
			}
		}
		for t := range next {
			types[t] = true
		}
	}
	var all []collect.Declaration
	for t := range types {
		all = append(all, declared[t])
	}
	return all
}

func hasProperty(d collect.Declaration, name string) bool {
	return slices.ContainsFunc(d.Properties, func(p collect.Property) bool { return p.Name == name })
}

var hop = regexp.MustCompile(`(<?)-\[([A-Z_]+)\]-(>?)`)

// checkPath checks a path such as A-[HAS]->B<-[IN]-C.
func checkPath(t *testing.T, id, path string, declared map[posture.EntityType]collect.Declaration) {
	t.Helper()
	nodes, labels := hop.Split(path, -1), hop.FindAllStringSubmatch(path, -1)
	for i, label := range labels {
		from, to := fullType(nodes[i], declared), fullType(nodes[i+1], declared)
		if label[1] == "<" {
			from, to = to, from
		}
		if from == "" || to == "" || !hasEdge(declared[from], label[2], to) {
			t.Errorf("%s: %q has no edge %s to %q", id, from, label[2], to)
		}
	}
}

// fullType returns the type that a short name denotes.
func fullType(short string, declared map[posture.EntityType]collect.Declaration) posture.EntityType {
	if short == "Project" { // other types end in .Project too
		return "GCP.CloudResourceManager.Project"
	}
	for t := range declared {
		if strings.HasSuffix(string(t), "."+short) {
			return t
		}
	}
	return ""
}

func hasEdge(d collect.Declaration, label string, to posture.EntityType) bool {
	return slices.ContainsFunc(d.Edges, func(e collect.Edge) bool { return e.Label == label && slices.Contains(e.To, to) })
}

// methods returns the methods that a trigger denotes: a.b.insert and a.b.patch for "a.b.insert,
// patch", and SetIamPolicy, without the service, for "SetIamPolicy (cloudkms)".
func methods(trigger string) []string {
	trigger, _, _ = strings.Cut(trigger, " (")
	var all []string
	prefix := ""
	for _, name := range strings.Split(trigger, ", ") {
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			prefix = name[:i+1]
		} else {
			name = prefix + name
		}
		all = append(all, name)
	}
	return all
}

// concerns reports whether a method is one of a type's events.
func concerns(d collect.Declaration, method string) bool {
	return slices.ContainsFunc(d.Events, func(e collect.Event) bool { return slices.Contains(e.Names, method) })
}

// TestRoleIsReadOnly checks that the role that customers grant permits no writing and no reading
// of their data.
func TestRoleIsReadOnly(t *testing.T) {
	t.Parallel()
	for _, p := range gcp.Permissions() {
		if !permission.MatchString(p) {
			t.Errorf("the role allows %s", p)
		}
	}
	for _, data := range []string{"storage.objects.get", "bigquery.tables.getData", "secretmanager.versions.access", "apikeys.keys.getKeyString", "cloudkms.cryptoKeyVersions.useToDecrypt", "logging.logEntries.list"} {
		if slices.Contains(gcp.Permissions(), data) {
			t.Errorf("the role allows %s", data)
		}
	}
}
