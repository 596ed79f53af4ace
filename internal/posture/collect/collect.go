// Package collect reads cloud accounts.
//
// A [Reader] reads the declared resource types of an account in one region: it lists
// resources, follows pages, completes items and relates entities. It calls the cloud
// through a [Transport]; each cloud has a package below this one with its transport. A
// [Runner] reads all [Unit]s of an account, each of which is one type in one region. It
// handles rate limits, storage, metrics and the meaning of errors.
package collect

import (
	"errors"
	"fmt"
	"sync"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// Scope says how often a type is read per account.
type Scope uint8

// The scopes.
const (
	PerAccount Scope = iota // once
	PerRegion               // once in every enabled region
)

// A Declaration holds the static facts about an entity type. The schema, the documentation
// and the least-privilege policies are generated from it.
type Declaration struct {
	Type        posture.EntityType
	Scope       Scope
	Service     string   // service whose rate limit applies to its calls: "ec2"
	Permissions []string // permissions that the credential needs
	Doc         string   // one sentence
	Properties  []Property
	Edges       []Edge
	Events      []Event
	Forms       []string       // Google Cloud: patterns of resource names in log entries
	Declared    *resource.Type // the declaration it was derived from; nil in some tests
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

// An Event declares the entries of the cloud's own log that report a possible change of an
// entity of the type.
type Event struct {
	Source string   // "s3.amazonaws.com", "Microsoft.Storage/storageAccounts", "compute.googleapis.com"
	Names  []string // "PutBucketPolicy"
}

// Emit receives one entity. It returns an error only when the run has ended; the caller
// must then return that error.
type Emit func(*Resource) error

// Serial returns an Emit that may be called concurrently, as readers do when they
// complete items in parallel. e is called by one goroutine at a time.
func (e Emit) Serial() Emit {
	var mu sync.Mutex
	return func(r *Resource) error {
		mu.Lock()
		defer mu.Unlock()
		return e(r)
	}
}

// Classes of errors. The package of each cloud maps its SDK's errors to them; any other
// error is a plain failure.
var (
	// ErrIdentity means that the cloud does not accept the credential: a wrong role,
	// external id, secret or key.
	ErrIdentity = errors.New("the cloud refuses the credential")

	// ErrDenied means that the credential lacks a permission.
	ErrDenied = errors.New("access denied")

	// ErrThrottled means that the cloud still throttles calls after retries.
	ErrThrottled = errors.New("throttled")

	// ErrOff means that the account does not use the service or region: there is nothing
	// to read, which is not an error.
	ErrOff = errors.New("the service is not enabled")

	// ErrNotOffered means that the region does not offer the service. It is an ErrOff.
	ErrNotOffered = fmt.Errorf("%w: the region does not offer it", ErrOff)

	// ErrGone means that the requested resource does not exist. When that means "not
	// configured", it is a value, not an error.
	ErrGone = errors.New("it does not exist")
)

// A DeniedError names the missing permission. It is an ErrDenied.
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

// Unwrap makes it an ErrDenied and keeps the cloud's own error for the log.
func (e *DeniedError) Unwrap() []error { return []error{ErrDenied, e.Err} }
