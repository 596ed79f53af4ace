package gcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/collecttest"
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
)

// TestEntitiesMatchDeclarations reads whole projects. Every entity must match the declaration of
// its type, and every declared property and edge must occur.
func TestEntitiesMatchDeclarations(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Projects: 4, Seed: 7, Size: 400, Page: 7})
	declared, used := declarations(), map[string]bool{}
	for i := range c.Projects() {
		got := collecttest.All(t, c.source(), c.access(i))
		for kind, err := range got.Failures {
			t.Errorf("%s: %v", kind, err)
		}
		for kind, problems := range got.Problems {
			t.Errorf("%s: %v", kind, problems)
		}
		for id, e := range got.Entities {
			for _, problem := range undeclared(declared[e.Type], e, got.Entities, used) {
				t.Errorf("%s: %s", id, problem)
			}
		}
		if len(got.Entities) < 400 {
			t.Errorf("only %d entities were read, want at least 400", len(got.Entities))
		}
	}
	for kind, d := range declared {
		for _, p := range d.Properties {
			if !used[string(kind)+" "+p.Name] {
				t.Errorf("no %s has a %s", kind, p.Name)
			}
		}
		for _, e := range d.Edges {
			if !used[string(kind)+" "+e.Label] {
				t.Errorf("no %s has an edge %s", kind, e.Label)
			}
		}
	}
}

// undeclared returns how the properties and edges of an entity differ from its declaration, and
// records in used which of them it has.
func undeclared(d collect.Declaration, e posture.Entity, all map[posture.EntityID]posture.Entity, used map[string]bool) []string {
	var problems []string
	properties := map[string]collect.Property{}
	for _, p := range d.Properties {
		properties[p.Name] = p
	}
	for i, p := range e.Properties {
		used[string(d.Type)+" "+p.Name] = true
		want, ok := properties[p.Name]
		switch {
		case !ok:
			problems = append(problems, "property "+p.Name+" is not declared")
		case p.Type != want.Kind:
			problems = append(problems, "property "+p.Name+" is a "+p.Type)
		case i > 0 && e.Properties[i-1].Name == p.Name && !want.List:
			problems = append(problems, "property "+p.Name+" occurs twice")
		}
	}
	for _, edge := range e.Edges {
		used[string(d.Type)+" "+edge.Label] = true
		to, ok := all[edge.To]
		if !ok && (edge.Label == "GRANTS" || edge.Label == "HAS_IP" && e.Type == "GCP.SQL.Instance") {
			continue // a principal outside the project's policy, or an address of Google
		}
		if !ok {
			problems = append(problems, "edge "+edge.Label+" leads to "+string(edge.To)+", which was not read")
			continue
		}
		if !hasEdge(d, edge.Label, to.Type) {
			problems = append(problems, "edge "+edge.Label+" to "+string(to.Type)+" is not declared")
		}
	}
	if e.XID == "" && !strings.HasPrefix(string(e.Type), "GCP.IAM.") && e.Type != "GCP.Compute.PublicIp" && e.Type != "GCP.Compute.CidrRange" {
		problems = append(problems, "it has no XID")
	}
	return problems
}

// TestSingleReadsAgree reads each entity again by the name in events and by its own name,
// and expects the same result.
func TestSingleReadsAgree(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 9, Size: 60})
	source := c.source()
	all := collecttest.All(t, source, c.access(0))
	session, err := source.Open(t.Context(), c.access(0))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for id, want := range all.Entities {
		region := locationOf(want)
		unit, ok := session.Unit(want.Type, region)
		if !ok || unit.Region != posture.Global {
			t.Fatalf("%s: unit %+v", id, unit)
		}
		names := []string{strings.TrimPrefix(string(id), string(want.Type.ID(want.Account, region, "")))}
		if _, path, ok := strings.Cut(want.XID, "/projects/"); ok {
			names = append(names, "projects/"+path)
		}
		for _, name := range names {
			got := map[posture.EntityID]posture.Entity{}
			err := unit.Get(t.Context(), name, func(r *collect.Resource) error {
				r.Normalize()
				got[r.ID] = r.Entity
				return nil
			})
			if err != nil {
				t.Errorf("%s: get %s: %v", id, name, err)
				continue
			}
			if diff := cmp.Diff(want, got[id]); diff != "" {
				t.Errorf("%s: get %s (-listed +got):\n%s", id, name, diff)
			}
		}
	}
}

// locationOf returns the location in an entity's id.
func locationOf(e posture.Entity) string {
	if strings.HasPrefix(string(e.ID), string(e.Type.ID(e.Account, e.Region, ""))) {
		return e.Region
	}
	return posture.Global
}

