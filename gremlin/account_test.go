package gremlin_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"vigil/graph"
)

// account returns a graph like that of a cloud account with about n resources: many
// instances and volumes that refer to a few shared keys, roles, groups and buckets.
func account(tb testing.TB, n int) *graph.Graph {
	tb.Helper()
	a := &accountBuilder{tb: tb, b: graph.NewBuilder(graph.Limits{}), rnd: rand.New(rand.NewPCG(1, uint64(n)))}
	a.fill(n)
	g, err := a.b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

type accountBuilder struct {
	tb  testing.TB
	b   *graph.Builder
	rnd *rand.Rand
}

var regions = []string{"eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-south-1"}

func (a *accountBuilder) vertex(label string, i int, props map[string]graph.Value) graph.Value {
	id := graph.String(fmt.Sprintf("AWS.%s.123456789012.%06d", label, i))
	h, err := a.b.AddVertex(id, label)
	if err != nil {
		a.tb.Fatal(err)
	}
	set := func(k string, v graph.Value) {
		if err := a.b.SetProperty(h, k, v); err != nil {
			a.tb.Fatal(err)
		}
	}
	set("entityName", graph.String(fmt.Sprintf("%s-%d", label, i)))
	set("region", graph.String(regions[a.rnd.IntN(len(regions))]))
	for k, v := range props {
		set(k, v)
	}
	return id
}

func (a *accountBuilder) edge(label string, from, to graph.Value) {
	if _, err := a.b.AddEdge(graph.Null, label, from, to); err != nil {
		a.tb.Fatal(err)
	}
}

// addMany adds n vertices of a label.
func (a *accountBuilder) addMany(label string, n int, props func(i int) map[string]graph.Value) []graph.Value {
	out := make([]graph.Value, n)
	for i := range out {
		out[i] = a.vertex(label, i, props(i))
	}
	return out
}

func (a *accountBuilder) any(values []graph.Value) graph.Value {
	return values[a.rnd.IntN(len(values))]
}

func (a *accountBuilder) fill(n int) {
	noProperties := func(int) map[string]graph.Value { return nil }
	chance := func(p float64) graph.Value { return graph.Bool(a.rnd.Float64() < p) }
	keys := a.addMany("KMS.Key", n/100+1, func(int) map[string]graph.Value {
		return map[string]graph.Value{"rotation": chance(0.7)}
	})
	roles := a.addMany("IAM.Role", n/20+1, func(i int) map[string]graph.Value {
		return map[string]graph.Value{"admin": chance(0.05), "age": graph.Int(int32(a.rnd.IntN(900)))}
	})
	groups := a.addMany("EC2.SecurityGroup", n/20+1, noProperties)
	ports := []int32{22, 80, 443, 3389, 5432, 8080}
	rules := a.addMany("EC2.IngressRule", n/8+1, func(int) map[string]graph.Value {
		cidr := "10.0.0.0/8"
		if a.rnd.Float64() < 0.2 {
			cidr = "0.0.0.0/0"
		}
		return map[string]graph.Value{"port": graph.Int(ports[a.rnd.IntN(len(ports))]), "cidr": graph.String(cidr)}
	})
	for _, r := range rules {
		a.edge("ALLOWS_INGRESS", a.any(groups), r)
	}
	buckets := a.addMany("S3.Bucket", n/10+1, func(int) map[string]graph.Value {
		return map[string]graph.Value{"public": chance(0.1), "versioning": chance(0.5), "size": graph.Long(a.rnd.Int64N(1 << 40))}
	})
	for _, b := range buckets {
		if a.rnd.Float64() < 0.6 {
			a.edge("ENCRYPTED_BY", b, a.any(keys))
		}
	}
	instances := a.addMany("EC2.Instance", n*3/10, func(i int) map[string]graph.Value {
		return map[string]graph.Value{
			"public": chance(0.2), "cpu": graph.Double(a.rnd.Float64() * 100), "launched": graph.Int(int32(a.rnd.IntN(1000))),
			"tag.env": graph.String([]string{"prod", "test", "dev"}[a.rnd.IntN(3)]),
		}
	})
	volumes := a.addMany("EC2.Volume", n*3/10, func(int) map[string]graph.Value {
		return map[string]graph.Value{"encrypted": chance(0.8), "gib": graph.Int(int32(8 << a.rnd.IntN(8)))}
	})
	for _, i := range instances {
		for range 1 + a.rnd.IntN(3) {
			a.edge("MEMBER_OF", i, a.any(groups))
		}
		a.edge("HAS_ROLE", i, a.any(roles))
		a.edge("WRITES_TO", i, a.any(buckets))
	}
	for _, v := range volumes {
		a.edge("ATTACHED_TO", v, a.any(instances))
	}
	for _, r := range roles {
		a.edge("CAN_ASSUME", r, a.any(roles))
		a.edge("CAN_READ", r, a.any(buckets))
	}
}
