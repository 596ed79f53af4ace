// Package heartbeat receives the heartbeats of gateways and RDS agents.
//
// A machine enrols once, with a token that an administrator created for it, and
// gets a client certificate from the server's own small certificate authority.
// From then on it authenticates with the certificate: it reports every interval
// (30 seconds by default) and renews the certificate in time. Every report has
// an increasing sequence number, which is written to the database before the
// report is accepted. A recorded report can therefore not be replayed, not even
// after a restart. The machine's clock does not matter: the server uses the
// time of arrival.
//
// [Service] is the server side, [Client] the machine side.
package heartbeat
