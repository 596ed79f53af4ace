package collect

import (
	"errors"

	"vigil/internal/posture/resource"
)

// A Resource is an entity while a collector puts it together.
type Resource = resource.Builder

// NewResource begins the entity of type t with the given name, in a region or
// group ("" for none).
var NewResource = resource.NewBuilder

// Detail runs a call that reads more of a resource into the properties and edges
// of the given names. What does not exist is not configured, and f has set what
// that means before it returns ErrGone; any other failure leaves the properties
// unknown. It returns an error only when the whole run is over.
func Detail(r *Resource, f func() error, names ...string) error {
	err := f()
	switch {
	case err == nil, errors.Is(err, ErrGone), errors.Is(err, ErrOff):
		return nil
	case Over(err):
		return err
	}
	r.Unread(err, names...)
	return nil
}
