// Package reach is how probes reach endpoints: over TLS that is verified or
// pinned, within time and size limits, and with an answer to why one could not
// be reached that every kind of component can use.
package reach
