package evaluate_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
)

// now is the time of the clock in the tests.
var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const (
	groupType   posture.EntityType = "AWS.EC2.SecurityGroup"
	rangeType   posture.EntityType = "AWS.EC2.CidrRange"
	hostType    posture.EntityType = "AWS.EC2.Instance"
	roleType    posture.EntityType = "AWS.IAM.Role"
	bucketType  posture.EntityType = "AWS.S3.Bucket"
	keyType     posture.EntityType = "AWS.KMS.Key"
	region                         = "eu-west-1"
	otherRegion                    = "us-east-1"
	account     posture.AccountID  = "123456789012"
)

// schema is a small part of AWS.
var schema = evaluate.NewSchema([]evaluate.Kind{
	{Type: groupType, Properties: []string{"groupName"}, Edges: []evaluate.Link{{Label: "ALLOWS_INGRESS", To: []posture.EntityType{rangeType, groupType}}}},
	{Type: rangeType, Properties: []string{"isInternet"}, Exposed: []evaluate.Fact{{Property: "isInternet", Why: "is the whole internet"}}},
	{Type: hostType, Exposed: []evaluate.Fact{{Property: "publicIpAddress", Why: "has a public address"}}, Properties: []string{"publicIpAddress", "launchTime", "state"}, Edges: []evaluate.Link{
		{Label: "MEMBER_OF", To: []posture.EntityType{groupType}}, {Label: "HAS_ROLE", To: []posture.EntityType{roleType}},
	}},
	{Type: roleType, Powerful: []string{"inlineAllowsAdmin"}, Properties: []string{"inlineAllowsAdmin"}, Edges: []evaluate.Link{{Label: "READS", To: []posture.EntityType{bucketType}}}},
	{Type: bucketType, Sensitive: true, Exposed: []evaluate.Fact{{Property: "public", Why: "is public"}}, Properties: []string{"public", "versioning"}, Edges: []evaluate.Link{{Label: "ENCRYPTED_BY", To: []posture.EntityType{keyType}}}},
	{Type: keyType, Sensitive: true, Properties: []string{"rotationEnabled"}},
})

// regional are the types that are read region by region.
var regional = []posture.EntityType{groupType, rangeType, hostType, bucketType, keyType}

// A world is the entities of an account under test, and which of its scopes were read.
type world struct {
	entities map[posture.EntityID]posture.Entity
	coverage map[posture.Scope]posture.Coverage
}

func newWorld(es ...posture.Entity) *world {
	w := &world{map[posture.EntityID]posture.Entity{}, map[posture.Scope]posture.Coverage{}}
	w.put(es...)
	for _, t := range regional {
		w.read(t, region)
		w.read(t, otherRegion)
	}
	w.read(roleType, posture.Global)
	return w
}

func (w *world) put(es ...posture.Entity) {
	for _, e := range es {
		w.entities[e.ID] = e
	}
}

// read records that a scope was read.
func (w *world) read(t posture.EntityType, region string) {
	w.coverage[posture.Scope{Type: t, Region: region}] = posture.Coverage{Type: t, Region: region, Succeeded: now}
}

// fail records that the last attempt to read a scope failed.
func (w *world) fail(t posture.EntityType, region string) {
	s := posture.Scope{Type: t, Region: region}
	c := w.coverage[s]
	c.Type, c.Region, c.Failed = t, region, now.Add(time.Minute)
	w.coverage[s] = c
}

func (w *world) coverageList() []posture.Coverage { return slices.Collect(maps.Values(w.coverage)) }

// EntitiesOf implements [evaluate.Lookup].
func (w *world) EntitiesOf(_ context.Context, _ posture.OrgID, _ posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	found := map[posture.EntityID]posture.Entity{}
	for _, id := range ids {
		if e, ok := w.entities[id]; ok {
			found[id] = e
		}
	}
	return found, nil
}

// fataler has the methods that *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func (w *world) graph(t fataler) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.Limits{})
	for _, id := range slices.Sorted(maps.Keys(w.entities)) {
		e := w.entities[id]
		if err := b.Add(graphcache.Record(&e)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (w *world) account(t testing.TB) evaluate.Account {
	return evaluate.Account{Org: "o", ID: account, Provider: posture.AWS, Graph: w.graph(t), Generation: 7, Coverage: w.coverageList()}
}

func evaluator(w *world) *evaluate.Evaluator {
	return evaluate.New(schema, w, func() time.Time { return now })
}

// entity returns an entity. The parts are properties, edges and maps of tags in any order.
func entity(t posture.EntityType, region, name string, parts ...any) posture.Entity {
	e := posture.Entity{
		ID: t.ID(account, region, name), Type: t, Name: name, XID: "arn:" + name, Account: account, Provider: posture.AWS, Region: region,
		Service: t.Service(),
	}
	for _, p := range parts {
		switch p := p.(type) {
		case posture.Property:
			e.Properties = append(e.Properties, p)
		case posture.Edge:
			e.Edges = append(e.Edges, p)
		case map[string]string:
			e.Tags = p
		}
	}
	e.Normalize()
	return e
}

func to(label string, e posture.Entity) posture.Edge { return posture.Edge{Label: label, To: e.ID} }

func rule(id posture.RuleID, text string) posture.Rule {
	return posture.Rule{
		ID: id, Name: string(id), Provider: posture.AWS, Level: posture.High, Status: posture.RuleEnabled,
		Query: posture.RuleQuery{Language: posture.GraphQuery, Text: text},
	}
}

// names shortens ids to the names of entities.
func names(ids []posture.EntityID, w *world) []string {
	all := []string{}
	for _, id := range ids {
		all = append(all, w.entities[id].Name)
	}
	slices.Sort(all)
	return all
}

func violatingIDs(r posture.RuleJudgement) []posture.EntityID {
	var ids []posture.EntityID
	for _, v := range r.Violating {
		ids = append(ids, v.Finding.Object)
	}
	return ids
}
