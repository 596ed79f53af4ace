package collect

import (
	"context"

	"vigil/internal/posture"
)

// A Source is one cloud. It opens accounts.
type Source interface {
	// Provider returns the cloud.
	Provider() posture.Provider

	// Declarations lists the entity types that can be read.
	Declarations() []Declaration

	// Open checks the credential. It fails with ErrIdentity when the cloud refuses the
	// credential, and with ErrDenied when the credential may not even list what exists.
	Open(ctx context.Context, a posture.Access) (Session, error)
}

// A Session reads one account. It renews its credentials by itself and is safe
// for concurrent use.
type Session interface {
	// Units lists the units of a full collection: every collector in every enabled
	// region.
	Units(ctx context.Context) ([]Unit, error)

	// Unit returns the unit that reads a type in a region, for events.
	Unit(t posture.EntityType, region string) (Unit, bool)

	// Close ends the session.
	Close()
}

// Regional is a Session of a cloud whose regions can be disabled.
type Regional interface {
	// Closed reports whether the account is known not to use a region, so that the
	// region contains nothing. It is called after Units.
	Closed(region string) bool
}

// A Unit is one collector bound to a session and a region. When it succeeds, it
// has read all entities of its type in its region, so that stored entities that
// it did not read are gone.
type Unit struct {
	Type    posture.EntityType
	Region  string // posture.Global for collectors that run once per account
	Service string // service whose rate limit applies to its calls
	List    func(ctx context.Context, emit Emit) error
	Get     func(ctx context.Context, name string, emit Emit) error
}

// Bind returns the unit of a collector in a session. The unit emits one entity at a time.
func Bind[S any](c Collector[S], s S, region string) Unit {
	return Unit{
		Type: c.Type, Region: region, Service: c.Service,
		List: func(ctx context.Context, emit Emit) error { return c.List(ctx, s, emit.Serial()) },
		Get:  func(ctx context.Context, name string, emit Emit) error { return c.Get(ctx, s, name, emit.Serial()) },
	}
}
