package desktop

import (
	"fmt"
	"testing"
	"time"
)

// demo returns an inventory of the size that the server is designed for.
func demo() Inventory {
	inv := Inventory{Policy: DefaultPolicy()}
	for i := range 20 {
		inv.ConnectionServers = append(inv.ConnectionServers, ConnectionServer{ID: ID(fmt.Sprintf("c%d", i)), Name: fmt.Sprintf("cs%d", i), Self: i == 0})
	}
	for i := range 4 {
		inv.Domains = append(inv.Domains, Domain{ID: ID(fmt.Sprintf("d%d", i)), DNSName: fmt.Sprintf("d%d.example", i), Primary: i == 0})
	}
	for i := range 50 {
		inv.Farms = append(inv.Farms, Farm{ID: ID(fmt.Sprintf("f%d", i)), Name: fmt.Sprintf("farm%d", i), Enabled: true, Type: FarmManual})
	}
	for i := range 500 {
		inv.RDSServers = append(inv.RDSServers, RDSServer{ID: ID(fmt.Sprintf("r%d", i)), Name: fmt.Sprintf("rds%d", i), FarmID: ID(fmt.Sprintf("f%d", i%50)), Enabled: true})
	}
	return inv
}

func newDemo() *Board {
	b := NewBoard(time.Now)
	b.Configure(demo())
	for i := range 20 {
		b.Observe(Observation{Kind: KindConnectionServer, ID: ID(fmt.Sprintf("c%d", i)), At: time.Now(), Reading: ConnectionServerReading{}})
	}
	return b
}

func BenchmarkTick(b *testing.B) {
	board := newDemo()
	for b.Loop() {
		board.Tick()
	}
}

func BenchmarkHeartbeatAndList(b *testing.B) {
	board := newDemo()
	for n := 0; b.Loop(); n++ {
		board.Observe(Observation{Kind: KindRDSServer, ID: ID(fmt.Sprintf("r%d", n%500)), At: time.Now(), Reading: AgentBeat{SessionCount: n}})
		board.Document(KindRDSServer)
	}
}

func BenchmarkPeerHealth(b *testing.B) {
	board := newDemo()
	for n := 0; b.Loop(); n++ {
		board.Observe(Observation{Kind: KindConnectionServer, ID: ID(fmt.Sprintf("c%d", n%20)), At: time.Now(), Reading: ConnectionServerReading{}})
	}
}

func BenchmarkDocumentOf500Servers(b *testing.B) {
	board := newDemo()
	for b.Loop() {
		board.Document(KindRDSServer)
	}
}
