package audit

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"vigil/internal/fault"
)

// A checkpointFile stores the newest signed head of the chain outside the
// database. It reveals that a database has lost its newest records. Without the
// file, the log would merely look shorter.
//
// It is written after the commit, so that it is never ahead of the database.
// Two slots are written alternately: an interrupted write leaves the previous
// checkpoint intact.
type checkpointFile struct {
	mu   sync.Mutex
	file *os.File
	last int64 // number of the newest checkpoint in the file
	next int   // index of the slot that is written next
}

const checkpointSlot = 512 // bytes; a checkpoint has about 250

// slotOfNone counts as the slot of the newest checkpoint in a file that has none, so that slot 0
// is written first.
const slotOfNone = 1

// KeepCheckpoint makes the log store its newest checkpoint in a file from now
// on. It fails with [ErrTruncated] if the database lacks records that the file's
// checkpoint covers.
func (l *Log) KeepCheckpoint(ctx context.Context, path string) error {
	known, slot, err := readCheckpointFile(path)
	if err != nil {
		return err
	}
	if err := l.findLoss(ctx, known); err != nil {
		return err
	}
	return l.openCheckpoint(path, known, slot)
}

// AcceptLoss is [Log.KeepCheckpoint] for a database that may lack records, also ones that only
// the published checkpoints of witnesses cover. It reports whether records are missing. If so, it adds
// a record of the loss to the log.
func (l *Log) AcceptLoss(ctx context.Context, path string, published ...Checkpoint) (lost bool, err error) {
	known, slot, err := readCheckpointFile(path)
	if err != nil {
		return false, err
	}
	left, err := l.store.Tally(ctx)
	if err != nil {
		return false, fmt.Errorf("read audit log: %w", err)
	}
	err = l.findLoss(ctx, append([]Checkpoint{known}, published...)...)
	if err == nil {
		return false, l.openCheckpoint(path, known, slot)
	}
	if !errors.Is(err, ErrTruncated) {
		return false, err
	}
	// Open the file as if it contained no checkpoint: it is emptied below.
	if err := l.openCheckpoint(path, Checkpoint{}, slotOfNone); err != nil {
		return false, err
	}
	if err := l.reanchor(ctx); err != nil {
		return false, err
	}
	// Remove the checkpoint of the lost records, so that the next start does not fail.
	if err := os.Truncate(path, 0); err != nil {
		return false, fmt.Errorf("empty audit checkpoint: %w", err)
	}
	had := max(known.Number, left.Head.Number)
	for _, c := range published {
		had = max(had, c.Number)
	}
	return true, l.Append(ctx, Record{
		Operation: "audit.acceptLoss", ActorName: "operator", Outcome: Success,
		Targets: map[string]string{ // numbers of the newest record before and after the loss
			"had": fmt.Sprint(had), "has": fmt.Sprint(left.Last.Number), "missing": fmt.Sprint(had - left.Anchor.Number - left.Records),
		},
	})
}

// openCheckpoint opens the file that stores the newest checkpoint, and creates it if it does
// not exist. newest is the newest checkpoint that it contains, in the given slot.
func (l *Log) openCheckpoint(path string, newest Checkpoint, slot int) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open audit checkpoint: %w", err)
	}
	l.state.Lock()
	defer l.state.Unlock()
	l.file = &checkpointFile{file: file, last: newest.Number, next: 1 - slot}
	return nil
}

// findLoss fails with [ErrTruncated] if the database lacks records, as far as the checkpoints and
// the ends of the chain reveal that.
func (l *Log) findLoss(ctx context.Context, known ...Checkpoint) error {
	head, err := l.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read audit log: %w", err)
	}
	for _, c := range known {
		if err := l.checkAgainst(ctx, c, head); err != nil {
			return err
		}
	}
	return l.checkComplete(ctx)
}

// reanchor sets a new anchor at the head if entries are missing.
func (l *Log) reanchor(ctx context.Context) error {
	if err := l.checkComplete(ctx); !errors.Is(err, ErrTruncated) {
		return err
	}
	key := l.signer()
	return l.store.Reanchor(ctx, func(h Head) (Anchor, error) {
		return Anchor{Head: h, Key: key.id, Signature: key.sign(aboutAnchor, h)}, nil
	})
}

