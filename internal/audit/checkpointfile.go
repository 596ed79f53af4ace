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
// database. It detects that a database has lost its newest records, which
// otherwise looks like a shorter log.
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

// KeepCheckpoint makes the log store its newest checkpoint in a file from now
// on. It fails with [ErrTruncated] if the database lacks records that the file's
// checkpoint covers, unless acceptLoss is set; the accepted loss is recorded.
func (l *Log) KeepCheckpoint(ctx context.Context, path string, acceptLoss bool) error {
	known, err := ReadCheckpointFile(path)
	if err != nil {
		return err
	}
	head, err := l.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read audit log: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open audit checkpoint: %w", err)
	}
	c := &checkpointFile{file: file}
	gap := l.checkComplete(ctx)
	loss := l.checkAgainst(ctx, known, head)
	if loss == nil {
		loss = gap
	}
	switch {
	case loss != nil && !acceptLoss:
		return errors.Join(loss, file.Close())
	case loss != nil:
		if err := errors.Join(l.reanchor(ctx, gap), file.Truncate(0)); err != nil {
			return errors.Join(err, file.Close())
		}
	case known.Number > 0:
		c.last = known.Number
	}
	l.state.Lock()
	l.file = c
	l.state.Unlock()
	if loss == nil {
		return nil
	}
	return l.Append(ctx, Record{
		Operation: "audit.acceptLoss", ActorName: "operator", Outcome: Success,
		Targets: map[string]string{"had": fmt.Sprint(known.Number), "has": fmt.Sprint(head.Number)},
	})
}

// reanchor sets a new anchor at the head if entries are missing.
func (l *Log) reanchor(ctx context.Context, gap error) error {
	if !errors.Is(gap, ErrTruncated) {
		return gap
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

// checkAgainst compares the file's checkpoint with the database.
func (l *Log) checkAgainst(ctx context.Context, known Checkpoint, head Head) error {
	if known.Number == 0 {
		return nil
	}
	keys, err := l.signers(ctx)
	if err != nil {
		return err
	}
	if !keys[known.Key].verifiesIfKnown(aboutHead, known.Head, known.Signature) {
		return fmt.Errorf("%w: the checkpoint file belongs to another installation", ErrTruncated)
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
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Checkpoint{}, nil
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read audit checkpoint: %w", err)
	}
	var newest Checkpoint
	for len(data) > 0 {
		slot := data[:min(checkpointSlot, len(data))]
		data = data[len(slot):]
		text, sum, _ := strings.Cut(strings.TrimSpace(string(slot)), " sum ")
		if sum != checksum(text) {
			continue // the slot is empty or its write was interrupted
		}
		if c, err := ParseCheckpoint(text); err == nil && c.Number >= newest.Number {
			newest = c
		}
	}
	return newest, nil
}

func checksum(text string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) }

// onCommit handles an entry that was committed.
func (l *Log) onCommit(e Entry) {
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
