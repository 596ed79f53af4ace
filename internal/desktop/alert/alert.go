// Package alert evaluates alert rules against the board and notifies people and
// programs.
//
// A rule has a condition (a certificate expires within some days, a component
// has one of some statuses, a measure is above or below a limit) and channels.
// When a component or part meets the condition for the rule's time, an alert is
// raised. Alerts of a rule with the same cause form a group. A group causes one
// notice when it starts, one when alerts join it and its last notice is at least
// quietTime old, one per repeat interval if the rule has one, and one when its
// last firing alert is resolved.
// Acknowledged groups are not repeated; silenced groups send nothing. Notices
// are stored in the same transaction as the alert and retried until they are
// delivered or a day has passed, so that a crash loses none. Notices of a group
// wait until earlier ones to the same channel are delivered or given up; a notice
// that its receiver refuses is therefore given up after [ShortRetries] attempts.
// A notice that was sent just before a crash is sent again, with the same id.
package alert

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/secret"
)

// ConditionType is a class of conditions.
type ConditionType string

// The condition types.
const (
	CertificateExpires ConditionType = "CERTIFICATE" // a certificate expires within Days, or has expired
	StatusIs           ConditionType = "STATUS"      // a status is one of Statuses
	CountIs            ConditionType = "COUNT"       // a measure is above or below Value
)

// Operator compares a measure with a value.
type Operator string

// The operators.
const (
	Above Operator = "ABOVE"
	Below Operator = "BELOW"
)

// Condition determines when an alert is raised.
type Condition struct {
	Type      ConditionType
	Kind      desktop.Kind // empty for every kind that the condition applies to
	Component desktop.ID   // empty for every component
	Days      int          // CERTIFICATE
	Statuses  []string     // STATUS
	Measure   string       // COUNT
	Operator  Operator     // COUNT
	Value     int64        // COUNT
}

// ChannelType is a way to deliver notices.
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
	Secret secret.Text // WEBHOOK: key of the signature; empty for no signature
	To     []string    // MAIL
}

// Target identifies a channel among those of its rule by where it delivers to. It is a hash,
// because the addresses of webhooks often contain a secret.
func (ch Channel) Target() string {
	text := strings.Join(append([]string{string(ch.Type), ch.URL}, ch.To...), "\n")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
}

// Rule is a condition with the channels of its notices.
type Rule struct {
	ID        string
	Name      string
	Enabled   bool
	Condition Condition
	For       time.Duration // how long the condition must hold
	Repeat    time.Duration // interval of repeated notices; zero for none
	Channels  []Channel
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
	TypeSince time.Time // since when the condition has its type; zero for always
}

// SetCondition replaces the condition.
func (r *Rule) SetCondition(n Condition, now time.Time) {
	if r.Condition.Type != "" && n.Type != r.Condition.Type {
		r.TypeSince = now.Truncate(time.Millisecond) // as precise as the times of alerts
	}
	r.Condition = n
}

// State is the state of an alert.
type State string

// The states of an alert.
const (
	Pending  State = "PENDING"  // the condition holds, but not yet for the time that the rule requires
	Firing   State = "FIRING"   // the condition has held long enough
	Resolved State = "RESOLVED" // the condition no longer holds
)

// Subject is the component or part that an alert is about.
type Subject struct {
	Ref  desktop.Ref
	Part string // empty for the component itself
}

// Alert records that a subject meets the condition of a rule.
type Alert struct {
	RuleID     string
	Subject    Subject
	Cause      desktop.Ref // the component that causes the alert
	State      State
	Summary    string
	Since      time.Time // when the condition started to hold
	FiredAt    time.Time // zero while pending
	NotifiedAt time.Time // zero while pending, and if the group was silenced when the alert fired
	ResolvedAt time.Time // zero until resolved
}

// Key identifies an alert among those of its rule.
func (a Alert) Key() string {
	return string(a.Subject.Ref.Kind) + "/" + string(a.Subject.Ref.ID) + "/" + a.Subject.Part
}

// Notice is the content of a notification about an alert.
type Notice struct {
	RuleID   string
	RuleName string
	Alert    Alert
	Related  int // other open alerts of the same rule and cause
	At       time.Time
}

// Corrected returns which of the old channels have a new address. An old channel is corrected
// if it is no longer in the list, and in its place is a channel of the same type that was not
// in the old list. The keys are the Targets of old channels, the values are indexes of new ones.
func (r Rule) Corrected(old []Channel) map[string]int {
	corrected := make(map[string]int)
	for i, ch := range old[:min(len(old), len(r.Channels))] {
		next := r.Channels[i]
		if next.Type == ch.Type && indexOf(r.Channels, ch.Target()) < 0 && indexOf(old, next.Target()) < 0 {
			corrected[ch.Target()] = i
		}
	}
	return corrected
}

