package aws_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/collecttest"
	"vigil/internal/posture/collect/declared"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
	"vigil/resources"
)

var (
	permissionForm = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9*]+$`)
	labelForm      = regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	nameForm       = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)
)

func declarations() map[posture.EntityType]collect.Declaration {
	all := map[posture.EntityType]collect.Declaration{}
	for _, d := range aws.New(aws.Options{}).Declarations() {
		all[d.Type] = d
	}
	return all
}

func TestDeclarationsAreComplete(t *testing.T) {
	t.Parallel()
	all := declarations()
	if len(all) < 60 {
		t.Errorf("there are %d types, want 60 at least", len(all))
	}
	if n := len(aws.New(aws.Options{}).Declarations()); n != len(all) {
		t.Errorf("%d declarations for %d types", n, len(all))
	}
	for kind, d := range all {
		if strings.Count(string(kind), ".") != 2 || kind.Provider() != posture.AWS {
			t.Errorf("%s is no entity type of AWS", kind)
		}
		if d.Service == "" || len(d.Permissions) == 0 || len(d.Events) == 0 {
			t.Errorf("%s has no service, permissions or events", kind)
		}
		sentence(t, string(kind), d.Doc)
		for _, p := range d.Permissions {
			if !permissionForm.MatchString(p) {
				t.Errorf("%s: %q is no permission", kind, p)
			}
		}
		seen := map[string]bool{}
		for _, p := range d.Properties {
			if seen[p.Name] || !nameForm.MatchString(p.Name) {
				t.Errorf("%s: the property %q is duplicated or has an invalid name", kind, p.Name)
			}
			seen[p.Name] = true
			sentence(t, string(kind)+" "+p.Name, p.Doc)
		}
		for _, e := range d.Edges {
			if !labelForm.MatchString(e.Label) || len(e.To) == 0 {
				t.Errorf("%s: the edge %q has an invalid name or no target", kind, e.Label)
			}
			sentence(t, string(kind)+" "+e.Label, e.Doc)
			for _, to := range e.To {
				if _, ok := all[to]; !ok {
					t.Errorf("%s: the edge %s leads to %s, which no unit reads", kind, e.Label, to)
				}
			}
		}
		for _, e := range d.Events {
			if !strings.HasSuffix(e.Source, ".amazonaws.com") || len(e.Names) == 0 {
				t.Errorf("%s: events of %q", kind, e.Source)
			}
		}
	}
}

func sentence(t *testing.T, what, doc string) {
	t.Helper()
	if len(doc) < 6 || !strings.HasSuffix(doc, ".") {
		t.Errorf("%s: %q is no sentence", what, doc)
	}
}

// TestEntitiesMatchDeclarations reads a whole simulated account. Every property and edge
// that is read must be declared, and every declared one must be read in that account
// or in a case of the type.
func TestEntitiesMatchDeclarations(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 3, Size: 600, Accounts: 3})
	all := declarations()
	read := map[string]bool{}
	for i := range 3 {
		checkEntities(t, collecttest.All(t, aws.New(c.options), c.access(i)), all, read)
	}
	noteCases(t, read)
	for kind, d := range all {
		for _, p := range d.Properties {
			if !read[string(kind)+" "+p.Name] {
				t.Errorf("%s: nothing has the property %s", kind, p.Name)
			}
		}
		for _, e := range d.Edges {
			if !read[string(kind)+" "+e.Label] {
				t.Errorf("%s: nothing has the edge %s", kind, e.Label)
			}
		}
	}
}

// noteCases records what the cases of the declarations read.
func noteCases(t *testing.T, read map[string]bool) {
	t.Helper()
	for _, declared := range declared.Catalog().Of(posture.AWS) {
		all, err := cases.Read(resources.Files, declared.File())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			for _, e := range c.Entities {
				for name := range e.Properties {
					read[string(declared.Type)+" "+name] = true
				}
				for label := range e.Edges {
					read[string(declared.Type)+" "+label] = true
				}
			}
		}
	}
}

// checkEntities compares entities with the declarations of their types. It sets
// read["ID NAME"] and read["TYPE NAME"] for each property, and read["TYPE LABEL"] for each edge.
func checkEntities(t *testing.T, got collecttest.Read, all map[posture.EntityType]collect.Declaration, read map[string]bool) {
	t.Helper()
	for _, e := range got.Entities {
		d := all[e.Type]
		if e.Name == "" || e.XID == "" {
			t.Errorf("%s has no Name or no XID", e.ID)
		}
		for _, p := range e.Properties {
			i := slices.IndexFunc(d.Properties, func(x collect.Property) bool { return x.Name == p.Name })
			if i < 0 || d.Properties[i].Kind != p.Type {
				t.Errorf("%s: the property %s of kind %s is not declared", e.ID, p.Name, p.Type)
				continue
			}
			// A list has one property of this name per item.
			if key := string(e.ID) + " " + p.Name; !d.Properties[i].List && read[key] {
				t.Errorf("%s: the property %s is duplicated", e.ID, p.Name)
			} else {
				read[key] = true
			}
			read[string(e.Type)+" "+p.Name] = true
		}
		for _, edge := range e.Edges {
			checkEdge(t, got, d, e, edge)
			read[string(e.Type)+" "+edge.Label] = true
		}
	}
}

// checkEdge checks that an edge leads to an entity of a declared type.
func checkEdge(t *testing.T, got collecttest.Read, d collect.Declaration, from posture.Entity, e posture.Edge) {
	t.Helper()
	i := slices.IndexFunc(d.Edges, func(x collect.Edge) bool { return x.Label == e.Label })
	if i < 0 {
		t.Errorf("%s: the edge %s is not declared", from.ID, e.Label)
		return
	}
	to, ok := got.Entities[e.To]
	if !ok {
		t.Errorf("%s: the edge %s leads to %s, which does not exist", from.ID, e.Label, e.To)
		return
	}
	if !slices.Contains(d.Edges[i].To, to.Type) {
		t.Errorf("%s: the edge %s leads to a %s", from.ID, e.Label, to.Type)
	}
}

// TestSingleReadsAgree reads every entity again by its name, as after an event.
func TestSingleReadsAgree(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 5})
	source := aws.New(c.options)
	got := collecttest.All(t, source, c.access(0))
	session, err := source.Open(t.Context(), c.access(0))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, e := range got.Entities {
		unit, ok := session.Unit(e.Type, e.Region)
		if !ok {
			t.Fatalf("no unit reads %s", e.Type)
		}
		second := readOne(t, unit, nameOf(e))
		if second == nil {
			t.Errorf("%s was not found again", e.ID)
			continue
		}
		second.Normalize()
		if text(t, *second) != text(t, e) {
			t.Errorf("%s differs when it is read alone:\n%s\n%s", e.ID, text(t, *second), text(t, e))
		}
	}
}

// nameOf returns the last part of an entity's id. The location in the id is the entity's region,
// or posture.Global for types whose ids have no region.
func nameOf(e posture.Entity) string {
	for _, region := range []string{e.Region, posture.Global} {
		if name, ok := strings.CutPrefix(string(e.ID), string(e.Type.ID(e.Account, region, ""))); ok {
			return name
		}
	}
	return ""
}

func readOne(t *testing.T, u collect.Unit, name string) (found *posture.Entity) {
	t.Helper()
	err := u.Get(t.Context(), name, func(r *collect.Resource) error {
		if found != nil {
			t.Errorf("%s %s was read twice", u.Type, name)
		}
		found = &r.Entity
		return nil
	})
	if err != nil {
		t.Errorf("read %s %s: %v", u.Type, name, err)
	}
	return found
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestDeclaredPermissionsMatchCalls compares the declared permissions of each type with
// the calls that lists and single reads make.
func TestDeclaredPermissionsMatchCalls(t *testing.T) {
	t.Parallel()
	for kind, d := range declarations() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			// With a negative share, no resource violates a rule.
			c := start(t, simaws.Options{Seed: 7, Regions: []string{"us-east-1"}, Shares: world.Shares{Default: -1}})
			source := aws.New(c.options)
			session, err := source.Open(t.Context(), c.access(0))
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			unit, _ := session.Unit(kind, "us-east-1")
			c.gateway.Faults.ResetCounts()
			var names []string
			if err := unit.List(t.Context(), func(r *collect.Resource) error {
				names = append(names, nameOf(r.Entity))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if len(names) > 0 {
				readOne(t, unit, names[0])
			}
			requested := map[string]bool{}
			for call := range c.gateway.Faults.Calls() {
				requested[simulatedPermission(call)] = true
			}
			for p := range requested {
				if !slices.Contains(d.Permissions, p) {
					t.Errorf("%s is used and not declared", p)
				}
			}
			for _, p := range d.Permissions {
				if !requested[p] && len(names) > 0 { // of a type that is not simulated, only the list is requested
					t.Errorf("%s is declared and not used", p)
				}
			}
		})
	}
}

// simulatedPermission returns the permission that AWS would require for a call that
// the simulator received. It does not use the collector's own table.
func simulatedPermission(c gateway.Call) string {
	special := map[string]string{
		"s3:ListBuckets": "s3:ListAllMyBuckets", "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
		"s3:GetPublicAccessBlock": "s3:GetBucketPublicAccessBlock", "s3-control:GetPublicAccessBlock": "s3:GetAccountPublicAccessBlock",
		"s3:GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration", "s3:GetObjectLockConfiguration": "s3:GetBucketObjectLockConfiguration",
		"s3-control:ListAccessPoints": "s3:ListAccessPoints", "s3-control:GetAccessPoint": "s3:GetAccessPoint",
	}
	name := c.Service + ":" + c.Action
	if p, ok := special[name]; ok {
		return p
	}
	if c.Service == "apigateway" {
		return "apigateway:GET"
	}
	return strings.Replace(name, "monitoring:", "cloudwatch:", 1)
}

// TestRuleInputsAreDeclared checks that the types, properties, edges, permissions and
// events that rules use are declared.
func TestRuleInputsAreDeclared(t *testing.T) {
	t.Parallel()
	all := declarations()
	for _, r := range collecttest.Needs(t, "aws") {
		d, ok := all[r.ResourceType]
		if !ok {
			t.Errorf("%s: nothing reads %s", r.ID, r.ResourceType)
			continue
		}
		reachable := map[string]bool{}
		for _, p := range d.Properties {
			reachable[p.Name] = true
		}
		for _, path := range r.GraphEdges {
			checkPath(t, r.ID, path, all, reachable)
		}
		for _, name := range r.Properties {
			if !reachable[name] {
				t.Errorf("%s: %s has no property %s, nor has what its edges lead to", r.ID, r.ResourceType, name)
			}
		}
		checkEvents(t, r, d)
	}
	granted := map[string]bool{}
	for _, d := range all {
		for _, p := range d.Permissions {
			granted[p] = true
		}
	}
	for _, r := range collecttest.Needs(t, "aws") {
		for _, p := range r.Permissions {
			if !granted[p] && p != "s3:GetPublicAccessBlock" { // rules state the name of this call instead of its permission
				t.Errorf("%s: no call needs the permission %s", r.ID, p)
			}
		}
	}
}

var step = regexp.MustCompile(`-\[(\w+)\]->([\w.|]+)`)

// checkPath checks that the edges of a path such as IAM.Policy-[ATTACHED_TO]->IAM.User|Group|Role
// are declared, and adds the properties of their targets to reachable.
func checkPath(t *testing.T, rule, path string, all map[posture.EntityType]collect.Declaration, reachable map[string]bool) {
	t.Helper()
	from := []string{path[:strings.Index(path, "-[")]}
	for _, s := range step.FindAllStringSubmatch(path, -1) {
		label, to := s[1], strings.Split(s[2], "|")
		for i, name := range to { // targets after the first may lack the service
			if prefix, _, ok := strings.Cut(to[0], "."); ok && i > 0 && !strings.Contains(name, ".") {
				to[i] = prefix + "." + name
			}
		}
		for _, target := range to {
			if !hasEdge(all, from, label, target) {
				t.Errorf("%s: %s: no edge %s from %v to %s is declared", rule, path, label, from, target)
			}
		}
		for kind, d := range all {
			if slices.ContainsFunc(to, func(name string) bool { return hasShortName(kind, name) }) {
				for _, p := range d.Properties {
					reachable[p.Name] = true
				}
			}
		}
		from = to
	}
}

// hasShortName reports whether a type has a short name such as EC2.Vpc, Account or
// CidrRange.
func hasShortName(t posture.EntityType, short string) bool {
	return strings.HasSuffix(string(t), "."+short)
}

func hasEdge(all map[posture.EntityType]collect.Declaration, from []string, label, to string) bool {
	for kind, d := range all {
		if !slices.ContainsFunc(from, func(name string) bool { return hasShortName(kind, name) }) {
			continue
		}
		for _, e := range d.Edges {
			if e.Label == label && slices.ContainsFunc(e.To, func(t posture.EntityType) bool { return hasShortName(t, to) }) {
				return true
			}
		}
	}
	return false
}

// checkEvents checks that every event that can change the verdict of a rule causes its
// resource to be read again.
func checkEvents(t *testing.T, r collecttest.Need, d collect.Declaration) {
	t.Helper()
	for _, trigger := range r.EventTriggers {
		source, names, _ := strings.Cut(trigger, ": ")
		for name := range strings.SplitSeq(names, ", ") {
			if !slices.ContainsFunc(d.Events, func(e collect.Event) bool { return e.Source == source && slices.Contains(e.Names, name) }) {
				t.Errorf("%s: %s is not read again after %s %s", r.ID, d.Type, source, name)
			}
		}
	}
}

// TestPolicies checks that the generated policies for the role that Vigil assumes allow
// what the declarations need, that they only read, and that IAM accepts their number
// and size.
func TestPolicies(t *testing.T) {
	t.Parallel()
	texts := aws.Policies(declared.Catalog())
	if len(texts) > 10 {
		t.Errorf("%d policies; a role has at most 10", len(texts))
	}
	actions := map[string][]string{} // by effect
	policyOf := map[string]int{}     // the policy of each service
	for i, text := range texts {
		var small bytes.Buffer
		if err := json.Compact(&small, text); err != nil || small.Len() > 6144 {
			t.Errorf("policy %d has %d characters, %v", i+1, small.Len(), err)
		}
		var policy struct {
			Version   string
			Statement []struct {
				Effect   string
				Action   []string
				Resource string
			}
		}
		if err := json.Unmarshal(text, &policy); err != nil {
			t.Fatal(err)
		}
		for _, s := range policy.Statement {
			actions[s.Effect] = append(actions[s.Effect], s.Action...)
			for _, action := range s.Action {
				service, _, _ := strings.Cut(action, ":")
				if other, ok := policyOf[service]; ok && other != i && s.Effect == "Allow" {
					t.Errorf("%s is in policies %d and %d", service, other+1, i+1)
				}
				if s.Effect == "Allow" {
					policyOf[service] = i
				}
			}
		}
	}
	allowed, denied := actions["Allow"], actions["Deny"]
	if len(denied) == 0 {
		t.Error("nothing is denied")
	}
	for kind, d := range declarations() {
		for _, p := range d.Permissions {
			if !slices.Contains(allowed, p) {
				t.Errorf("%s needs %s", kind, p)
			}
		}
	}
	reading := regexp.MustCompile(`:(Describe|Get|BatchGet|List|GET|GenerateCredentialReport)`)
	for _, p := range allowed {
		if !reading.MatchString(p) {
			t.Errorf("%s does more than read", p)
		}
		if slices.Contains(denied, p) {
			t.Errorf("%s is allowed and denied", p)
		}
	}
}
