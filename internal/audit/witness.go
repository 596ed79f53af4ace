package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Witness stores the newest checkpoint of the log outside the database and
// the data folder, so that even an attacker with write access to both cannot truncate
// the log undetected.
type Witness interface {
	// Name identifies the witness in logs.
	Name() string

	// Put stores a checkpoint.
	Put(ctx context.Context, c Checkpoint) error

	// Newest returns the newest stored checkpoint, or the zero one if there is none
	// or the witness is write-only.
	Newest(ctx context.Context) (Checkpoint, error)
}

// Witnesses publishes the checkpoints of a log to witnesses, and compares the
// log with their checkpoints. It is safe for concurrent use.
type Witnesses struct {
	log *Log

	mu  sync.Mutex
	all []*witnessState
}

// witnessState is a witness with the state of the last exchange.
type witnessState struct {
	Witness
	compared   bool  // compared with its checkpoint since the start; before that nothing is published, because it would overwrite the evidence of a loss
	sent       int64 // record number of the newest published checkpoint
	lastErr    error // error of the last comparison or write
	incomplete error // set if the log lacks records that the witness's checkpoint covers
}

// NewWitnesses returns the witnesses of a log.
func NewWitnesses(l *Log, all ...Witness) *Witnesses {
	w := &Witnesses{log: l}
	for _, witness := range all {
		w.all = append(w.all, &witnessState{Witness: witness})
	}
	return w
}

// CheckAgainst fails with [ErrTruncated] if the database lacks records that a
// checkpoint covers.
func (l *Log) CheckAgainst(ctx context.Context, c Checkpoint) error {
	head, err := l.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read audit log: %w", err)
	}
	return l.checkAgainst(ctx, c, head)
}

// Compare reads the checkpoints of the witnesses that were not compared yet. It
// fails with [ErrTruncated] if the database lacks records that one of them covers. A witness that
// could not be compared, for example because it is not reachable, is compared later, before a
// checkpoint is published there; until then [Witnesses.Notice] reports it.
func (w *Witnesses) Compare(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all error
	for _, state := range w.all {
		if err := w.compare(ctx, state); errors.Is(err, ErrTruncated) {
			all = errors.Join(all, fmt.Errorf("%s: %w", state.Name(), err))
		}
	}
	return all
}

func (w *Witnesses) compare(ctx context.Context, state *witnessState) error {
	if state.compared {
		return nil
	}
	c, err := state.Newest(ctx)
	if err != nil {
		state.lastErr = err
		return err
	}
	if err := w.log.CheckAgainst(ctx, c); err != nil {
		if errors.Is(err, ErrTruncated) {
			state.incomplete = err
		} else {
			state.lastErr = err // the database could not be read: compared later, like a witness that is not reachable
		}
		return err
	}
	state.compared, state.lastErr, state.incomplete = true, nil, nil
	return nil
}

// Replace overwrites the checkpoints of the witnesses with the newest one,
// after a loss was accepted.
func (w *Witnesses) Replace(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) == 0 {
		return nil
	}
	c, err := w.log.Checkpoint(ctx)
	if err != nil {
		return err
	}
	for _, state := range w.all {
		if err := state.Put(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", state.Name(), err)
		}
		state.compared, state.incomplete, state.sent = true, nil, c.Number
	}
	return nil
}

// Notice returns a description of failing witnesses, or "". It is shown without
// authentication and therefore contains no addresses; the server's log messages do.
func (w *Witnesses) Notice() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return notices[w.level()]
}

// The states of the witnesses, as the metric reports them. The worst witness counts.
const (
	witnessesAgree = iota
	witnessUnreachable
	witnessNeverCompared // since the start
	recordsMissing
)

var notices = [...]string{
	witnessesAgree:       "",
	witnessUnreachable:   "a witness of the audit log is not reachable",
	witnessNeverCompared: "a witness of the audit log could not be asked since the start: a loss of records would not have been detected",
	recordsMissing:       "audit records that a checkpoint covers are missing; run vigil admin audit verify for details",
}

// level returns the worst state of a witness. The caller holds the lock.
func (w *Witnesses) level() int {
	level := witnessesAgree
	for _, state := range w.all {
		switch {
		case state.incomplete != nil:
			level = max(level, recordsMissing)
		case state.lastErr != nil && !state.compared:
			level = max(level, witnessNeverCompared)
		case state.lastErr != nil:
			level = max(level, witnessUnreachable)
		}
	}
	return level
}

// Known returns the checkpoints of the witnesses. The error contains those that
// are not reachable.
func (w *Witnesses) Known(ctx context.Context) (all []Checkpoint, err error) {
	for _, state := range w.all {
		c, newestErr := state.Newest(ctx)
		switch {
		case newestErr != nil:
			err = errors.Join(err, fmt.Errorf("%s: %w", state.Name(), newestErr))
		case c.Number > 0:
			all = append(all, c)
		}
	}
	return all, err
}

// Collector returns the metric of the witnesses.
func (w *Witnesses) Collector() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vigil_audit_witness_level",
		Help: "State of the audit log's witnesses: 0 all agree, 1 one is not reachable, 2 one could not be asked since the start, 3 records that a checkpoint covers are missing.",
	}, func() float64 {
		w.mu.Lock()
		defer w.mu.Unlock()
		return float64(w.level())
	})
}

// Publish publishes the newest checkpoint to the witnesses periodically, when
// it has changed, and once more when ctx is done.
func (w *Witnesses) Publish(ctx context.Context, log *slog.Logger, interval time.Duration) {
	if len(w.all) == 0 {
		return
	}
	for _, state := range w.all {
		w.mu.Lock()
		lastErr := state.lastErr
		w.mu.Unlock()
		if lastErr != nil {
			log.ErrorContext(ctx, "witness of the audit log could not be asked at start: a loss of records would not have been detected", "witness", state.Name(), "err", lastErr)
		}
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-tick.C:
		}
		w.publish(context.WithoutCancel(ctx), log)
	}
}

// publishTime limits the duration of one round over all witnesses.
const publishTime = 10 * time.Second

func (w *Witnesses) publish(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	c, err := w.log.Checkpoint(ctx)
	if err != nil {
		log.WarnContext(ctx, "create audit checkpoint", "err", err)
		return
	}
	for _, state := range w.all {
		w.exchange(ctx, log, state, c)
	}
}

// exchange publishes the checkpoint to a witness. Before that, it compares the log
// with the witness, unless that was done since the start.
func (w *Witnesses) exchange(ctx context.Context, log *slog.Logger, state *witnessState, c Checkpoint) {
	w.mu.Lock()
	before := *state
	w.mu.Unlock()
	if before.compared && before.sent == c.Number {
		return
	}
	// The exchange is slow, and Notice must not wait for it: work on a copy.
	after := before
	err := w.compare(ctx, &after)
	if err == nil {
		if err = after.Put(ctx, c); err == nil {
			after.sent = c.Number
		}
	}
	after.lastErr = nil
	switch {
	case after.incomplete != nil:
		log.ErrorContext(ctx, "audit records are missing", "witness", state.Name(), "err", after.incomplete)
	case err != nil:
		after.lastErr = err
		log.WarnContext(ctx, "publish audit checkpoint", "witness", state.Name(), "err", err, "compared since the start", after.compared)
	case !before.compared:
		log.InfoContext(ctx, "audit checkpoint compared after the start", "witness", state.Name())
	}
	w.mu.Lock()
	*state = after
	w.mu.Unlock()
}