// indexOf returns the index of the channel with a target, or -1.
func indexOf(channels []Channel, target string) int {
	return slices.IndexFunc(channels, func(ch Channel) bool { return ch.Target() == target })
}

// channelOf returns the channel of a delivery, which has another index or is gone if the
// channels were changed after the notice was queued.
func (r Rule) channelOf(d Delivery) (Channel, bool) {
	i := d.Channel
	if d.Target != "" && (i >= len(r.Channels) || r.Channels[i].Target() != d.Target) {
		i = indexOf(r.Channels, d.Target)
	}
	if i < 0 || i >= len(r.Channels) {
		return Channel{}, false
	}
	return r.Channels[i], true
}

// Delivery is a notice queued for one channel.
type Delivery struct {
	ID       string
	RuleID   string
	Channel  int    // index among the rule's channels when the notice was queued
	Target   string // the channel's Target; empty if it was queued by an older version
	Notice   Notice
	Attempts int
	NextAt   time.Time
	ExpireAt time.Time
	Error    string // of the last attempt
}

// Queue identifies the deliveries that are sent in order: those of one group to one channel.
func (d Delivery) Queue() string { return d.Notice.Alert.Group() + "/" + d.Receiver() }

// Receiver identifies the receiver of the delivery: its Target, or the index of its channel if it was queued by an
// older version.
func (d Delivery) Receiver() string { return cmp.Or(d.Target, strconv.Itoa(d.Channel)) }

// Capacity limits how many deliveries are claimed.
type Capacity struct {
	Total       int
	PerReceiver int            // with the same Receiver; zero for Total
	Sending     map[string]int // by Receiver, deliveries that the caller claimed before; they count towards PerReceiver
}

// Store stores rules, alerts and deliveries.
//
// Methods are safe for concurrent use, also by several processes. They fail
// with fault.NotFound for an unknown rule.
type Store interface {
	// Rules returns all rules, in ID order, with the secrets of their channels.
	Rules(ctx context.Context) ([]Rule, error)

	// Rule returns one rule.
	Rule(ctx context.Context, id string) (Rule, error)

	// AddRule stores a new rule.
	AddRule(ctx context.Context, r Rule) error

	// ReplaceRule replaces a rule. It fails with fault.Stale unless the stored
	// version is the given one. Notices that are queued for a channel that is
	// corrected (see [Rule.Corrected]) are sent to the correction.
	ReplaceRule(ctx context.Context, r Rule, version int64) error

	// DeleteRule removes a rule with its alerts and deliveries.
	DeleteRule(ctx context.Context, id string) error

	// Alerts returns the open alerts, and those resolved after the given time.
	Alerts(ctx context.Context, endedAfter time.Time) ([]Alert, error)

	// Apply stores transitions of alerts together with their deliveries. A
	// transition whose rule or alert was changed meanwhile is skipped with its
	// deliveries. Deliveries of one Queue are sent in order: a new delivery waits for the
	// earlier ones. To shorten the wait, an earlier delivery that is postponed by more than two
	// leases becomes due at once, as if it had not been attempted yet. An earlier delivery
	// that another caller has claimed, after at least [ShortRetries] attempts, becomes due
	// when the lease of that caller expires.
	Apply(ctx context.Context, changes []Transition) error

	// Claim gives the caller a lease on the deliveries that have been due for the longest time,
	// as many as the capacity permits, and returns them in the order in which they expire. It
	// leaves out a delivery if an earlier one of the same Queue is postponed or leased.
	Claim(ctx context.Context, now time.Time, lease time.Duration, c Capacity) ([]Delivery, error)

	// Delivered removes a delivery.
	Delivered(ctx context.Context, id string) error

	// Drop removes a delivery whose channel no longer exists, or whose receiver refuses it. It
	// does nothing if the channel was corrected after the delivery was claimed.
	Drop(ctx context.Context, d Delivery) error

	// Postpone stores a failed attempt and the time of the next. It does nothing if the
	// channel was corrected or the attempts were changed after the delivery was claimed: then
	// it is due when its lease expires.
	Postpone(ctx context.Context, d Delivery) error

	// Notes returns the notes of administrators on groups of alerts.
	Notes(ctx context.Context) ([]Note, error)

	// ChangeNote calls a function that changes the note of a group, and returns the
	// changed note. A group without a note is given an empty one before the call. A
	// note that is empty at the given time after the call is deleted.
	ChangeNote(ctx context.Context, group, ruleID string, now time.Time, change func(*Note)) (Note, error)

	// Forget deletes alerts that were resolved before the first time, and deliveries
	// that expired before the second.
	Forget(ctx context.Context, before, now time.Time) error
}

// Transition is a change of one alert.
type Transition struct {
	RuleVersion int64 // of the rule that was evaluated
	Was         State // empty for a new alert
	Alert       Alert // the new state
	Gone        bool  // delete the alert: it ended while pending
	Send        []Delivery

	repeat bool // the notice is a repetition
}
