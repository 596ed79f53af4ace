// Package desktop contains the domain types of the desktop server: the
// components of a virtual-desktop infrastructure, the readings taken from them,
// and pure functions that derive the monitor records of the API from readings.
//
// Every kind of component has the same three types. The spec (Farm) is its
// configuration in the inventory. The reading (VirtualCenterReading, AgentBeat)
// is the result of a probe or a heartbeat. The monitor record (FarmMonitor) is
// derived from both and is the document that the API serves, which is why it has
// JSON tags here.
//
// A Board stores the latest readings and derives the records when they change.
// It does not probe: reading from it is cheap in any state of the environment.
//
// The package imports only the standard library and package fault, so that every
// other package of the desktop server may import it.
package desktop
