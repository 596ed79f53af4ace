// Package syntax reads and writes the text form of Gremlin as TinkerPop 3.8
// defines it: text -> tree, tree -> canonical text.
//
// One table of step signatures (see [Steps]) drives everything: how arguments
// are read, which steps a read-only engine refuses and why, the "did you mean"
// of an error, and the reference in STEPS.md. The package knows nothing of
// graphs or of running queries and imports only the standard library.
//
// Parsing is bounded: the text's length, the number of steps and literals, the
// nesting and the length of regular expressions are checked while reading, so
// that no text, however hostile, costs more than [Limits] allow.
package syntax
