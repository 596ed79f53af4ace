package posture

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"
)

// A Stream is the event stream of an account. It exists from the first request
// for its set-up script on.
type Stream struct {
	Org      OrgID
	Account  AccountID
	Provider Provider

	// Handle identifies the stream. The set-up script puts it into the names of
	// topics and subscriptions, so that the stream of a message is known before its
	// signature is verified. It is not secret.
	Handle string

	Created   time.Time
	Rotated   time.Time // when the secret was last rotated
	LastEvent time.Time // when the last message arrived; zero for never
	LastBeat  time.Time // when the last heartbeat arrived; zero for never

	Pending    int64 // resources waiting to be read; only StreamStore.Stream sets it
	Accepted   int64 // distinct messages
	Duplicates int64 // messages delivered more than once
	Unmapped   int64 // messages that name no collected resource
}

// A StreamSecret authenticates the messages of clouds that do not sign them.
type StreamSecret string

// NewStreamSecret returns a random secret.
func NewStreamSecret() StreamSecret { return StreamSecret(strings.ToLower(rand.Text() + rand.Text())) }

// String hides the secret from logs.
func (StreamSecret) String() string { return "[redacted]" }

// Reveal returns the secret itself.
func (s StreamSecret) Reveal() string { return string(s) }

// A StreamDigest is the SHA-256 of a secret, which is all that the store keeps of
// it. The secret is long and random, so that no slow password hash is needed.
type StreamDigest [sha256.Size]byte

// Digest returns the hash of the secret.
func (s StreamSecret) Digest() StreamDigest { return sha256.Sum256([]byte(s)) }

// NewHandle returns a random handle.
func NewHandle() string { return strings.ToLower(rand.Text()[:12]) }

// A Target is a resource to read: the one with this name, as the cloud's log spells
// it, or every resource of the type in the region when Name is empty.
type Target struct {
	Type   EntityType
	Region string
	Name   string
}

// A StreamMessage is one message of a stream after it was verified.
type StreamMessage struct {
	ID     string    // the sender's; the same when it is delivered again
	Time   time.Time // when it was sent
	Signal StreamSignal
	Target []Target
	ChangeOrigin
}

// A StreamSignal is what a message says about its stream.
type StreamSignal uint8

// The signals.
const (
	SignalEvent        StreamSignal = iota // a change in the account
	SignalHeartbeat                        // a scheduled message that shows that the stream works
	SignalConnected                        // the stream was set up
	SignalDisconnected                     // the stream was removed in the cloud
)

// A Delivery holds the messages of one request.
type Delivery struct {
	Stream   Stream
	Messages []StreamMessage
	Trace    string // traceparent of its request, empty if it is not traced
}

// A StreamOutcome says how many messages of a delivery were new.
type StreamOutcome struct {
	Fresh      int  // messages received for the first time
	Duplicates int  // messages received before
	Gone       bool // the stream was removed in the meantime
}

// A PendingRead is a target that waits to be read.
type PendingRead struct {
	Target
	Version      int64     // incremented by each message that names the target
	Depth        int       // 0 for targets named by a message, 1 for their neighbours
	Tries        int       // failed attempts
	Confirm      bool      // it was read already; this read confirms the first
	Since        time.Time // when a message first named it
	Trace        string    // traceparent of the message, empty if it is not traced
	ChangeOrigin           // of the last message that has one
}

// ReadResults are the results of a batch of pending reads.
type ReadResults struct {
	Done       []PendingRead // removed, unless a message named them again in the meantime
	Failed     []PendingRead // tried again at RetryAt
	Neighbours []Target      // to be read too
	RetryAt    time.Time
	ConfirmAt  time.Time // when Done is read a second time; zero for never
}

// StreamStore stores event streams and their pending reads.
//
// Methods are safe for concurrent use. Records of other organisations are reported as
// not found.
type StreamStore interface {
	// OpenStream creates the stream of an account, or replaces the secret of the
	// existing one. fresh reports whether the stream was created. OpenStream fails
	// with fault.NotFound when the account does not exist.
	OpenStream(ctx context.Context, org OrgID, account AccountID, d StreamDigest) (s Stream, fresh bool, err error)

	// Stream returns the stream of an account, or fault.NotFound.
	Stream(ctx context.Context, org OrgID, account AccountID) (Stream, error)

	// CloseStream removes the stream of an account, or fails with
	// fault.NotFound.
	CloseStream(ctx context.Context, org OrgID, account AccountID) error

	// StreamOf returns the stream with a handle, or fault.NotFound.
	StreamOf(ctx context.Context, handle string) (Stream, error)

	// StreamWith returns the stream with a secret, or fault.NotFound.
	StreamWith(ctx context.Context, d StreamDigest) (Stream, error)

	// SetStream sets the status of an account's stream. It fails with
	// fault.NotFound when the provider has no such account.
	SetStream(ctx context.Context, org OrgID, p Provider, account AccountID, s StreamStatus) error

	// Accept commits deliveries, their pending reads and the jobs that read them
	// in one transaction. The outcomes are in the order of the deliveries.
	Accept(ctx context.Context, ds []Delivery) ([]StreamOutcome, error)

	// PendingReads returns the reads that are due in an account, oldest first.
	PendingReads(ctx context.Context, org OrgID, account AccountID, limit int) ([]PendingRead, error)

	// RecordReads stores the results of pending reads.
	RecordReads(ctx context.Context, org OrgID, account AccountID, r ReadResults) error

	// ReleaseIfIdle marks an account as idle if no read is due in it, and reports
	// whether it did. The next message of an idle account enqueues a job.
	ReleaseIfIdle(ctx context.Context, org OrgID, account AccountID) (bool, error)

	// MaintainStreams enqueues jobs for accounts with due reads and no worker,
	// deletes the ids of old messages, and marks silent streams as disconnected.
	// It returns the accounts of those streams.
	MaintainStreams(ctx context.Context, t StreamTimeouts) ([]AccountRef, error)
}

// StreamTimeouts are the times after which MaintainStreams acts.
type StreamTimeouts struct {
	Dedup     time.Duration // how long the ids of messages are kept to recognise duplicates
	Heartbeat time.Duration // a stream with heartbeats is disconnected after this long without one
	Silence   time.Duration // a stream without heartbeats is disconnected after this long without a message, if a collection found changes
}

// DefaultStreamTimeouts are the timeouts of the server.
var DefaultStreamTimeouts = StreamTimeouts{Dedup: 24 * time.Hour, Heartbeat: 3*time.Hour + 15*time.Minute, Silence: 24 * time.Hour}

// ValidAccountID reports whether a text is the id of an account of a provider.
func ValidAccountID(p Provider, id string) bool { return accountForms[p].pattern.MatchString(id) }
