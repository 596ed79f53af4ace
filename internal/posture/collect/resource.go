package collect

import (
	"errors"

	"vigil/internal/posture/resource"
)

// A Resource is an entity that a collector is assembling.
type Resource = resource.Builder

// NewResource creates the entity of type t with the given name, in a region or
// resource group ("" for none).
var NewResource = resource.NewBuilder

// Detail calls f, which reads the properties and edges of the given names. When
// f returns ErrGone, the feature is not configured, and f has already set the
// properties accordingly. Any other failure makes the properties unknown. Detail
// returns an error only when the whole run has ended.
func Detail(r *Resource, f func() error, names ...string) error {
	err := f()
	switch {
	case err == nil, errors.Is(err, ErrGone), errors.Is(err, ErrOff):
		return nil
	case IsFatal(err):
		return err
	}
	r.Unread(err, names...)
	return nil
}
