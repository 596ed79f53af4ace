// Package resource holds the declarations of resource types and turns the raw
// answers of a cloud into entities by them.
//
// A declaration is one YAML file, resources/<cloud>/<service>/<noun>.yaml. It
// says everything about a type: which calls list it, which calls complete one
// item, where its name, properties, edges and tags are in the answers, which
// events name it, and what a refusal leaves unknown. The package is pure: calls
// are made by package collect, which hands the answers over.
//
// docs/resource-types.md describes the form.
package resource
