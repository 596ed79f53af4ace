package posture

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"
)

// A Stream is how the events of an account reach us. It is there from the moment
// somebody asks for what the set-up script needs.
type Stream struct {
	Org      OrgID
	Account  AccountID
	Provider Provider

	// Handle tells the account's stream apart from all others. It is part of the
	// names that the set-up script gives to topics and subscriptions, so that a
	// message says whose it is before anything of it is believed. It is no secret.
	Handle string

	Created   time.Time
	Rotated   time.Time // when the secret was last made anew
	LastEvent time.Time // when a message last came; zero for never
	LastBeat  time.Time // when a heartbeat last came; zero for never

	Pending    int64 // resources that are named and not read yet; filled in by Stream alone
	Accepted   int64 // messages taken
	Duplicates int64 // messages that came again
	Unmapped   int64 // messages about nothing that we read
}

// A StreamSecret is what a message without a signature must carry.
type StreamSecret string

// NewStreamSecret returns a secret that nobody can guess.
func NewStreamSecret() StreamSecret { return StreamSecret(strings.ToLower(rand.Text() + rand.Text())) }

// String hides the secret from logs.
func (StreamSecret) String() string { return "[redacted]" }

// Reveal returns the secret itself.
func (s StreamSecret) Reveal() string { return string(s) }

// A StreamDigest is all that is kept of a secret. The secret is long and random,
// so that a plain hash is as good as a slow one.
type StreamDigest [sha256.Size]byte

// Digest returns what is kept of the secret.
func (s StreamSecret) Digest() StreamDigest { return sha256.Sum256([]byte(s)) }

// NewHandle returns a handle no stream has had before.
func NewHandle() string { return strings.ToLower(rand.Text()[:12]) }

// A Target is a resource that is to be read again: the one of this name as the
// cloud's log has it, or all of the type in the region when there is no name.
type Target struct {
	Type   EntityType
	Region string
	Name   string
}

// A StreamMessage is one message of a stream after it was verified.
type StreamMessage struct {
	ID     string    // by which its sender knows it again
	Time   time.Time // when it was sent
	Sign   StreamSign
	Target []Target
}

// A StreamSign is what a message says of the stream itself.
type StreamSign uint8

// The signs.
const (
	SignEvent StreamSign = iota // something was done in the account
	SignBeat                    // nothing was: the stream shows that it lives
	SignUp                      // it was set up
	SignDown                    // it was torn down
)

// A Delivery is what came with one request.
type Delivery struct {
	Stream   Stream
	Messages []StreamMessage
}

// What became of a message.
type StreamOutcome struct {
	Fresh      int  // messages that were not there before
	Duplicates int  // that were
	Gone       bool // the stream was removed meanwhile
}

// A Reread is a target that waits to be read.
type Reread struct {
	Target
	Version int64     // grows when another message names it
	Depth   int       // 0 for what a message named, 1 for its neighbours
	Tries   int       // that failed
	Again   bool      // it was read already, and is looked at once more
	Since   time.Time // when it was first named
}

// A Settlement is what came of rereads.
type Settlement struct {
	Done   []Reread  // read, unless named again meanwhile
	Failed []Reread  // to be tried again
	Spread []Target  // neighbours to be read too
	Retry  time.Time // when to try again
	Second time.Time // when to look once more at what is done; zero for never
}

// StreamStore keeps streams and what they ask for.
//
// Methods are safe for concurrent use. What belongs to another organisation is
// answered as if it did not exist.
type StreamStore interface {
	// OpenStream gives an account a stream, or the one it has another secret. It
	// fails with fault.NotFound without the account.
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

	// SetStream says that the stream of an account is connected or not. It fails
	// with fault.NotFound without an account of this provider.
	SetStream(ctx context.Context, org OrgID, p Provider, account AccountID, s StreamStatus) error

	// Accept takes deliveries in one transaction, together with the work that
	// they cause. When it returns, they are on disk. The outcomes are in the
	// order of the deliveries.
	Accept(ctx context.Context, ds []Delivery) ([]StreamOutcome, error)

	// Rereads returns some of what is due to be read in an account, what was
	// named first first.
	Rereads(ctx context.Context, org OrgID, account AccountID, limit int) ([]Reread, error)

	// Settle notes what came of rereads.
	Settle(ctx context.Context, org OrgID, account AccountID, s Settlement) error

	// Rest reports whether nothing is due in an account. When it is so, the next
	// message asks for work anew.
	Rest(ctx context.Context, org OrgID, account AccountID) (bool, error)

	// TendStreams asks for work where it is due and nobody does it, forgets
	// messages that were seen before a time, and takes streams for disconnected
	// from which nothing came for too long. It returns the accounts of those.
	TendStreams(ctx context.Context, p StreamPatience) ([]AccountRef, error)
}

// StreamPatience says how long silence is taken for peace.
type StreamPatience struct {
	Seen  time.Duration // how long a message is remembered, to know it again
	Beat  time.Duration // a stream that sends heartbeats is lost after this long without
	Quiet time.Duration // any other after this long without a message while collections saw changes
}

// DefaultPatience is how long the server waits.
var DefaultPatience = StreamPatience{Seen: 24 * time.Hour, Beat: 3*time.Hour + 15*time.Minute, Quiet: 24 * time.Hour}

// ValidAccountID reports whether a text is the id of an account of a provider.
func ValidAccountID(p Provider, id string) bool { return accountForms[p].pattern.MatchString(id) }
