package graph_test

import (
	"bytes"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vigil/graph"
)

func snapshot(t require, g *graph.Graph) []byte {
	var buf bytes.Buffer
	n, err := g.WriteTo(&buf)
	if err != nil || n != int64(buf.Len()) {
		t.Fatalf("wrote %d of %d bytes: %v", n, buf.Len(), err)
	}
	return buf.Bytes()
}

func TestSnapshotKeepsGraph(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		model := map[string]graph.Record{}
		for _, c := range rapid.SliceOfN(changes(), 0, 10).Draw(t, "vertices") {
			model[c.ID.Str()] = c.Record
		}
		for id, r := range model {
			if r.Label == "" { // drawn as a removal
				delete(model, id)
			}
		}
		g := buildGraph(t, model)
		g, err := g.Patch(rapid.SliceOfN(changes(), 0, 3).Draw(t, "patch"))
		if err != nil {
			t.Fatalf("patch: %v", err)
		}
		back, err := graph.Read(bytes.NewReader(snapshot(t, g)))
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if diff := cmp.Diff(dump(t, g), dump(t, back)); diff != "" {
			t.Fatalf("snapshot differs (-before +after):\n%s", diff)
		}
	})
}

func TestSnapshotKeepsEveryKindOfValue(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -5*3600-1800)
	huge, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	all := []graph.Value{
		graph.Null, graph.Bool(true), graph.Byte(-1), graph.Short(-300), graph.Int(-70000), graph.Long(-1 << 40),
		graph.BigInt(huge), graph.Float(1.5), graph.Double(-2.25), graph.BigDecimal(huge, -7), graph.BigDecimal(big.NewInt(15), 1),
		graph.DateTime(time.Date(1969, 1, 2, 3, 4, 5, 6, zone)), graph.String("text"), graph.UUID([16]byte{1, 2, 3}),
		graph.Set(graph.Int(1), graph.Null), graph.List(graph.List(), graph.String("x")),
		graph.Map(graph.Entry{Key: graph.String("k"), Value: graph.List(graph.Int(1))}),
	}
	b := graph.NewBuilder(graph.Limits{})
	for _, v := range all {
		h, err := b.AddVertex(graph.Null, "A")
		if err != nil {
			t.Fatal(err)
		}
		// The column of "p" is mixed. The column named after the kind has only values of that kind.
		if err := b.SetProperty(h, "p", v); err != nil {
			t.Fatal(err)
		}
		if err := b.SetProperty(h, v.Kind().String(), v); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	back, err := graph.Decode(snapshot(t, g))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range all {
		for _, key := range []string{"p", want.Kind().String()} {
			k, _ := back.KeyByName(key)
			if got, ok := back.VertexValue(graph.Handle(i), k); !ok || !got.Equal(want) {
				t.Errorf("%s %v is %v after reading back", want.Kind(), want, got)
			}
		}
	}
}

func TestSnapshotKeepsToyGraphs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"modern", "crew", "sink", "grateful"} {
		g := toy(t, name)
		back, err := graph.Decode(snapshot(t, g))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(dump(t, g), dump(t, back)); diff != "" {
			t.Errorf("%s differs (-before +after):\n%s", name, diff)
		}
		for _, e := range g.Edges() {
			if f, ok := back.EdgeByID(g.EdgeID(e)); !ok || f != e {
				t.Fatalf("%s: edge %v differs after reading back", name, g.EdgeID(e))
			}
		}
	}
}

func TestDamagedSnapshotIsRejected(t *testing.T) {
	t.Parallel()
	data := snapshot(t, account(t, 50))
	for i := 0; i < len(data); i += 7 {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		if _, err := graph.Decode(bad); !errors.Is(err, graph.ErrSnapshot) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for _, n := range []int{0, 1, 8, 12, len(data) - 1} {
		if _, err := graph.Decode(data[:n]); !errors.Is(err, graph.ErrSnapshot) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

// FuzzDecode decodes arbitrary bodies without checking the checksum.
func FuzzDecode(f *testing.F) {
	for _, n := range []int{0, 1, 5, 40} {
		data := snapshot(f, account(f, n))
		f.Add(data[len(graph.SnapshotMagic) : len(data)-4])
	}
	// What account lacks: ids of properties and edges, meta-properties, further values, an unknown
	// value, and an edge to a missing vertex.
	b := graph.NewBuilder(graph.Limits{})
	v, _ := b.AddVertex(graph.Int(1), "A")
	_ = b.AddProperty(v, "p", graph.VertexProperty{ID: graph.Long(7), Value: graph.Double(1), Meta: []graph.Meta{{Key: "m", Value: graph.Float(1)}}})
	_ = b.AddProperty(v, "p", graph.VertexProperty{Value: graph.List(graph.Bool(true))})
	_ = b.SetUnknown(v, "q", "denied")
	e, _ := b.AddEdge(graph.Int(5), "x", graph.Int(1), graph.Int(2))
	_ = b.SetEdgeProperty(e, "w", graph.BigDecimal(big.NewInt(5), 2))
	g, _ := b.Build()
	data := snapshot(f, g)
	f.Add(data[len(graph.SnapshotMagic) : len(data)-4])

	f.Fuzz(func(t *testing.T, body []byte) {
		g, err := graph.DecodeBody(body)
		if err != nil {
			return
		}
		if g.Bytes() > int64(1000*len(body)+100_000) {
			t.Errorf("%d bytes decode to a graph of %d", len(body), g.Bytes())
		}
		walk(g)
		if _, err := graph.Decode(snapshot(t, g)); err != nil {
			t.Errorf("a decoded graph cannot be encoded and decoded again: %v", err)
		}
	})
}

// walk accesses everything in a graph.
func walk(g *graph.Graph) {
	for _, v := range g.Vertices() {
		r := g.Record(v)
		for _, p := range r.Properties {
			_ = p.Value.String()
		}
		g.Neighbours(v, graph.In)
		l, _ := g.VertexRow(v)
		for _, k := range g.VertexKeysOf(l) {
			g.VertexIndex(l, k).Equal(graph.Int(1))
			g.VertexPropertyCount(v, k)
		}
	}
	for _, e := range g.Edges() {
		g.EdgeByID(g.EdgeID(e))
	}
}

func BenchmarkSnapshot(b *testing.B) {
	g := account(b, 50_000)
	data := snapshot(b, g)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			snapshot(b, g)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := graph.Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
