// Package reach connects probes to endpoints: over TLS that is verified or
// pinned, within time and size limits, and with errors classified in terms that
// all kinds of components share.
package reach
