// Package resource holds the declarations of resource types and converts the raw
// responses of cloud APIs into entities.
//
// A declaration is one YAML file, resources/<cloud>/<service>/<noun>.yaml. It
// says everything about a type: which calls list it, which calls complete one
// item, where the responses have its name, properties, edges and tags, which
// events name it, and what is unknown after an error. The package does no I/O:
// package collect makes the calls and passes the responses in.
//
// docs/resource-types.md describes the form.
package resource
