package notify

import (
	"context"
	"time"

	"vigil/internal/posture"
)

// Store keeps channels, rules and deliveries.
//
// Methods are safe for concurrent use. What belongs to another organisation is
// answered as if it did not exist.
type Store interface {
	Channels(ctx context.Context, org posture.OrgID) ([]Channel, error) // without secrets, by name
	Channel(ctx context.Context, org posture.OrgID, id string) (Channel, error)
	AddChannel(ctx context.Context, org posture.OrgID, c Channel) error
	// ReplaceChannel keeps the stored secrets that c leaves out.
	ReplaceChannel(ctx context.Context, org posture.OrgID, c Channel, check func(etag string) error) (Channel, error)
	// DeleteChannel drops what waits for the channel. It fails with fault.Conflict
	// while a rule sends to it.
	DeleteChannel(ctx context.Context, org posture.OrgID, id string, check func(etag string) error) (Channel, error)

	NotifyRules(ctx context.Context, org posture.OrgID) ([]Rule, error)
	AddNotifyRule(ctx context.Context, org posture.OrgID, r Rule) error
	ReplaceNotifyRule(ctx context.Context, org posture.OrgID, r Rule, check func(etag string) error) error
	DeleteNotifyRule(ctx context.Context, org posture.OrgID, id string, check func(etag string) error) (Rule, error)

	// Deliveries returns the newest deliveries of a state, or of all, and how many
	// there are.
	Deliveries(ctx context.Context, org posture.OrgID, s DeliveryState, limit int) (newest []Delivery, total int, err error)
	// RetryDelivery makes a dead letter wait again.
	RetryDelivery(ctx context.Context, org posture.OrgID, id string, now time.Time) (Delivery, error)
	// RetryChannel makes all dead letters of a channel wait again.
	RetryChannel(ctx context.Context, org posture.OrgID, id string, now time.Time) (int, error)
}

// A Ref names a channel of an organisation.
type Ref struct {
	Org     posture.OrgID
	Channel string
}

// Outbox is how recorded events become messages and messages are sent. Its methods
// are safe for concurrent use, but a channel is sent to by one caller at a time.
type Outbox interface {
	// RecordEndedSuppressions writes an event for every open finding whose
	// suppression has ended since the last call. The first call only notes the time.
	RecordEndedSuppressions(ctx context.Context, now time.Time) error

	// OutboxOrgs returns the organisations that have events in the outbox.
	OutboxOrgs(ctx context.Context) ([]posture.OrgID, error)

	// Dispatch makes the oldest events of an organisation into messages and takes
	// them out of the outbox. It is atomic, and reports whether there are more.
	Dispatch(ctx context.Context, org posture.OrgID, link string, now time.Time) (more bool, err error)

	// DueChannels returns the channels that something can be sent to now, those
	// with the oldest message first.
	DueChannels(ctx context.Context, now time.Time) ([]Ref, error)

	// Channel returns a channel with its secrets.
	Channel(ctx context.Context, org posture.OrgID, id string) (Channel, error)

	// NextDelivery returns the message of a channel to attempt next, if there is
	// one: that with the fewest attempts, so that a message which the receiver
	// cannot take does not keep the others waiting.
	NextDelivery(ctx context.Context, r Ref) (d Delivery, found bool, err error)

	// SentSince returns how many messages were delivered to a channel since a time,
	// and when the first of them was.
	SentSince(ctx context.Context, r Ref, since time.Time) (n int, first time.Time, err error)

	// SaveAttempt records what came of an attempt, how many failed in a row, and
	// when the channel may be sent to again.
	SaveAttempt(ctx context.Context, r Ref, d Delivery, failures int, resume time.Time) error

	// PauseChannel says when the channel may be sent to again.
	PauseChannel(ctx context.Context, r Ref, failures int, resume time.Time) error

	// ExpireDeliveries makes messages that waited for too long dead letters, and
	// removes those that ended before forget.
	ExpireDeliveries(ctx context.Context, now, forget time.Time) error
}
