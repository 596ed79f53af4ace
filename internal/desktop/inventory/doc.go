// Package inventory reads the estate from a YAML file: which components there
// are, where they are, and where the secrets to reach them are kept.
//
// Reading is strict. A key that means nothing, a value of the wrong type, a name
// used twice or a reference to nothing is an error, and all errors of a file are
// told at once, each with its line. Secrets are never in the file: it holds
// references, which a Secrets resolves when a secret is needed.
package inventory
