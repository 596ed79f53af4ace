package collect

import (
	"context"

	"vigil/internal/posture"
)

// A Source is one cloud: how its accounts are opened and what can be read of
// them.
type Source interface {
	// Provider says which cloud it is.
	Provider() posture.Provider

	// Declarations lists the entity types that can be read.
	Declarations() []Declaration

	// Open makes sure of the credential. It fails with ErrIdentity when the
	// cloud refuses it and with ErrDenied when it may not even ask what there is.
	Open(ctx context.Context, a posture.Access) (Session, error)
}

// A Session reads one account. It renews its credentials by itself and is safe
// for concurrent use.
type Session interface {
	// Units lists the work of a full collection: every collector in every region
	// that is enabled.
	Units(ctx context.Context) ([]Unit, error)

	// Unit returns the unit that reads a type in a region, for events.
	Unit(t posture.EntityType, region string) (Unit, bool)

	// Close ends the session.
	Close()
}

// Regional is a Session of a cloud whose regions can be switched off.
type Regional interface {
	// Closed reports whether the account is known not to use a region, so that
	// nothing is there any more. It is asked after Units.
	Closed(region string) bool
}

// A Unit is one collector bound to a session and a region. What it reads
// successfully is all there is of its type in its region, so that what is not
// among it is gone.
type Unit struct {
	Type    posture.EntityType
	Region  string // posture.Global for collectors that run once per account
	Service string // whose rate limit its calls count against
	List    func(ctx context.Context, emit Emit) error
	Get     func(ctx context.Context, name string, emit Emit) error
}

// Bind makes the unit of a collector in a session. The unit emits one entity at a
// time.
func Bind[S any](c Collector[S], s S, region string) Unit {
	return Unit{
		Type: c.Type, Region: region, Service: c.Service,
		List: func(ctx context.Context, emit Emit) error { return c.List(ctx, s, emit.Serial()) },
		Get:  func(ctx context.Context, name string, emit Emit) error { return c.Get(ctx, s, name, emit.Serial()) },
	}
}
