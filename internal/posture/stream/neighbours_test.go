package stream

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// storedEntities is a store that has the given entities.
type storedEntities struct {
	posture.EntityStore
	entities map[posture.EntityID]posture.Entity
}

func (s storedEntities) EntitiesOf(context.Context, posture.OrgID, posture.AccountID, []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	return s.entities, nil
}

// awsDeclarations is a source that declares types of AWS.
type awsDeclarations struct {
	collect.Source
	types []collect.Declaration
}

func (awsDeclarations) Provider() posture.Provider            { return posture.AWS }
func (s awsDeclarations) Declarations() []collect.Declaration { return s.types }

// TestNeighbourThatMovesIsRead moves a network interface between two instances that are read in one
// batch: one instance loses the edge to the interface, the other one gets it.
func TestNeighbourThatMovesIsRead(t *testing.T) {
	t.Parallel()
	const prefix = "AWS.EC2.123456789012.eu-west-1."
	const moved = posture.EntityID(prefix + "NetworkInterface.eni-1")
	edge := []posture.Edge{{Label: "HAS_INTERFACE", To: moved}}
	lost := posture.Entity{ID: prefix + "Instance.i-lost"}
	got := posture.Entity{ID: prefix + "Instance.i-got", Edges: edge}
	before := map[posture.EntityID]posture.Entity{lost.ID: {ID: lost.ID, Edges: edge}, got.ID: {ID: got.ID}}
	instance := collect.Declaration{Type: "AWS.EC2.Instance", Edges: []collect.Edge{{Label: "HAS_INTERFACE", To: []posture.EntityType{"AWS.EC2.NetworkInterface"}}}}
	access := posture.Access{Account: posture.Account{ID: "123456789012", Provider: posture.AWS}}
	want := []posture.Target{{Type: "AWS.EC2.NetworkInterface", Region: "eu-west-1", Name: "eni-1"}}

	for _, order := range [][]posture.Entity{{lost, got}, {got, lost}} {
		for name, stored := range map[string]map[posture.EntityID]posture.Entity{
			"stored": {moved: {ID: moved}}, "not stored": {},
		} {
			r := NewReader(ReaderOptions{Sources: []collect.Source{awsDeclarations{types: []collect.Declaration{instance}}}, Entities: storedEntities{entities: stored}})
			var reads []read
			for _, e := range order {
				reads = append(reads, read{PendingRead: posture.PendingRead{Target: posture.Target{Type: instance.Type}}, found: []posture.Entity{e}})
			}
			targets, err := r.changedNeighbours(t.Context(), access, reads, before)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, targets); diff != "" {
				t.Errorf("first %s, interface %s: %s", order[0].ID, name, diff)
			}
		}
	}
}
