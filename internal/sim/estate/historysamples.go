package estate

import (
	"math"
	"time"

	"vigil/internal/desktop"
)

// curve is a series with a function of its values over time.
type curve struct {
	series desktop.Series
	value  func(at time.Time) float64
	fine   time.Duration // how far its fine samples go back
	coarse time.Duration
}

// DemoEvents is the number of events in the event database of the demo when it starts.
const DemoEvents = 41_873

// eventsPerHour is the rate of events in the simulated history.
const eventsPerHour = 24

// sample generates the samples of all series.
func (b *historyBuilder) sample() {
	for _, c := range b.curves() {
		b.Fine = append(b.Fine, c.samples(desktop.FineStep, b.now.Add(-c.fine), b.now)...)
		b.Coarse = append(b.Coarse, c.samples(desktop.CoarseStep, b.now.Add(-c.coarse), b.now)...)
	}
}

func (c curve) samples(step time.Duration, from, to time.Time) []desktop.Sample {
	var out []desktop.Sample
	for at := from.UTC().Truncate(step); at.Add(step).Before(to); at = at.Add(step) {
		point := desktop.Point{At: at}
		for i := range 3 { // three measurements per step
			point.Add(int64(c.value(at.Add(time.Duration(i) * step / 3))))
		}
		out = append(out, desktop.Sample{Series: c.series, Point: point})
	}
	return out
}

func (b *historyBuilder) curves() []curve {
	const month = HistoryDays * 24 * time.Hour
	var out []curve
	add := func(k desktop.Kind, id desktop.ID, measure string, fineBack, coarseBack time.Duration, value func(time.Time) float64) {
		out = append(out, curve{desktop.Series{Kind: k, ID: id, Measure: measure}, value, fineBack, coarseBack})
	}
	// ripple adds small differences between components of the same kind.
	ripple := func(n int, at time.Time) float64 {
		return 1 + 0.15*math.Sin(float64(at.Unix())/1700+float64(n)) + 0.08*math.Sin(float64(at.Unix())/310+float64(3*n))
	}
	members := make(map[desktop.ID]int) // number of enabled servers by farm
	seeds := make(map[desktop.ID]int)   // by farm: a different ripple for each
	var enabled int
	for i, r := range b.inv.RDSServers {
		sessions := func(at time.Time) float64 { return 26 * activity(at) * ripple(i, at) }
		if !r.Enabled {
			sessions = func(time.Time) float64 { return 0 }
		} else {
			enabled++
			members[r.FarmID]++
			seeds[r.FarmID] = i
		}
		add(desktop.KindRDSServer, r.ID, "session_count", serverFine, serverCoarse, sessions)
		add(desktop.KindRDSServer, r.ID, "load_index", serverFine, serverCoarse, func(at time.Time) float64 { return 4 + 55*activity(at)*ripple(i, at) })
	}
	for _, f := range b.inv.Farms {
		n, i := float64(members[f.ID]), seeds[f.ID]
		add(desktop.KindFarm, f.ID, "session_count", otherFine, month, func(at time.Time) float64 { return n * 26 * activity(at) * ripple(i, at) })
		add(desktop.KindFarm, f.ID, "load_index", otherFine, month, func(at time.Time) float64 { return 4 + 55*activity(at)*ripple(i, at) })
	}
	// total returns the sum of n components. Its ripple is weaker: those of the components
	// partly cancel each other out.
	total := func(n, each float64, seed int) func(time.Time) float64 {
		return func(at time.Time) float64 { return n * each * activity(at) * (1 + (ripple(seed, at)-1)/4) }
	}
	for _, k := range []desktop.Kind{desktop.KindRDSServer, desktop.KindFarm} {
		add(k, "", "session_count", otherFine, month, total(float64(enabled), 26, 1))
		add(k, "", "load_index", otherFine, month, func(at time.Time) float64 { return 4 + 55*activity(at) })
	}
	for i, cs := range b.inv.ConnectionServers {
		add(desktop.KindConnectionServer, cs.ID, "connection_count", otherFine, month, func(at time.Time) float64 { return 30 * activity(at) * ripple(i, at) })
	}
	add(desktop.KindConnectionServer, "", "connection_count", otherFine, month, total(float64(len(b.inv.ConnectionServers)), 30, 2))
	for i, g := range b.inv.Gateways {
		add(desktop.KindGateway, g.ID, "active_connection_count", otherFine, month, func(at time.Time) float64 { return 120 * activity(at) * ripple(i, at) })
	}
	add(desktop.KindGateway, "", "active_connection_count", otherFine, month, total(float64(len(b.inv.Gateways)), 120, 3))
	if db := b.inv.EventDatabase; db != nil {
		add(desktop.KindEventDatabase, db.ID, "event_count", otherFine, month, func(at time.Time) float64 {
			return DemoEvents - eventsPerHour*b.now.Sub(at).Hours()
		})
	}
	return out
}
