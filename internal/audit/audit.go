// Package audit keeps a log of who did what, in a form that cannot be altered
// unnoticed.
//
// Records form one chain: each carries the hash of the one before, and the last
// of every commit is signed with a key that is sealed in the database. Whoever
// can write to the database but not open its secrets can therefore neither
// edit, insert, remove nor reorder records without [Log.Verify] finding out.
// Removing the newest records together with the head of the chain looks like a
// log that is merely shorter; a [Checkpoint] kept elsewhere tells the difference.
//
// A record says which members were changed, never their values.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Outcome is how an attempt ended.
type Outcome string

// The outcomes.
const (
	Success Outcome = "success"
	Denied  Outcome = "denied" // the caller may not, or is not who they say
	Failure Outcome = "failure"
)

// A Record is one thing that somebody did or tried to do. An organisation knows
// it by its ID: the number would tell how much others do.
type Record struct {
	ID        string            `json:"id"`     // random; set by the log
	Number    int64             `json:"number"` // place in the chain, from 1; set by the log
	Time      time.Time         `json:"time"`
	Request   string            `json:"request,omitempty"` // id of the request
	Org       string            `json:"org,omitempty"`
	Actor     string            `json:"actor,omitempty"` // user id
	ActorName string            `json:"actorName,omitempty"`
	Token     string            `json:"token,omitempty"`  // id of the API token or session
	Source    string            `json:"source,omitempty"` // address the request came from
	Operation string            `json:"operation"`
	Targets   map[string]string `json:"targets,omitempty"` // ids by name
	Outcome   Outcome           `json:"outcome"`
	Status    int               `json:"status,omitempty"`
	Cause     string            `json:"cause,omitempty"`   // the true reason of a refusal
	Changed   []string          `json:"changed,omitempty"` // names of members
	Count     int64             `json:"count,omitempty"`   // how many requests like this one the record stands for, if not for one
}

// encode returns the text that is hashed and stored. Map keys are sorted, so
// that it is always the same.
func (r Record) encode() ([]byte, error) {
	r.Time = r.Time.UTC().Truncate(time.Millisecond)
	return json.Marshal(r)
}

// An Entry is a record in the chain.
type Entry struct {
	Record    Record // as the columns of the store have it: number, time, organisation, actor, operation, outcome
	Body      []byte // the record's text, which is what counts
	Prev      []byte // hash of the entry before
	Hash      []byte
	Key       string // id of the key that signed, if this was the last of a commit
	Signature []byte
}

// A Head is the newest entry of a chain. The zero Head is before the first.
type Head struct {
	Number int64
	Hash   []byte
}

// An Anchor is where a chain begins whose oldest records were removed.
type Anchor struct {
	Head
	Key       string
	Signature []byte
}

// A Key signs entries.
type Key struct {
	ID        string
	Sealed    []byte
	CreatedAt time.Time
}

// Filter selects records of one organisation, newest first.
type Filter struct {
	Org       string
	Operation string    // any if empty
	Actor     string    // any if empty
	Outcome   Outcome   // any if empty
	From      time.Time // any if zero
	To        time.Time // exclusive; any if zero
	Before    int64     // records numbered below; any if zero
	Limit     int
}

// Store keeps a chain. Any number of processes share it. Methods are safe for
// concurrent use.
type Store interface {
	// Extend appends what build makes of the head. Nobody else appends meanwhile.
	// Build may be called more than once; the last call counts. When Extend
	// returns nil, the entries are on disk.
	Extend(ctx context.Context, build func(Head) ([]Entry, error)) error

	// Attach returns a context under which the first transaction that changes the
	// database also appends the record of a, as entries that chain makes of it.
	// Transactions append one after the other.
	// Committed is told the last entry once it is on disk.
	Attach(ctx context.Context, a Attachment, chain func(Head, []Record) ([]Entry, error), committed func(Entry)) context.Context

	// Head returns the newest entry.
	Head(ctx context.Context) (Head, error)

	// Tally returns the ends of the chain and what is there between them.
	Tally(ctx context.Context) (Tally, error)

	// Abandon stores the anchor that sign makes of the head: what precedes it is
	// no longer part of the chain. It is for a chain with entries missing.
	Abandon(ctx context.Context, sign func(Head) (Anchor, error)) error

	// TimeBefore returns the time of the record that so many others follow, or
	// the zero time if there are not so many.
	TimeBefore(ctx context.Context, others int64) (time.Time, error)

	// Snapshot calls f with the chain as it is at one moment.
	Snapshot(ctx context.Context, f func(Chain) error) error

	// Page returns the records that match.
	Page(ctx context.Context, f Filter) ([]Record, error)

	// Cut removes the oldest entries: those before the given time, and those that
	// at least keep others follow, if keep is not zero. It removes at most limit
	// and never the newest of all, and stores the anchor that sign makes of the
	// last one removed. It returns how many were removed.
	Cut(ctx context.Context, before time.Time, keep int64, limit int, sign func(Head) (Anchor, error)) (int64, error)

	// Keys returns the signing keys, oldest first.
	Keys(ctx context.Context) ([]Key, error)

	// AddKey stores a key. If first is set and there is one already, it fails
	// with fault.Stale.
	AddKey(ctx context.Context, k Key, first bool) error
}

// A Tally says how many entries there are, and how many there should be.
type Tally struct {
	Anchor  Head
	Head    Head  // as the chain tells it
	Records int64 // after the anchor
	Last    Head  // the newest entry that is there, or the anchor
}

// A Chain is the whole log at one moment.
type Chain struct {
	Anchor  Anchor // zero if nothing was ever removed
	Head    Head
	Entries iter.Seq2[Entry, error] // oldest first
}

// decodeRecord reads the text of a record.
func decodeRecord(body []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(body, &r); err != nil {
		return Record{}, fmt.Errorf("read audit record: %w", err)
	}
	return r, nil
}
