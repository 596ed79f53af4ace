package desktop

import (
	"errors"
	"math"
	"time"
)

// A Cause says why a component could not be read, in terms that every kind
// shares. Each kind turns it into a status of its own.
type Cause string

// The causes of failure.
const (
	Unreachable Cause = "UNREACHABLE" // nothing answers there, or not in time
	Untrusted   Cause = "UNTRUSTED"   // its certificate is not accepted
	Refused     Cause = "REFUSED"     // our credentials are not accepted
	Denied      Cause = "DENIED"      // we are known, and may not
	Malformed   Cause = "MALFORMED"   // its configured address makes no sense
	Broken      Cause = "BROKEN"      // it answers, and not as it should
)

// A Failure says why a component could not be read. Its reason is fit for the
// API: it names hosts and rules, never a secret.
type Failure struct {
	Cause  Cause
	Reason string
	Err    error // for logs only
}

func (f *Failure) Error() string { return f.Reason }

// Unwrap returns the underlying error.
func (f *Failure) Unwrap() error { return f.Err }

// FailureOf returns the failure in err's chain, or one that calls err Broken.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Cause: Broken, Reason: err.Error(), Err: err}
}

// A Reading is what one look at a component brought home.
type Reading interface {
	// Kind is the kind of component the reading belongs to.
	Kind() Kind
}

// An Observation is one attempt to read a component: by a probe, or by a
// heartbeat that came in.
type Observation struct {
	Kind        Kind
	ID          ID
	At          time.Time
	Took        time.Duration
	Reading     Reading      // nil when the attempt failed
	Failure     *Failure     // nil when it succeeded
	Certificate *Certificate // the TLS certificate that was shown, if any, also by a failure
}

// A Snapshot is what is known of one component: the last good reading, the
// last failure, and how often either came in succession.
type Snapshot[R Reading] struct {
	Good        R
	GoodAt      time.Time // zero: never read
	Failure     *Failure  // nil when the last attempt succeeded
	FailedAt    time.Time // of the first failure in this succession
	At          time.Time // of the last attempt; zero: never tried
	Failures    int       // in succession
	Successes   int       // in succession
	Outage      int       // failures in succession that the present successes ended
	Certificate *Certificate
}

// firstContact is the outage that the very first success ends: endless.
const firstContact = math.MaxInt

// With returns the snapshot after another attempt. An observation that is older
// than the last one changes nothing.
func (s Snapshot[R]) With(o Observation) Snapshot[R] {
	if o.At.Before(s.At) {
		return s
	}
	s.At = o.At
	if o.Certificate != nil {
		s.Certificate = o.Certificate
	}
	if r, ok := o.Reading.(R); ok && o.Failure == nil {
		if !s.EverGood() {
			s.Outage = firstContact
		} else if s.Successes == 0 {
			s.Outage = s.Failures
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
		s.Failure = &Failure{Cause: Broken, Reason: "the probe brought nothing"}
	}
	return s
}

// Tried reports whether any attempt has finished.
func (s Snapshot[R]) Tried() bool { return !s.At.IsZero() }

// EverGood reports whether the component was ever read.
func (s Snapshot[R]) EverGood() bool { return !s.GoodAt.IsZero() }

// Failing returns the failure that counts: none while the last attempt
// succeeded, and none before the given number of failures in succession when
// the component was good before, so that one lost packet changes no status.
func (s Snapshot[R]) Failing(after int) *Failure {
	if s.Failures == 0 || s.EverGood() && s.Failures < after {
		return nil
	}
	return s.Failure
}

// Policy holds the numbers that statuses are derived with.
type Policy struct {
	FailuresBeforeDown int           // failures in succession before a good component is called bad
	GiveUpAfter        int           // failures in succession before reconnecting becomes down
	CertificateWarning time.Duration // how long before its end a certificate is worth a warning
	ReplicationGrace   time.Duration // how long a peer may lack the newest revision
	GatewayInterval    time.Duration // how often gateways report
	AgentInterval      time.Duration // how often RDS agents report
	FarmErrorPercent   int           // a farm with more enabled servers in ERROR than this is in ERROR
}

// DefaultPolicy returns the policy used where the inventory says nothing.
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
