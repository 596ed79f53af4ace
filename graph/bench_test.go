package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"vigil/graph"
)

var accountLabels = []string{"Instance", "Volume", "SecurityGroup", "Subnet", "Role", "Policy", "Bucket", "Key"}

// resourceID returns the id of the i-th resource of an account.
func resourceID(region string, i int) graph.Value {
	return graph.String(fmt.Sprintf("arn:aws:service:%s:123456789012:resource/%08x", region, i))
}

// accountRecord generates the i-th of n resources of an account: about fifteen
// properties, two of them unique, and three edges. The region in its id is random, but
// all edges lead to ids in eu-west-1: most of them lead to no record, unless the caller
// replaces the ids as account does.
func accountRecord(i, n int, r *rand.Rand) graph.Record {
	kind := i % len(accountLabels)
	region := []string{"eu-west-1", "us-east-1", "ap-south-1"}[r.IntN(3)]
	rec := graph.Record{
		ID:    resourceID(region, i),
		Label: accountLabels[kind],
	}
	set := func(k string, v graph.Value) {
		p := graph.PropertyRecord{Key: k}
		p.Value = v
		rec.Properties = append(rec.Properties, p)
	}
	set("name", graph.String(fmt.Sprintf("resource-%d", i)))
	set("region", graph.String(region))
	set("state", graph.String([]string{"running", "stopped", "pending"}[r.IntN(3)]))
	set("encrypted", graph.Bool(r.IntN(4) > 0))
	set("public", graph.Bool(r.IntN(20) == 0))
	set("size", graph.Int(r.Int32N(1000)))
	set("created", graph.Long(1_700_000_000_000+r.Int64N(1e10)))
	for p := range 7 {
		set(fmt.Sprintf("%s%d", accountLabels[kind], p), graph.String(fmt.Sprintf("v%d", r.IntN(10))))
	}
	if r.IntN(30) == 0 {
		set(fmt.Sprintf("tag.%d", r.IntN(200)), graph.String("yes"))
	}
	for range 3 {
		j := r.IntN(n)
		rec.Out = append(rec.Out, graph.EdgeRecord{Label: fmt.Sprintf("uses%s", accountLabels[j%len(accountLabels)]), To: resourceID("eu-west-1", j)})
	}
	return rec
}

// account builds an account of n resources, in which every edge leads to a resource.
func account(tb testing.TB, n int) *graph.Graph {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	b := graph.NewBuilder(graph.Limits{})
	for i := range n {
		rec := accountRecord(i, n, r)
		rec.ID = resourceID("eu-west-1", i)
		if err := b.Add(rec); err != nil {
			tb.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func BenchmarkBuild(b *testing.B) {
	const n = 50_000
	r := rand.New(rand.NewPCG(1, 2))
	records := make([]graph.Record, n)
	for i := range records {
		records[i] = accountRecord(i, n, r)
	}
	b.ReportAllocs()
	for b.Loop() {
		bl := graph.NewBuilder(graph.Limits{})
		for _, rec := range records {
			if err := bl.Add(rec); err != nil {
				b.Fatal(err)
			}
		}
		g, err := bl.Build()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(g.Bytes())/float64(g.NumVertices()+g.NumEdges()), "B/element")
	}
}

func BenchmarkPatch(b *testing.B) {
	for _, n := range []int{50_000, 500_000} {
		g := account(b, n)
		r := rand.New(rand.NewPCG(3, 4))
		rec := g.Record(graph.Handle(n / 2))
		cases := map[string]func() graph.Change{
			"property": func() graph.Change {
				c := rec
				c.Properties = append([]graph.PropertyRecord(nil), rec.Properties...)
				const size = 5 // index of the property "size"
				c.Properties[size].Value = graph.Int(r.Int32())
				return graph.Change{Record: c}
			},
			"edges": func() graph.Change {
				c := rec
				c.Out = accountRecord(n/2, n, r).Out
				return graph.Change{Record: c}
			},
			"new": func() graph.Change {
				c := rec
				c.ID = graph.String("another")
				return graph.Change{Record: c}
			},
			"remove": func() graph.Change { return graph.Change{Record: rec, Remove: true} },
		}
		for name, change := range cases {
			b.Run(fmt.Sprintf("%s-%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := g.Patch([]graph.Change{change()}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkNeighbours(b *testing.B) {
	g := account(b, 50_000)
	for b.Loop() {
		n := 0
		for _, v := range g.Vertices() {
			for _, w := range g.Neighbours(v, graph.Out) {
				n += len(g.Neighbours(w, graph.Out))
			}
		}
		if n == 0 {
			b.Fatal("no neighbours")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.NumEdges()), "ns/edge")
}

func BenchmarkReadCell(b *testing.B) {
	g := account(b, 50_000)
	k, _ := g.KeyByName("state")
	vs := g.Vertices()
	running := graph.String("running")
	for b.Loop() {
		n := 0
		for _, v := range vs {
			if x, ok := g.VertexValue(v, k); ok && graph.Eq(x, running) {
				n++
			}
		}
		if n == 0 {
			b.Fatal("none is running")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(vs)), "ns/cell")
}

func BenchmarkIndex(b *testing.B) {
	for _, key := range []string{"name", "state", "size"} {
		b.Run(key, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				g := account(b, 20_000)
				k, _ := g.KeyByName(key)
				b.StartTimer()
				for l := range g.VertexLabels() {
					g.VertexIndex(graph.Label(l), k)
				}
			}
		})
	}
}
