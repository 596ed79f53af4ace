// Package audit implements a tamper-evident log of operations and their actors.
//
// Records form a hash chain: each contains the hash of the one before, and the
// last of every commit is signed with a key that is sealed in the database.
// An attacker who can write to the database but cannot decrypt its secrets can
// therefore not edit, insert, remove or reorder records without [Log.Verify]
// detecting it. If the newest records are removed together with the head of the
// chain, the log looks merely shorter; a [Checkpoint] stored elsewhere reveals
// that.
//
// A record contains the names of changed members, never their values.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Outcome is the result of a request.
type Outcome string

// The outcomes.
const (
	Success Outcome = "success"
	Denied  Outcome = "denied" // the caller is not authenticated or not authorised
	Failure Outcome = "failure"
)

// A Record is one action or attempt. Organisations identify it by its ID,
// because the number would reveal how active other organisations are.
type Record struct {
	ID        string            `json:"id"`     // random; set by the log
	Number    int64             `json:"number"` // position in the chain, from 1; set by the log
	Time      time.Time         `json:"time"`
	Request   string            `json:"request,omitempty"` // id of the request
	Org       string            `json:"org,omitempty"`
	Actor     string            `json:"actor,omitempty"` // user id
	ActorName string            `json:"actorName,omitempty"`
	Token     string            `json:"token,omitempty"`  // id of the API token or session
	Source    string            `json:"source,omitempty"` // address that sent the request
	Operation string            `json:"operation"`
	Targets   map[string]string `json:"targets,omitempty"` // ids by name
	Outcome   Outcome           `json:"outcome"`
	Status    int               `json:"status,omitempty"`
	Cause     string            `json:"cause,omitempty"`   // the actual reason of a refusal
	Changed   []string          `json:"changed,omitempty"` // names of members
	Count     int64             `json:"count,omitempty"`   // number of similar requests that the record represents, if more than one
}

// encode returns the text that is hashed and stored. Map keys are sorted, so
// that it is deterministic.
func (r Record) encode() ([]byte, error) {
	r.Time = r.Time.UTC().Truncate(time.Millisecond)
	return json.Marshal(r)
}

// An Entry is a record in the chain.
type Entry struct {
	Record    Record // decoded; the store has its number, time, organisation, actor, operation and outcome as columns
	Body      []byte // the record's text, which is hashed
	Prev      []byte // hash of the entry before
	Hash      []byte
	Key       string // id of the signing key, if this was the last entry of a commit
	Signature []byte
	Targets   int // number of rows by which the store finds the record, one for each of its SearchTargets
}

// SearchTargets returns the values of a record's targets by which it is found, sorted and
// without duplicates. Long values are cut, because databases limit the size of index entries.
func (r Record) SearchTargets() []string {
	var all []string
	for _, v := range r.Targets {
		if v != "" {
			all = append(all, SearchTarget(v))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// SearchTarget returns the text by which records with a target are found.
func SearchTarget(value string) string {
	value = strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", ""), "")
	if r := []rune(value); len(r) > 200 {
		return string(r[:200])
	}
	return value
}

// A Head is the newest entry of a chain. The zero Head precedes the first
// entry.
type Head struct {
	Number int64
	Hash   []byte
}

// An Anchor is the start of a chain whose oldest records were removed.
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
	Target    string    // value of any target; any if empty
	Outcome   Outcome   // any if empty
	From      time.Time // any if zero
	To        time.Time // exclusive; any if zero
	Before    int64     // only records with lower numbers; any if zero
	Limit     int
}

// Store stores a chain. Any number of processes share it. Methods are safe for
// concurrent use.
type Store interface {
	// Extend appends the entries that build returns for the head. It excludes other
	// appends. Build may be called more than once; the last call counts. When
	// Extend returns nil, the entries are committed.
	Extend(ctx context.Context, build func(Head) ([]Entry, error)) error

	// Attach returns a context in which the first transaction that changes the
	// database also appends the record of a, as entries that chain returns for it.
	// Such transactions are serialised. After the commit, the store calls committed
	// with the last entry of the transaction, and a.Committed.
	Attach(ctx context.Context, a Attachment, chain func(Head, []Record) ([]Entry, error), committed func(Entry)) context.Context

	// Head returns the newest entry.
	Head(ctx context.Context) (Head, error)

	// Tally returns the ends of the chain and the number of entries between them.
	Tally(ctx context.Context) (Tally, error)

	// Reanchor stores the anchor that sign returns for the head: the entries up to the
	// head are no longer part of the chain. This repairs a chain with missing entries.
	Reanchor(ctx context.Context, sign func(Head) (Anchor, error)) error

	// TimeBefore returns the time of the record that is followed by the given
	// number of newer ones, or the zero time if there is no such record.
	TimeBefore(ctx context.Context, newer int64) (time.Time, error)

	// Snapshot calls f with a consistent snapshot of the chain.
	Snapshot(ctx context.Context, f func(Chain) error) error

	// Page returns the matching records.
	Page(ctx context.Context, f Filter) ([]Record, error)

	// Cut removes the oldest entries: those before the given time and, if keep is not
	// zero, all but the newest keep entries. It removes at most limit entries, never
	// the newest, and stores the anchor that sign returns for the last removed one.
	// It returns the number of removed entries.
	Cut(ctx context.Context, before time.Time, keep int64, limit int, sign func(Head) (Anchor, error)) (int64, error)

	// Keys returns the signing keys, oldest first.
	Keys(ctx context.Context) ([]Key, error)

	// AddKey stores a key.
	AddKey(ctx context.Context, k Key) error

	// AddFirstKey stores a key. It fails with fault.Stale if a key already exists.
	AddFirstKey(ctx context.Context, k Key) error
}

// A Tally compares where the chain should end (Head) with where it ends (Last).
type Tally struct {
	Anchor  Head
	Head    Head  // the stored head of the chain
	Records int64 // after the anchor
	Last    Head  // the newest existing entry, or the anchor
}

// A Chain is a snapshot of the whole log.
type Chain struct {
	Anchor  Anchor // zero if nothing was ever removed
	Head    Head
	Entries iter.Seq2[Entry, error] // oldest first
}

// decodeRecord decodes the text of a record.
func decodeRecord(body []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(body, &r); err != nil {
		return Record{}, fmt.Errorf("read audit record: %w", err)
	}
	return r, nil
}
