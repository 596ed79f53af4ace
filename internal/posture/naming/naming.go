// Package naming knows how each cloud names its resources: which entity an item
// of an answer is, and which entity a reference leads to.
package naming

import (
	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// Of returns the naming of a cloud.
func Of(p posture.Provider, c *resource.Catalog) resource.Cloud {
	switch p {
	case posture.Azure:
		return Azure{c}
	case posture.GCP:
		return GCP{c}
	}
	return AWS{c}
}
