// Package syntax parses and formats the text form of Gremlin as defined by
// TinkerPop 3.8: it converts text to a syntax tree and a tree to canonical text.
//
// A table of step signatures (see [Steps]) controls how arguments are parsed,
// which steps a read-only engine rejects and why, the "did you mean" hints of
// errors, and the reference in STEPS.md. The package does not run queries and
// imports only the standard library.
//
// Parsing is bounded: the length of the text, the number of steps and literals,
// the nesting and the length of regular expressions are checked while parsing,
// so that no text costs more than [Limits] allow.
package syntax
