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
	// Units lists the units of a full collection: every type in every enabled
	// region.
	Units(ctx context.Context) ([]Unit, error)

	// Unit returns the unit that reads a type in a region, for events.
	Unit(t posture.EntityType, region string) (Unit, bool)

	// Close ends the session.
	Close()
}

// Regional is a Session of a cloud whose regions can be disabled.
type Regional interface {
	// Closed reports whether the account is known not to use a region: then the region
	// contains nothing. Closed is called after Units.
	Closed(region string) bool
}

// A Unit reads one type of an account in one region. When it succeeds, it has read
// all entities of its type in its region: stored entities that it did not read no
// longer exist.
type Unit struct {
	Type    posture.EntityType
	Region  string // posture.Global for types that are read once per account
	Service string // service whose rate limit applies to its calls
	List    func(ctx context.Context, emit Emit) error
	Get     func(ctx context.Context, name string, emit Emit) error

	// Reserve, if not nil, announces that the unit will be read in this run. All units of a
	// run are reserved before the first is read. The returned function is called when the
	// unit has been read; cached responses that no other unit needs are freed then.
	Reserve func() (release func())
}
