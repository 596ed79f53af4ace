package app

import (
	"testing"
	"time"

	"vigil/internal/desktop"
)

func TestLongestLockoutWindow(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	board := desktop.NewBoard(time.Now)
	board.Configure(desktop.Inventory{Policy: desktop.DefaultPolicy(), Domains: []desktop.Domain{{ID: "d1"}, {ID: "d2"}}})
	read := func(id desktop.ID, window time.Duration) {
		board.Observe(desktop.Observation{Kind: desktop.KindDomain, ID: id, At: time.Now(), Reading: desktop.DomainReading{
			Lockout: desktop.LockoutPolicy{Threshold: 5, Window: window},
		}})
	}
	directory := loginDirectory{board: board}
	read("d1", time.Hour)
	if got := directory.LongestWindow(); got != longestWindow {
		t.Errorf("while a directory was not read: %s, want %s", got, longestWindow)
	}
	read("d2", 2*day)
	if got := directory.LongestWindow(); got != 2*day {
		t.Errorf("after all were read: %s, want %s", got, 2*day)
	}
}
