// Package collect reads cloud accounts: it says what a collector is and runs
// them.
//
// A collector is a declaration (what it reads, what that is made of, which
// permissions it takes, which events change it) and two short functions that
// call the cloud. It knows nothing of regions, retries, limits, stores or
// metrics, and does not decide what a refusal means: the runner does that for
// all. Each cloud's collectors are in a package below this one; its SDK stays
// there.
package collect

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// Scope says how often a collector runs for one account.
type Scope uint8

// The scopes.
const (
	PerAccount Scope = iota // once
	PerRegion               // once in every enabled region
)

// A Declaration is what is known of an entity type without asking a cloud. The
// schema, the documentation and the least-privilege policies are made from it.
type Declaration struct {
	Type        posture.EntityType
	Scope       Scope
	Service     string   // whose rate limit its calls count against: "ec2"
	Permissions []string // that the credential must grant
	Doc         string   // one sentence
	Properties  []Property
	Edges       []Edge
	Events      []Event
	Forms       []string       // of Google Cloud: how log entries name its resources, with * for what differs
	Declared    *resource.Type // the declaration that all this follows from; nil for a typed collector
}

// A Property declares one property of a type.
type Property struct {
	Name string
	Kind string // posture.StringProperty, BoolProperty or LongProperty
	List bool   // it may occur more than once
	Doc  string // one sentence
}

// An Edge declares that entities of a type may have an edge of this label.
type Edge struct {
	Label string
	To    []posture.EntityType
	Doc   string // one sentence
}

// An Event declares which events of the cloud's own log say that an entity of
// the type may have changed.
type Event struct {
	Source string   // "s3.amazonaws.com", "Microsoft.Storage/storageAccounts", "compute.googleapis.com"
	Names  []string // "PutBucketPolicy"
}

// A Collector reads the entities of one type through a session S of its cloud,
// which is bound to one account and, where the scope says so, to one region.
type Collector[S any] struct {
	Declaration

	// List emits every entity, page by page.
	List func(ctx context.Context, s S, emit Emit) error

	// Get emits the one entity of this name, or fails with ErrGone when there is
	// none any more.
	Get func(ctx context.Context, s S, name string, emit Emit) error
}

// Emit takes one entity that was read. It returns an error only when the run is
// over; the collector then returns it.
type Emit func(*Resource) error

// Serial returns an emit that collectors may call from several goroutines, as
// they do when they read details in parallel; e gets one entity at a time.
func (e Emit) Serial() Emit {
	var mu sync.Mutex
	return func(r *Resource) error {
		mu.Lock()
		defer mu.Unlock()
		return e(r)
	}
}

// What calls to a cloud can come to. Every SDK's errors are sorted into these
// classes by its package; anything else is a plain failure.
var (
	// ErrIdentity says that the cloud does not accept who we say we are: a wrong
	// role, external id, secret or key.
	ErrIdentity = errors.New("the cloud refuses the credential")

	// ErrDenied says that the credential does not grant a permission.
	ErrDenied = errors.New("access denied")

	// ErrThrottled says that the cloud still wants fewer calls after retries.
	ErrThrottled = errors.New("throttled")

	// ErrOff says that the account does not use the service or region: there is
	// nothing to read, and that is not an error.
	ErrOff = errors.New("the service is not enabled")

	// ErrNotOffered says that the region does not have the service. It is an ErrOff.
	ErrNotOffered = fmt.Errorf("%w: the region does not offer it", ErrOff)

	// ErrGone says that what was asked for does not exist. Where that means "not
	// configured" it is a value, not an error.
	ErrGone = errors.New("it does not exist")
)

// A DeniedError names the permission that is missing. It is an ErrDenied.
type DeniedError struct {
	Permission string
	Err        error
}

func (e *DeniedError) Error() string {
	if e.Permission == "" {
		return ErrDenied.Error()
	}
	return "permission " + e.Permission + " is missing"
}

// Unwrap makes it an ErrDenied and keeps the cloud's own words for the log.
func (e *DeniedError) Unwrap() []error { return []error{ErrDenied, e.Err} }
