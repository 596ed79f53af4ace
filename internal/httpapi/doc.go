// Package httpapi implements the HTTP side of the servers. It is the only
// package that knows status codes.
//
// A server is a table of [Route] values. A route's handler is usually a
// function from an input struct to a value, adapted by [JSON]: the struct is
// filled from path, query, headers and body, and validated. The returned value
// is encoded before the first byte is sent, so that an encoding failure can
// still become an error response. A handler returns errors as faults, and one
// table maps the kind of a fault to a status.
//
// [Mux] does what every request needs: request ids, limits, authentication by
// the guard, audit records, panics, log lines and metrics.
package httpapi
