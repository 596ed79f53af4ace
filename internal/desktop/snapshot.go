package desktop

import (
	"errors"
	"math"
	"time"
)

// A Cause classifies why a component could not be read, in terms that all kinds
// share. Each kind maps it to one of its own statuses.
type Cause string

// The causes of failure.
const (
	Unreachable Cause = "UNREACHABLE" // no answer, or not in time
	Untrusted   Cause = "UNTRUSTED"   // its certificate is not accepted
	Refused     Cause = "REFUSED"     // our credentials are not accepted
	Denied      Cause = "DENIED"      // authenticated but not authorised
	Malformed   Cause = "MALFORMED"   // its configured address is malformed
	Broken      Cause = "BROKEN"      // it gives an unexpected answer
)

// A Failure is an error of reading a component. Its reason is shown by the API:
// it may contain hosts and rules, never a secret.
type Failure struct {
	Cause  Cause
	Reason string
	Err    error // for logs only
}

func (f *Failure) Error() string { return f.Reason }

// Unwrap returns the underlying error.
func (f *Failure) Unwrap() error { return f.Err }

// FailureOf returns the Failure in err's chain, or a new one with the cause
// Broken.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Cause: Broken, Reason: err.Error(), Err: err}
}

// A Reading is the result of reading one component successfully.
type Reading interface {
	// Kind returns the kind of component that was read.
	Kind() Kind
}

// An Observation is the result of one attempt to read a component: by a probe,
// or by a received heartbeat.
type Observation struct {
	Kind        Kind
	ID          ID
	At          time.Time
	Took        time.Duration
	Reading     Reading      // nil when the attempt failed
	Failure     *Failure     // nil when it succeeded
	Certificate *Certificate // the TLS certificate that the component presented, if any, also after a failure
}

// A Snapshot is the latest state of one component: the last successful reading,
// the last failure, and the number of each in succession.
type Snapshot[R Reading] struct {
	Good           R
	GoodAt         time.Time // zero: never read
	Failure        *Failure  // nil when the last attempt succeeded
	FailedAt       time.Time // of the first failure in this succession
	At             time.Time // of the last attempt; zero: never tried
	Failures       int       // in succession
	Successes      int       // in succession
	FailuresBefore int       // number of failures before the current run of successes
	Certificate    *Certificate
}

// firstContact is the FailuresBefore of a component that was never read before.
const firstContact = math.MaxInt

// With returns the snapshot after another attempt. An observation older than
// the last one is ignored.
func (s Snapshot[R]) With(o Observation) Snapshot[R] {
	if o.At.Before(s.At) {
		return s
	}
	s.At = o.At
	if o.Certificate != nil {
		s.Certificate = o.Certificate
	}
	if r, ok := o.Reading.(R); ok && o.Failure == nil {
		if !s.EverRead() {
			s.FailuresBefore = firstContact
		} else if s.Successes == 0 {
			s.FailuresBefore = s.Failures
		}
		s.Good, s.GoodAt, s.Failure, s.FailedAt = r, o.At, nil, time.Time{}
		s.Failures, s.Successes = 0, s.Successes+1
		return s
	}
	if s.Failures == 0 {
		s.FailedAt = o.At
	}
	s.Failure, s.Failures, s.Successes = o.Failure, s.Failures+1, 0
	if s.Failure == nil {
		s.Failure = &Failure{Cause: Broken, Reason: "the probe returned no reading"}
	}
	return s
}

// Tried reports whether any attempt was made.
func (s Snapshot[R]) Tried() bool { return !s.At.IsZero() }

// EverRead reports whether the component was ever read successfully.
func (s Snapshot[R]) EverRead() bool { return !s.GoodAt.IsZero() }

// Failing returns the current failure, or nil. A component that was read
// successfully before counts as failing only after the given number of failures
// in succession, so that one lost packet changes no status.
func (s Snapshot[R]) Failing(after int) *Failure {
	if s.Failures == 0 || s.EverRead() && s.Failures < after {
		return nil
	}
	return s.Failure
}

// Policy contains the thresholds for deriving statuses.
type Policy struct {
	FailuresBeforeDown int           // failures in succession before a component counts as down
	GiveUpAfter        int           // failures in succession before RECONNECTING becomes down
	CertificateWarning time.Duration // how long before expiry a certificate causes a warning
	ReplicationGrace   time.Duration // how long a server may lack a revision that another has
	GatewayInterval    time.Duration // how often gateways report
	AgentInterval      time.Duration // how often RDS agents report
	FarmErrorPercent   int           // a farm is in ERROR when more than this percentage of its enabled servers is
}

// DefaultPolicy returns the policy for values that the inventory does not set.
func DefaultPolicy() Policy {
	return Policy{
		FailuresBeforeDown: 2,
		GiveUpAfter:        5,
		CertificateWarning: 30 * 24 * time.Hour,
		ReplicationGrace:   time.Minute,
		GatewayInterval:    30 * time.Second,
		AgentInterval:      30 * time.Second,
		FarmErrorPercent:   50,
	}
}