// checkComplete checks, without reading all records, that their number fits the ends of
// the chain.
func (l *Log) checkComplete(ctx context.Context) error {
	t, err := l.store.Tally(ctx)
	if err != nil {
		return fmt.Errorf("read audit log: %w", err)
	}
	if want := t.Head.Number - t.Anchor.Number; t.Records != want || t.Last.Number != t.Head.Number || string(t.Last.Hash) != string(t.Head.Hash) {
		return fmt.Errorf("%w: it has %d records, the newest of them %d, and should have %d up to %d", ErrTruncated, t.Records, t.Last.Number, want, t.Head.Number)
	}
	return nil
}

// checkAgainst compares a checkpoint, of the file or of a witness, with the head of the chain.
func (l *Log) checkAgainst(ctx context.Context, known Checkpoint, head Head) error {
	if known.Number == 0 {
		return nil
	}
	keys, err := l.signers(ctx)
	if err != nil {
		return err
	}
	if !keys[known.Key].verifiesIfKnown(aboutHead, known.Head, known.Signature) {
		return fmt.Errorf("%w: the checkpoint belongs to another installation", ErrTruncated)
	}
	switch {
	case known.Number > head.Number:
		return fmt.Errorf("%w: it ends at record %d, but record %d was written before: the changes of the missing records are lost too, "+
			"because the database was restored from an older copy or is damaged", ErrTruncated, head.Number, known.Number)
	case known.Number == head.Number && string(known.Hash) != string(head.Hash):
		return fmt.Errorf("%w: record %d differs from the one that was written", ErrTruncated, head.Number)
	}
	return nil
}

// ReadCheckpointFile returns the newest checkpoint in a file, or the zero one
// if the file does not exist.
func ReadCheckpointFile(path string) (Checkpoint, error) {
	newest, _, err := readCheckpointFile(path)
	return newest, err
}

// readCheckpointFile also returns the slot of the newest checkpoint: 0 or 1, and slotOfNone if there is none.
func readCheckpointFile(path string) (newest Checkpoint, slot int, err error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Checkpoint{}, 0, fmt.Errorf("read audit checkpoint: %w", err)
	}
	slot = slotOfNone
	for i := range 2 {
		part := data[min(i*checkpointSlot, len(data)):min((i+1)*checkpointSlot, len(data))]
		text, sum, _ := strings.Cut(strings.TrimSpace(string(part)), " sum ")
		if sum != checksum(text) {
			continue // the slot is empty or its write was interrupted
		}
		if c, err := ParseCheckpoint(text); err == nil && c.Number >= newest.Number {
			newest, slot = c, i
		}
	}
	return newest, slot, nil
}

func checksum(text string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) }

// onCommit handles the last entry of a transaction that was committed.
func (l *Log) onCommit(e Entry) {
	l.recordHead(Head{e.Record.Number, e.Hash})
	l.state.Lock()
	file := l.file
	l.state.Unlock()
	if file == nil || len(e.Signature) == 0 {
		return
	}
	// An unwritable file must not fail requests: its checkpoint is merely older.
	_ = file.write(Checkpoint{Head{e.Record.Number, e.Hash}, e.Key, e.Signature})
}

func (c *checkpointFile) write(p Checkpoint) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Number <= c.last {
		return nil
	}
	text := p.String()
	text += " sum " + checksum(text)
	if len(text) >= checkpointSlot {
		return fault.New(fault.Internal, "the audit checkpoint is too long")
	}
	text += strings.Repeat(" ", checkpointSlot-len(text)-1) + "\n"
	if _, err := c.file.WriteAt([]byte(text), int64(c.next*checkpointSlot)); err != nil {
		return err
	}
	c.last, c.next = p.Number, 1-c.next
	return nil
}

// Close closes the checkpoint file, if there is one.
func (l *Log) Close() error {
	l.state.Lock()
	file := l.file
	l.file = nil
	l.state.Unlock()
	if file == nil {
		return nil
	}
	return file.file.Close()
}

var _ io.Closer = (*Log)(nil)
