package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Report is the result of verifying the chain.
type Report struct {
	First   int64  // number of the oldest record
	Last    int64  // number of the newest record checked
	Records int64  // number of valid records
	Broken  *Break // the first error; nil if there is none
}

// A Break is the first error in a chain.
type Break struct {
	Number  int64
	Problem string
}

func (b *Break) Error() string { return fmt.Sprintf("audit record %d: %s", b.Number, b.Problem) }

// Verify verifies the whole chain, and that it contains the given checkpoints.
// An error means that it could not be read; errors in the chain are in the
// report.
func (l *Log) Verify(ctx context.Context, known ...Checkpoint) (Report, error) {
	keys, err := l.signers(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("verify audit log: %w", err)
	}
	var report Report
	err = l.store.Snapshot(ctx, func(c Chain) error {
		report = Report{}
		err := verify(c, keys, known, &report)
		if b, ok := errors.AsType[*Break](err); ok {
			report.Broken = b
			return nil
		}
		return err
	})
	if err != nil {
		return Report{}, fmt.Errorf("verify audit log: %w", err)
	}
	return report, nil
}

// signers decrypts the keys. Keys that cannot be decrypted are omitted, so that
// their signatures are invalid.
func (l *Log) signers(ctx context.Context) (map[string]signer, error) {
	stored, err := l.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	keys := make(map[string]signer, len(stored))
	for _, k := range stored {
		if s, err := k.open(ctx, l.box); err == nil {
			keys[k.ID] = s
		}
	}
	return keys, nil
}

func verify(c Chain, keys map[string]signer, known []Checkpoint, report *Report) error {
	previous := c.Anchor.Head
	if previous.Number > 0 && !keys[c.Anchor.Key].verifiesIfKnown(aboutAnchor, previous, c.Anchor.Signature) {
		return &Break{previous.Number, "the anchor, where the log was pruned, is not signed"}
	}
	for _, k := range known {
		if !keys[k.Key].verifiesIfKnown(aboutHead, k.Head, k.Signature) {
			return &Break{k.Number, "the checkpoint is not one of this log"}
		}
	}
	report.First = previous.Number + 1
	unsigned := int64(0) // the first record that no signature covers yet
	for e, err := range c.Entries {
		if err != nil {
			return err
		}
		if err := checkFollows(previous, e); err != nil {
			return err
		}
		previous = Head{e.Record.Number, e.Hash}
		if unsigned == 0 {
			unsigned = previous.Number
		}
		if len(e.Signature) > 0 {
			if !keys[e.Key].verifiesIfKnown(aboutHead, previous, e.Signature) {
				return &Break{previous.Number, "its signature is not valid"}
			}
			unsigned = 0
		}
		if err := checkCheckpoints(known, previous); err != nil {
			return err
		}
		report.Last = previous.Number
		report.Records++
	}
	if unsigned > 0 {
		return &Break{unsigned, "no signature follows it"}
	}
	return checkEnd(c.Head, previous, known)
}

// verifiesIfKnown is like verifies, but returns false for the zero signer, which a map of
// signers returns for an unknown key.
func (s signer) verifiesIfKnown(purpose string, h Head, signature []byte) bool {
	return s.private != nil && s.verifies(purpose, h, signature)
}

// checkFollows checks one entry against its predecessor.
func checkFollows(previous Head, e Entry) error {
	number := e.Record.Number
	if number != previous.Number+1 {
		return &Break{previous.Number + 1, fmt.Sprintf("it is missing; the next is %d", number)}
	}
	if !bytes.Equal(e.Prev, previous.Hash) {
		return &Break{number, "it does not follow its predecessor"}
	}
	if !bytes.Equal(e.Hash, link(previous.Hash, number, e.Body)) {
		return &Break{number, "it was altered"}
	}
	body, err := decodeRecord(e.Body)
	if err != nil {
		return &Break{number, "it cannot be read"}
	}
	columns := e.Record
	if body.Number != columns.Number || !body.Time.Equal(columns.Time) || body.Org != columns.Org || body.Actor != columns.Actor ||
		body.Operation != columns.Operation || body.Outcome != columns.Outcome || len(body.SearchTargets()) != e.Targets {
		return &Break{number, "the columns that it is searched by were altered"}
	}
	return nil
}

// checkCheckpoints checks one entry against the checkpoints.
func checkCheckpoints(known []Checkpoint, head Head) error {
	for _, k := range known {
		if k.Number == head.Number && !bytes.Equal(k.Hash, head.Hash) {
			return &Break{head.Number, "it differs from the checkpoint"}
		}
	}
	return nil
}

// checkEnd checks that the chain ends at the stored head, and not before a checkpoint.
func checkEnd(head, last Head, known []Checkpoint) error {
	if head.Number == last.Number && !bytes.Equal(head.Hash, last.Hash) {
		return &Break{last.Number, "it differs from the stored head"}
	}
	if head.Number != last.Number {
		return &Break{last.Number + 1, fmt.Sprintf("it is missing; the log has had %d records", head.Number)}
	}
	for _, k := range known {
		if k.Number > last.Number {
			return &Break{last.Number + 1, fmt.Sprintf("it is missing; the checkpoint covers %d records", k.Number)}
		}
	}
	return nil
}

// A Checkpoint is a signed head of the log. Stored outside the database, it
// reveals the removal of the newest records.
type Checkpoint struct {
	Head
	Key       string
	Signature []byte
}

// Checkpoint returns a checkpoint of the current head.
func (l *Log) Checkpoint(ctx context.Context) (Checkpoint, error) {
	var head Head
	err := l.store.Snapshot(ctx, func(c Chain) error {
		head = c.Head
		return nil
	})
	if err != nil {
		return Checkpoint{}, fmt.Errorf("make audit checkpoint: %w", err)
	}
	key := l.signer()
	return Checkpoint{head, key.id, key.sign(aboutHead, head)}, nil
}

// String returns the checkpoint as one line.
func (c Checkpoint) String() string {
	return fmt.Sprintf("vigil-audit 1 %d h%x %s %x", c.Number, c.Hash, c.Key, c.Signature)
}

// ParseCheckpoint parses the result of String.
func ParseCheckpoint(s string) (Checkpoint, error) {
	f := strings.Fields(s)
	if len(f) != 6 || f[0] != "vigil-audit" || f[1] != "1" {
		return Checkpoint{}, errors.New("not an audit checkpoint")
	}
	number, err1 := strconv.ParseInt(f[2], 10, 64)
	hash, err2 := hex.DecodeString(strings.TrimPrefix(f[3], "h")) // before the first record, the field is only h
	signature, err3 := hex.DecodeString(f[5])
	if err := errors.Join(err1, err2, err3); err != nil {
		return Checkpoint{}, fmt.Errorf("read audit checkpoint: %w", err)
	}
	return Checkpoint{Head{number, hash}, f[4], signature}, nil
}
