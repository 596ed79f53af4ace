// Package exec runs plans.
//
// A plan becomes a chain of operators (push-based, vectorised execution).
// Traversers flow through it in batches: columns of vertex or edge handles (or
// of values), of bulks, and of paths and sacks if the plan needs them. An
// operator receives a batch and pushes its results to the next operator. An
// operator that needs its whole input stores what it needs and pushes its
// results when the input has ended.
//
// A batch belongs to the operator that filled it and is valid only during the
// call that passes it; the receiver may change it. So operators reuse their
// memory, and a chain allocates nothing in steady state.
package exec
