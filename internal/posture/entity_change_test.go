package posture_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
)

// TestCompareEdges checks that an edge with other properties is another edge: the role
// that a policy grants to a member is a property.
func TestCompareEdges(t *testing.T) {
	t.Parallel()
	grants := func(to posture.EntityID, roles ...string) (edges []posture.Edge) {
		for _, role := range roles {
			edges = append(edges, posture.Edge{Label: "GRANTS", To: to, Properties: []posture.Property{posture.Text("role", role)}})
		}
		return edges
	}
	plain := []posture.Edge{{Label: "IN", To: "x"}, {Label: "IN", To: "y"}}
	change := func(t posture.ChangeType, label string, to posture.EntityID) posture.EdgeChange {
		return posture.EdgeChange{Type: t, Label: label, To: to}
	}
	for name, tt := range map[string]struct {
		from, to []posture.Edge
		want     []posture.EdgeChange
	}{
		"the same":                    {append(grants("ann", "viewer"), plain...), append(grants("ann", "viewer"), plain...), nil},
		"another target":              {plain[:1], plain[1:], []posture.EdgeChange{change(posture.Deleted, "IN", "x"), change(posture.Added, "IN", "y")}},
		"another property":            {grants("ann", "viewer"), grants("ann", "owner"), []posture.EdgeChange{change(posture.Deleted, "GRANTS", "ann"), change(posture.Added, "GRANTS", "ann")}},
		"no properties any more":      {grants("ann", "viewer"), []posture.Edge{{Label: "GRANTS", To: "ann"}}, []posture.EdgeChange{change(posture.Deleted, "GRANTS", "ann"), change(posture.Added, "GRANTS", "ann")}},
		"a parallel edge more":        {grants("ann", "viewer"), grants("ann", "owner", "viewer"), []posture.EdgeChange{change(posture.Added, "GRANTS", "ann")}},
		"a parallel edge less":        {grants("ann", "owner", "viewer"), grants("ann", "viewer"), []posture.EdgeChange{change(posture.Deleted, "GRANTS", "ann")}},
		"parallel edges, other order": {grants("ann", "owner", "viewer"), grants("ann", "viewer", "owner"), nil},
		"several new parallel edges":  {nil, grants("ann", "owner", "viewer"), []posture.EdgeChange{change(posture.Added, "GRANTS", "ann")}},
	} {
		got := posture.Compare(posture.Entity{Edges: tt.from}, posture.Entity{Edges: tt.to})
		if diff := cmp.Diff(tt.want, got.Edges); diff != "" || got.Empty() != (tt.want == nil) {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
