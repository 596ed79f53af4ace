package collect

import "vigil/internal/posture/resource"

// A Resource is an entity that a collector is assembling.
type Resource = resource.Builder

// NewResource creates the entity of type t with the given name, in a region or
// resource group ("" for none).
var NewResource = resource.NewBuilder
