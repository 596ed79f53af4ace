// Package declared holds the catalog of resource types that come with Vigil.
package declared

import (
	"sync"

	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/resource"
	"vigil/resources"
)

// Catalog returns the types that come with Vigil. They are read once. A mistake
// in them is one of the build, which the tests of package resources find.
var Catalog = sync.OnceValue(func() *resource.Catalog {
	c, err := resource.Load(derive.Functions(), resources.Files)
	if err != nil {
		panic("resource types that come with Vigil: " + err.Error())
	}
	return c
})
