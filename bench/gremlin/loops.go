package main

import "vigil/graph"

// loops are hand-written equivalents of some queries over the same columns. They
// return the number that the query counts.
var loops = map[string]func(g *graph.Graph) int64{
	"volume-plain":         volumePlain,
	"volume-plain-running": volumePlainRunning,
	"instance-exposed":     instanceExposed,
	"instance-admin":       instanceAdmin,
	"count-by-size":        countBySize,
}

// names looks up labels, keys and columns by name.
type names struct{ g *graph.Graph }

func (n names) vertex(name string) graph.Label { l, _ := n.g.VertexLabelByName(name); return l }
func (n names) edge(name string) graph.Label   { l, _ := n.g.EdgeLabelByName(name); return l }
func (n names) column(label, key string) *graph.Column {
	k, _ := n.g.KeyByName(key)
	return n.g.VertexColumn(n.vertex(label), k)
}

func volumePlain(g *graph.Graph) int64 {
	n := names{g}
	encrypted := n.column("AWS.EC2.Volume", "encrypted")
	count := int64(0)
	for row := range uint32(len(g.VertexRows(n.vertex("AWS.EC2.Volume")))) {
		if encrypted.Has(row) && !encrypted.Bools().Has(row) {
			count++
		}
	}
	return count
}

func volumePlainRunning(g *graph.Graph) int64 {
	n := names{g}
	volume := n.edge("volume")
	isEncrypted := n.column("AWS.EC2.Volume", "encrypted").Bools() // without Has, because every volume has a value
	state := n.column("AWS.EC2.Instance", "state").Codes()
	running, _ := g.CodeOf("running")
	seen := graph.NewBits(g.VertexCap())
	count := int64(0)
	for row, v := range g.VertexRows(n.vertex("AWS.EC2.Volume")) {
		if isEncrypted.Has(uint32(row)) {
			continue
		}
		for _, i := range g.NeighboursBy(v, graph.In, volume) {
			if _, instance := g.VertexRow(i); state[instance] == running && !seen.Has(i) {
				seen.Set(i)
				count++
			}
		}
	}
	return count
}

func instanceExposed(g *graph.Graph) int64 {
	n := names{g}
	group, rule := n.edge("securityGroup"), n.edge("rule")
	public := n.column("AWS.EC2.Instance", "publicIp")
	direction := n.column("AWS.EC2.SecurityGroupRule", "direction").Codes()
	cidr := n.column("AWS.EC2.SecurityGroupRule", "cidr")
	ingress, _ := g.CodeOf("ingress")
	world, _ := g.CodeOf("0.0.0.0/0")
	open := func(v graph.Handle) bool {
		for _, s := range g.NeighboursBy(v, graph.Out, group) {
			for _, r := range g.NeighboursBy(s, graph.Out, rule) {
				_, row := g.VertexRow(r)
				// Every rule has a direction, so the position of its value in Codes is its row.
				// Only some rules have a cidr, so Place looks up the position.
				if i := cidr.Place(row); direction[row] == ingress && i >= 0 && cidr.Codes()[i] == world {
					return true
				}
			}
		}
		return false
	}
	count := int64(0)
	for row, v := range g.VertexRows(n.vertex("AWS.EC2.Instance")) {
		if public.Has(uint32(row)) && open(v) {
			count++
		}
	}
	return count
}

func instanceAdmin(g *graph.Graph) int64 {
	n := names{g}
	role, policy := n.edge("role"), n.edge("policy")
	admin := n.column("AWS.IAM.Policy", "admin").Bools()
	hasAdminPolicy := func(v graph.Handle) bool {
		for _, r := range g.NeighboursBy(v, graph.Out, role) {
			for _, p := range g.NeighboursBy(r, graph.Out, policy) {
				if _, row := g.VertexRow(p); admin.Has(row) {
					return true
				}
			}
		}
		return false
	}
	count := int64(0)
	for _, v := range g.VerticesOf(n.vertex("AWS.EC2.Instance")) {
		if hasAdminPolicy(v) {
			count++
		}
	}
	return count
}

// countBySize groups like the query. It returns the sum of the groups, only so that it can be
// compared with the query's.
func countBySize(g *graph.Graph) int64 {
	counts := map[uint32]int64{}
	for _, code := range (names{g}).column("AWS.EC2.Instance", "instanceType").Codes() {
		counts[code]++
	}
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	return total
}
