// Package httpapi turns functions into HTTP. It is the only place that knows
// status codes.
//
// A server is a table of [Route] values. A route's handler is mostly a plain
// function from a struct to a value, adapted by [JSON]: the struct is filled
// from the path, the query, the headers and the body, checked, and handed over;
// what comes back is encoded before a byte is sent, so that a failure can still
// become an error answer. A handler reports trouble as a fault, and one table
// turns its kind into a status.
//
// Everything that holds for every request happens once, in [Mux]: request ids,
// limits, the guard, the audit record, panics, log lines, metrics.
package httpapi
