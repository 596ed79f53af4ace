// Package inventory reads the inventory of the desktop server from a YAML file:
// the components, their addresses, and references to their secrets.
//
// Parsing is strict. An unknown key, a value of the wrong type, a repeated name
// or a reference to an unknown component is an error, and all errors of a file
// are reported together with their lines. The file contains no secrets but
// references, which a Secrets resolves when they are needed.
package inventory
