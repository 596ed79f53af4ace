package notify

import (
	"context"
	"time"

	"vigil/internal/posture"
)

// Store stores channels, rules and deliveries.
//
// Methods are safe for concurrent use. Records of other organisations are reported as
// not found. Methods that replace or delete a record call check with the ETag of the
// stored record, and change nothing if it returns an error.
type Store interface {
	// Channels returns the channels without their secrets, sorted by name.
	Channels(ctx context.Context, org posture.OrgID) ([]Channel, error)
	Channel(ctx context.Context, org posture.OrgID, id string) (Channel, error)
	AddChannel(ctx context.Context, org posture.OrgID, c Channel) error
	// ReplaceChannel keeps the stored secrets that c does not set.
	ReplaceChannel(ctx context.Context, org posture.OrgID, c Channel, check func(etag string) error) (Channel, error)
	// DeleteChannel also deletes the channel's waiting messages. It fails with
	// fault.Conflict if a rule uses the channel.
	DeleteChannel(ctx context.Context, org posture.OrgID, id string, check func(etag string) error) (Channel, error)

	NotifyRules(ctx context.Context, org posture.OrgID) ([]Rule, error)
	AddNotifyRule(ctx context.Context, org posture.OrgID, r Rule) error
	ReplaceNotifyRule(ctx context.Context, org posture.OrgID, r Rule, check func(etag string) error) error
	DeleteNotifyRule(ctx context.Context, org posture.OrgID, id string, check func(etag string) error) (Rule, error)

	// Deliveries returns the newest deliveries that a filter selects, and their total
	// number.
	Deliveries(ctx context.Context, org posture.OrgID, f DeliveryFilter, limit int) (newest []Delivery, total int, err error)
	// RetryDelivery sets a dead letter to Waiting.
	RetryDelivery(ctx context.Context, org posture.OrgID, id string, now time.Time) (Delivery, error)
	// RetryChannel sets all dead letters of a channel to Waiting and returns their
	// number.
	RetryChannel(ctx context.Context, org posture.OrgID, id string, now time.Time) (int, error)
}

// A DeliveryFilter selects deliveries; zero fields match all.
type DeliveryFilter struct {
	State   DeliveryState
	Channel string
}

// A Ref identifies a channel of an organisation.
type Ref struct {
	Org     posture.OrgID
	Channel string
}

// Outbox groups recorded events into messages and tracks their delivery. Its methods
// are safe for concurrent use, but only one caller at a time may send to a channel.
type Outbox interface {
	// RecordEndedSuppressions records an event for every open finding whose
	// suppression has expired since the last call. The first call only stores the time.
	RecordEndedSuppressions(ctx context.Context, now time.Time) error

	// OutboxOrgs returns the organisations that have events in the outbox.
	OutboxOrgs(ctx context.Context) ([]posture.OrgID, error)

	// Dispatch groups the oldest events of an organisation into messages and removes
	// them from the outbox, in one transaction. link is the URL of the console that the
	// messages contain. It returns true if there are more events.
	Dispatch(ctx context.Context, org posture.OrgID, link string, now time.Time) (more bool, err error)

	// DueChannels returns the channels that have messages and are not paused, those
	// with the oldest message first.
	DueChannels(ctx context.Context, now time.Time) ([]Ref, error)

	// Channel returns a channel with its secrets.
	Channel(ctx context.Context, org posture.OrgID, id string) (Channel, error)

	// NextDelivery returns the message of a channel to attempt next: the one with the
	// fewest attempts, so that a message that the receiver cannot process does not
	// block the others. found is false if there is none.
	NextDelivery(ctx context.Context, r Ref) (d Delivery, found bool, err error)

	// SentSince returns how many messages were delivered to a channel since a time, and
	// the time of the first.
	SentSince(ctx context.Context, r Ref, since time.Time) (n int, first time.Time, err error)

	// SaveAttempt saves the result of an attempt and, like PauseChannel, the number of
	// consecutive failures and the time of the next attempt.
	SaveAttempt(ctx context.Context, r Ref, d Delivery, failures int, resume time.Time) error

	// PauseChannel saves the number of consecutive failures of a channel and the time of
	// the next attempt. The zero time ends a pause.
	PauseChannel(ctx context.Context, r Ref, failures int, resume time.Time) error

	// ExpireDeliveries turns messages that have waited too long into dead letters, and
	// deletes deliveries that ended before the time forget.
	ExpireDeliveries(ctx context.Context, now, forget time.Time) error
}
