// Package heartbeat takes the reports of gateways and RDS agents.
//
// A machine enrols once, with a token that an administrator made for it, and
// gets a client certificate from a small authority of our own. From then on it
// proves itself with the certificate: it reports every interval (30 seconds
// unless the inventory says otherwise) and renews the certificate in time.
// Every report carries a number that must grow, and the last number is kept on
// disk before the report counts, so that a recorded report can be replayed
// neither now nor after a restart. The clock of the machine does not matter:
// reports count from when they arrive.
//
// [Service] is the server's half, [Client] the machine's.
package heartbeat
