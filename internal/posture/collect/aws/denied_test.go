package aws_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

func TestRoleWithoutPermissions(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 1})
	a := c.Account(0)
	got := collecttest.All(t, aws.New(c.options), accessTo(a.ID, a.DeniedRoleArn, a.ExternalID))
	for kind, d := range declarations() {
		errs := got.Failures[kind]
		if len(errs) == 0 {
			t.Errorf("%s was read without a permission", kind)
			continue
		}
		var denied *collect.DeniedError
		if !errors.As(errs[0], &denied) || !slices.Contains(d.Permissions, denied.Permission) {
			t.Errorf("%s: %v names none of its permissions", kind, errs[0])
		}
	}
	for _, e := range got.Entities { // types with exactly one resource, which need no list call
		for _, p := range e.Properties {
			// The region and the account are known without a call.
			if p.Type != posture.UnknownProperty && p.Name != "regionName" && p.Name != "accountId" {
				t.Errorf("%s: %s is %v, want unknown", e.ID, p.Name, p)
			}
		}
	}
}

// TestDeniedCallsLeavePropertiesUnknown denies each call in turn. It checks that
// everything else is unchanged, that the missing values are unknown and not absent,
// and that the error names the missing permission.
func TestDeniedCallsLeavePropertiesUnknown(t *testing.T) {
	t.Parallel()
	// With a negative share, no resource violates a rule. start would replace 0 by its default.
	options := simaws.Options{Seed: 4, Regions: []string{"us-east-1"}, Shares: world.Shares{Default: -1}}
	base := start(t, options)
	complete := collecttest.All(t, aws.New(base.options), base.access(0))
	for call := range base.gateway.Faults.Calls() {
		if call.Service == "sts" { // without a session nothing can be read
			continue
		}
		t.Run(call.Service+" "+call.Action, func(t *testing.T) {
			t.Parallel()
			c := start(t, options)
			c.fault(t, gateway.Fault{Match: gateway.Call{Service: call.Service, Action: call.Action}, Kind: gateway.Deny})
			permission := simulatedPermission(call)
			var types []posture.EntityType
			for kind, d := range declarations() {
				if slices.Contains(d.Permissions, permission) {
					types = append(types, kind)
				}
			}
			got := collecttest.All(t, aws.New(c.options), c.access(0), types...)
			count := 0
			for _, kind := range types {
				for _, err := range slices.Concat(got.Failures[kind], got.Problems[kind]) {
					if !errors.Is(err, collect.ErrDenied) || !strings.Contains(err.Error(), permission) {
						t.Errorf("%s: %v does not name %s", kind, err, permission)
					}
					count++
				}
				if len(got.Failures[kind]) == 0 {
					compareKnown(t, complete.EntitiesOf(kind), got)
				}
			}
			if count == 0 {
				t.Errorf("no error names %s", permission)
			}
		})
	}
}

// compareKnown checks that every entity is still there and that each of its
// properties, tags and edges is either unchanged or unknown.
func compareKnown(t *testing.T, want []posture.Entity, got collecttest.Read) {
	t.Helper()
	for _, w := range want {
		e, ok := got.Entities[w.ID]
		if !ok {
			t.Errorf("%s is missing", w.ID)
			continue
		}
		for _, p := range w.Properties {
			now := get(e, p.Name)
			if now.Type != posture.UnknownProperty && !slices.Contains(all(e, p.Name), p) {
				t.Errorf("%s: %s was %v and is %v", w.ID, p.Name, p, now)
			}
			if now.Type == posture.UnknownProperty && now.Error == "" {
				t.Errorf("%s: %s does not say why it is unknown", w.ID, p.Name)
			}
		}
		for name, value := range w.Tags {
			if get(e, posture.TagsUnread).Type != posture.UnknownProperty && e.Tags[name] != value {
				t.Errorf("%s: the tag %s was %s and is %q", w.ID, name, value, e.Tags[name])
			}
		}
		for _, edge := range w.Edges {
			isSameEdge := func(o posture.Edge) bool { return o.Label == edge.Label && o.To == edge.To }
			if get(e, edge.Label).Type != posture.UnknownProperty && !slices.ContainsFunc(e.Edges, isSameEdge) {
				t.Errorf("%s: the edge %s to %s is missing", w.ID, edge.Label, edge.To)
			}
		}
	}
}
