// Package naming maps the resource names of each cloud to entities: the entity of an
// item in a response, and the entity that a reference leads to.
//
// [Of] returns the rules of one cloud as a resource.Cloud, which package collect passes
// to declarations.
package naming

import (
	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// Of returns the mapping for a provider.
func Of(p posture.Provider, c *resource.Catalog) resource.Cloud {
	switch p {
	case posture.Azure:
		return Azure{c}
	case posture.GCP:
		return GCP{c}
	}
	return AWS{c}
}
