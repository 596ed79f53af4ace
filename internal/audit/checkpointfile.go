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

// A checkpointFile holds the newest signed head of the chain, outside the
// database. A database that has lost its newest records, by whatever means,
// looks like a log that is merely shorter; the file tells the difference.
//
// It is written after the commit that it is about, so that it is never ahead of
// the database. Two places take turns: a write that was cut short leaves the one
// before.
type checkpointFile struct {
	mu   sync.Mutex
	file *os.File
	last int64 // number of the newest checkpoint in the file
	next int   // the place that is written next
}

const checkpointPlace = 512 // bytes; a checkpoint has about 250

// KeepCheckpoint has the log keep its newest checkpoint in a file from now on.
// It fails with [ErrCut] if the database lacks records that the file has seen,
// unless loss is accepted; that is recorded.
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
	gap := l.whole(ctx)
	loss := l.lost(ctx, known, head)
	if loss == nil {
		loss = gap
	}
	switch {
	case loss != nil && !acceptLoss:
		return errors.Join(loss, file.Close())
	case loss != nil:
		if err := errors.Join(l.abandon(ctx, gap), file.Truncate(0)); err != nil {
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

// abandon has the chain begin anew after its head if there are entries missing.
func (l *Log) abandon(ctx context.Context, gap error) error {
	if !errors.Is(gap, ErrCut) {
		return gap
	}
	key := l.signer()
	return l.store.Abandon(ctx, func(h Head) (Anchor, error) {
		return Anchor{Head: h, Key: key.id, Signature: key.sign(aboutAnchor, h)}, nil
	})
}

// whole checks, without reading all of them, that the records are there that the
// ends of the chain tell of.
func (l *Log) whole(ctx context.Context) error {
	t, err := l.store.Tally(ctx)
	if err != nil {
		return fmt.Errorf("read audit log: %w", err)
	}
	if want := t.Head.Number - t.Anchor.Number; t.Records != want || t.Last.Number != t.Head.Number || string(t.Last.Hash) != string(t.Head.Hash) {
		return fmt.Errorf("%w: it has %d records, the newest of them %d, and should have %d up to %d", ErrCut, t.Records, t.Last.Number, want, t.Head.Number)
	}
	return nil
}

// lost compares what the file has seen with what the database has.
func (l *Log) lost(ctx context.Context, known Checkpoint, head Head) error {
	if known.Number == 0 {
		return nil
	}
	keys, err := l.signers(ctx)
	if err != nil {
		return err
	}
	if !keys[known.Key].checks(aboutHead, known.Head, known.Signature) {
		return fmt.Errorf("%w: the checkpoint file is not one of this installation", ErrCut)
	}
	switch {
	case known.Number > head.Number:
		return fmt.Errorf("%w: it ends at record %d, and record %d had been written: the changes that the missing ones tell of are lost too, "+
			"because the database was restored from an older copy or is damaged", ErrCut, head.Number, known.Number)
	case known.Number == head.Number && string(known.Hash) != string(head.Hash):
		return fmt.Errorf("%w: record %d is another than had been written", ErrCut, head.Number)
	}
	return nil
}

// ReadCheckpointFile returns the newest checkpoint in a file, or none if there
// is no file yet.
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
		place := data[:min(checkpointPlace, len(data))]
		data = data[len(place):]
		text, sum, _ := strings.Cut(strings.TrimSpace(string(place)), " sum ")
		if sum != checksum(text) {
			continue // it was cut short, or there is none yet
		}
		if c, err := ParseCheckpoint(text); err == nil && c.Number >= newest.Number {
			newest = c
		}
	}
	return newest, nil
}

func checksum(text string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) }

// committed notes an entry that is on disk.
func (l *Log) committed(e Entry) {
	l.state.Lock()
	file := l.file
	l.state.Unlock()
	if file == nil || len(e.Signature) == 0 {
		return
	}
	// A file that cannot be written must not keep changes from being answered:
	// the checkpoint in it is merely older.
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
	if len(text) >= checkpointPlace {
		return fault.New(fault.Internal, "the audit checkpoint is too long")
	}
	text += strings.Repeat(" ", checkpointPlace-len(text)-1) + "\n"
	if _, err := c.file.WriteAt([]byte(text), int64(c.next*checkpointPlace)); err != nil {
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
