// Package desktop holds the vocabulary of the desktop server: the components of
// a virtual-desktop estate, what is read from them, and the pure functions that
// turn readings into the records the monitor API serves.
//
// Every component kind has the same three nouns. The spec (Farm) is what the
// inventory says. The reading (VirtualCenterReading, AgentBeat) is what a probe
// or a heartbeat brought home. The monitor record (FarmMonitor) is derived from
// both, and is the document the API serves: monitor records carry their JSON
// names here because being that document is all they are for.
//
// A Board holds the last readings and derives the records as they change. It
// never probes: asking it is cheap, whatever state the estate is in.
//
// The package imports the standard library and package fault, nothing else, so
// that every other package of the desktop server may import it.
package desktop
