// Package probe reads the monitored components periodically and reports the
// results.
//
// Every component is a Target with its own Probe function and its own goroutine,
// so that one that hangs delays no other. A probe that exceeds its timeout is
// abandoned, and no second one is started while it runs. The result of each
// probe, a reading or a failure, is passed to one function, which adds it to
// the desktop.Board.
//
// There is one file per kind of component. Kinds that need a large library have
// their own packages: vcenter and eventdb.
package probe
