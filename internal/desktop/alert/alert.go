// Package alert watches the board by rules and tells people and programs.
//
// A rule names a condition (a certificate ends within so many days, a status is
// a bad one, a number is above or below a bound) and where to send. What meets
// the condition for as long as the rule asks raises one alert per component and
// part. Alerts of a rule that have the same cause are a group: it is told of
// once, again at the rule's interval if it has one, and once more when all of it
// is over. A group that somebody acknowledges is not repeated, and nothing is
// sent of one that is silenced. What is to be sent is kept in the same transaction
// as the alert itself and tried again until it is delivered or a day has passed,
// so that a crash neither loses a notice nor sends it twice unasked.
package alert

import (
	"context"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/secret"
)

// ConditionType is a class of conditions.
type ConditionType string

// The condition types.
const (
	CertificateEnds ConditionType = "CERTIFICATE" // a certificate ends within Days, or is not valid
	StatusIs        ConditionType = "STATUS"      // a status is one of Statuses
	CountIs         ConditionType = "COUNT"       // a measure is above or below Value
)

// Operator compares a measure with a value.
type Operator string

// The operators.
const (
	Above Operator = "ABOVE"
	Below Operator = "BELOW"
)

// Condition says what raises an alert.
type Condition struct {
	Type      ConditionType
	Kind      desktop.Kind // empty: every kind that the condition makes sense for
	Component desktop.ID   // empty: every component
	Days      int          // CERTIFICATE
	Statuses  []string     // STATUS
	Measure   string       // COUNT
	Operator  Operator     // COUNT
	Value     int64        // COUNT
}

// ChannelType is a way to tell.
type ChannelType string

// The channel types.
const (
	Webhook ChannelType = "WEBHOOK"
	Mail    ChannelType = "MAIL"
)

// Channel is where an alert is sent.
type Channel struct {
	Type   ChannelType
	URL    string      // WEBHOOK
	Secret secret.Text // WEBHOOK: signs what is sent; empty: it is not signed
	To     []string    // MAIL
}

// Rule is a condition and where to send what it raises.
type Rule struct {
	ID        string
	Name      string
	Enabled   bool
	Condition Condition
	For       time.Duration // the condition must hold this long
	Repeat    time.Duration // an alert that lasts is told of again; zero: not
	Channels  []Channel
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// State is where an alert stands.
type State string

// The states of an alert.
const (
	Pending  State = "PENDING"  // the condition holds, not yet for as long as the rule asks
	Firing   State = "FIRING"   // it was told of
	Resolved State = "RESOLVED" // it is over
)

// Subject is what an alert is about.
type Subject struct {
	Ref  desktop.Ref
	Part string // empty: the component itself
}

// Alert is one rule's condition being met by one subject.
type Alert struct {
	RuleID     string
	Subject    Subject
	Cause      desktop.Ref // the component that the alert is due to
	State      State
	Summary    string
	Since      time.Time // when the condition began to hold
	FiredAt    time.Time // zero while it is pending
	NotifiedAt time.Time
	ResolvedAt time.Time // zero until it is over
}

// Key names an alert among those of its rule.
func (a Alert) Key() string {
	return string(a.Subject.Ref.Kind) + "/" + string(a.Subject.Ref.ID) + "/" + a.Subject.Part
}

// Notice is what is sent of an alert.
type Notice struct {
	RuleID   string
	RuleName string
	Alert    Alert
	Related  int // other open alerts of the same rule and cause
	At       time.Time
}

// Delivery is a notice on its way to one channel.
type Delivery struct {
	ID       string
	RuleID   string
	Channel  int // index among the rule's channels
	Notice   Notice
	Attempts int
	NextAt   time.Time
	ExpireAt time.Time
	Error    string // of the last attempt
}

// Store keeps rules, alerts and deliveries.
//
// Methods are safe for concurrent use, by several processes too. One that names
// a rule the store does not hold fails with fault.NotFound.
type Store interface {
	// Rules returns all rules, in ID order, with the secrets of their channels.
	Rules(ctx context.Context) ([]Rule, error)

	// Rule returns one rule.
	Rule(ctx context.Context, id string) (Rule, error)

	// AddRule keeps a new rule.
	AddRule(ctx context.Context, r Rule) error

	// ReplaceRule replaces a rule if its version is still the given one, and
	// fails with fault.Stale otherwise.
	ReplaceRule(ctx context.Context, r Rule, version int64) error

	// DeleteRule removes a rule with its alerts and deliveries.
	DeleteRule(ctx context.Context, id string) error

	// Alerts returns the alerts that are not over, and those that ended after
	// the given time.
	Alerts(ctx context.Context, endedAfter time.Time) ([]Alert, error)

	// Apply records how alerts changed together with what is to be sent. A
	// change whose alert is no longer as it was found is left out with its
	// deliveries: another process was faster.
	Apply(ctx context.Context, changes []Transition) error

	// Claim returns deliveries that are due and keeps others from taking them
	// until the lease ends.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]Delivery, error)

	// Delivered removes a delivery.
	Delivered(ctx context.Context, id string) error

	// Postpone notes a failed attempt and when to try again.
	Postpone(ctx context.Context, d Delivery) error

	// Notes returns what administrators said about groups of alerts.
	Notes(ctx context.Context) ([]Note, error)

	// ChangeNote changes what is noted about a group of a rule, starting from an
	// empty note, and returns the outcome. An outcome that says nothing at the
	// given time is forgotten.
	ChangeNote(ctx context.Context, group, ruleID string, now time.Time, change func(*Note)) (Note, error)

	// Forget removes alerts that ended before the time and deliveries that
	// expired.
	Forget(ctx context.Context, before, now time.Time) error
}

// Transition is a change of one alert.
type Transition struct {
	Was   State // empty: there was none
	Alert Alert // as it is now
	Gone  bool  // a pending alert that ended is forgotten
	Send  []Delivery

	repeat bool // the alert is told of again
}