func TestMissingResourcesAreGone(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 2, Size: 60})
	session, err := c.source().Open(t.Context(), c.access(0))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, d := range c.source().Declarations() {
		if strings.HasSuffix(string(d.Type), ".Project") || d.Type == "GCP.EssentialContacts.Contacts" || d.Type == "GCP.AccessApproval.Settings" {
			continue // there is always exactly one
		}
		if d.Declared != nil && d.Declared.Gathered {
			continue // a gathered type reads all resources
		}
		unit, _ := session.Unit(d.Type, "europe-west1")
		name := "nothing"
		switch d.Type {
		// The names of these types begin with that of their parent.
		case "GCP.AlloyDB.Instance", "GCP.Container.NodePool", "GCP.IAM.ServiceAccountKey", "GCP.IAM.WorkloadIdentityPoolProvider", "GCP.KMS.CryptoKey", "GCP.Spanner.Database":
			name = "nobody/nothing"
		}
		err := unit.Get(t.Context(), name, func(r *collect.Resource) error {
			t.Errorf("%s: the read of a missing resource returned %s", d.Type, r.ID)
			return nil
		})
		if !isGone(err) {
			t.Errorf("%s: the error is %v, want ErrGone", d.Type, err)
		}
	}
}

// TestReadingIsDeterministic checks that results do not depend on the order of
// responses or on the page size.
func TestReadingIsDeterministic(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 4, Size: 300})
	first := collecttest.All(t, c.source(), c.access(0))
	second := collecttest.All(t, c.source(), c.access(0))
	if diff := cmp.Diff(first.Entities, second.Entities); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
	small := start(t, simgcp.Options{Seed: 4, Size: 300, Page: 3})
	paged := collecttest.All(t, small.source(), small.access(0))
	if diff := cmp.Diff(first.Entities, paged.Entities); diff != "" {
		t.Errorf("in small pages (-first +paged):\n%s", diff)
	}
}

// TestSecretsAreNotRead looks for all secrets that the simulated cloud returns: start-up scripts,
// keys, variables, tokens in URLs.
func TestSecretsAreNotRead(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 6, Shares: world.Shares{Default: 1}})
	text, err := json.Marshal(collecttest.All(t, c.source(), c.access(0)).Entities)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"simulated-", "ssh-ed25519", "PRIVATE KEY"} { // passwords and tokens begin with simulated-
		if strings.Contains(string(text), secret) {
			t.Errorf("%q was read", secret)
		}
	}
}

// TestProjectsAreIsolated reads two projects with one key concurrently.
func TestProjectsAreIsolated(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 8, Projects: 2, Size: 100})
	for i, p := range c.Projects() {
		t.Run(p.ID, func(t *testing.T) {
			t.Parallel()
			for id, e := range collecttest.All(t, c.source(), c.access(i)).Entities {
				other := c.Projects()[1-i]
				if text, _ := json.Marshal(e); strings.Contains(string(text), other.ID) || strings.Contains(string(text), other.Number) {
					t.Errorf("%s names the other project", id)
				}
			}
		})
	}
}

// TestChangesAreRead changes resources of a cloud without flaws. All findings come from the changes.
func TestChangesAreRead(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 5, Shares: world.Shares{Default: -1}})
	project := c.Projects()[0].ID
	for _, change := range []simgcp.Change{
		{Type: "GCP.Compute.Firewall", Project: project, Name: "fw-00000", Patch: world.Obj("sourceRanges", world.Items("0.0.0.0/0"), "allowed", world.Items(world.Obj("IPProtocol", "tcp", "ports", world.Items("22"))))},
		{Type: "GCP.Compute.Instance", Project: project, Name: "vm-00003", Gone: true},
		{Type: "GCP.Compute.Network", Project: project, Name: "default", Make: world.Obj("name", "default", "selfLink", "https://www.googleapis.com/compute/v1/projects/"+project+"/global/networks/default")},
		{Type: "GCP.KMS.CryptoKey", Project: project, Parent: "ring-00001", Name: "key-00002", Patch: world.Obj("_policy", world.Obj("bindings", world.Items(world.Obj("role", "roles/viewer", "members", world.Items("allUsers")))))},
	} {
		if err := c.Change(change); err != nil {
			t.Fatal(err)
		}
	}
	got := collecttest.All(t, c.source(), c.access(0)).Entities
	want := map[world.Finding]bool{
		{Rule: "gcp-fw-ssh-open", Entity: posture.EntityID("GCP.Compute." + project + ".global.Firewall.fw-00000")}:                   true,
		{Rule: "gcp-default-network", Entity: posture.EntityID("GCP.Compute." + project + ".global.Network.default")}:                 true,
		{Rule: "gcp-dns-logging", Entity: posture.EntityID("GCP.Compute." + project + ".global.Network.default")}:                     true, // no DNS policy applies to the new network
		{Rule: "gcp-kms-key-public", Entity: posture.EntityID("GCP.KMS." + project + ".europe-west1.CryptoKey.ring-00001/key-00002")}: true,
	}
	if diff := cmp.Diff(want, findings(got)); diff != "" {
		t.Errorf("findings (-want +read):\n%s", diff)
	}
	simulated := map[world.Finding]bool{}
	for f := range c.Findings(project) {
		simulated[f] = true
	}
	if diff := cmp.Diff(want, simulated); diff != "" {
		t.Errorf("findings (-want +world):\n%s", diff)
	}
	if _, ok := got[posture.EntityID("GCP.Compute."+project+".europe-west1-c.Instance.vm-00003")]; ok {
		t.Error("a deleted instance was read")
	}
}
