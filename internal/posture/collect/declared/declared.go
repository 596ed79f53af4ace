// Package declared holds the catalog of resource types that come with Vigil.
package declared

import (
	"sync"

	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/resource"
	"vigil/resources"
)

// Catalog returns the types that come with Vigil. It loads them once, and panics when they
// are invalid, which the tests of package resources prevent.
var Catalog = sync.OnceValue(func() *resource.Catalog {
	c, err := resource.Load(derive.Functions(), resources.Files)
	if err != nil {
		panic("resource types that come with Vigil: " + err.Error())
	}
	return c
})
