// Package probe looks at the components of the estate, again and again, and
// hands over what it finds.
//
// Every component is a Target with a Look of its own, and has a goroutine of its
// own: one that hangs delays nothing else. A look that does not come back in
// time is abandoned, and none is begun beside it. What a look finds, or why it
// found nothing, goes to one function, which puts it on the desktop.Board.
//
// There is one file per kind of component. Those that need a large library are
// packages of their own: vcenter and eventdb.
package probe
