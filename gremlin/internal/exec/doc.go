// Package exec runs plans.
//
// A plan becomes a chain of operators. Traversers flow through it in batches:
// columns of vertex or edge handles (or of values), of bulks, and of paths and
// sacks where somebody asks for them. An operator is handed a batch, and pushes
// what it makes of it to the next; one that has to see everything first keeps
// what it needs and pushes when it is told that the input has ended.
//
// A batch belongs to whoever filled it and is good only during the call that
// hands it over, in which the receiver may change it. Operators thus reuse
// their memory, and a chain in full flow allocates nothing.
package exec
