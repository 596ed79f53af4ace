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

// A Witness keeps the newest checkpoint of the log outside the database and the
// data folder: whoever can change both can still not make the log shorter
// without it showing.
type Witness interface {
	// Name says in logs which one it is.
	Name() string

	// Put hands over a checkpoint.
	Put(ctx context.Context, c Checkpoint) error

	// Newest returns the newest checkpoint that it has, or the zero one if it has
	// none or cannot be asked back.
	Newest(ctx context.Context) (Checkpoint, error)
}

// Witnesses hand the checkpoints of a log to places outside, and hold the log
// against what those have. It is safe for concurrent use.
type Witnesses struct {
	log *Log

	mu  sync.Mutex
	all []*witnessed
}

// witnessed is a witness with the state of our last exchange with it.
type witnessed struct {
	Witness
	compared bool  // with what it had when we started; before that nothing is put there, because it would replace the evidence of a loss
	sent     int64 // number of the record of the newest checkpoint that it took
	away     error // why it could not be asked or told the last time
	lost     error // what it has seen and the log lacks
}

// NewWitnesses returns the witnesses of a log.
func NewWitnesses(l *Log, all ...Witness) *Witnesses {
	w := &Witnesses{log: l}
	for _, one := range all {
		w.all = append(w.all, &witnessed{Witness: one})
	}
	return w
}

// CheckAgainst fails with [ErrCut] if the database lacks records that a
// checkpoint names.
func (l *Log) CheckAgainst(ctx context.Context, c Checkpoint) error {
	head, err := l.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read audit log: %w", err)
	}
	return l.lost(ctx, c, head)
}

// Compare asks the witnesses that were not asked yet what they have seen, and
// fails with [ErrCut] if the database lacks some of it. A witness that cannot be
// asked is asked again before a checkpoint is put there; meanwhile [Witnesses.Notice]
// names it.
func (w *Witnesses) Compare(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all error
	for _, one := range w.all {
		if err := w.compare(ctx, one); errors.Is(err, ErrCut) {
			all = errors.Join(all, fmt.Errorf("%s: %w", one.Name(), err))
		}
	}
	return all
}

func (w *Witnesses) compare(ctx context.Context, one *witnessed) error {
	if one.compared {
		return nil
	}
	c, err := one.Newest(ctx)
	if err != nil {
		one.away = err
		return err
	}
	if err := w.log.CheckAgainst(ctx, c); err != nil {
		if errors.Is(err, ErrCut) {
			one.lost = err
		}
		return err
	}
	one.compared, one.away, one.lost = true, nil, nil
	return nil
}

// Replace puts the newest checkpoint in the place of what the witnesses have,
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
	for _, one := range w.all {
		if err := one.Put(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", one.Name(), err)
		}
		one.compared, one.lost, one.sent = true, nil, c.Number
	}
	return nil
}

// Notice says what is wrong with the witnesses, and is empty if nothing is. It
// is for strangers too, and so it does not name the places; the log does.
func (w *Witnesses) Notice() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return [...]string{
		"",
		"a place that keeps audit checkpoints cannot be reached",
		"a place that keeps audit checkpoints could not be asked since the start: a loss of records would not have been noticed",
		"audit records are missing that were there when a checkpoint was kept; vigil audit verify says more",
	}[w.level()]
}

// level says how bad it is, from 0 to 3. The caller has the lock.
func (w *Witnesses) level() int {
	level := 0
	for _, one := range w.all {
		switch {
		case one.lost != nil:
			level = max(level, 3)
		case one.away != nil && !one.compared:
			level = max(level, 2)
		case one.away != nil:
			level = max(level, 1)
		}
	}
	return level
}

// Known returns what the witnesses have. Those that cannot be asked are the
// error.
func (w *Witnesses) Known(ctx context.Context) (all []Checkpoint, err error) {
	for _, one := range w.all {
		c, failed := one.Newest(ctx)
		switch {
		case failed != nil:
			err = errors.Join(err, fmt.Errorf("%s: %w", one.Name(), failed))
		case c.Number > 0:
			all = append(all, c)
		}
	}
	return all, err
}

// Collector is the metric of the witnesses.
func (w *Witnesses) Collector() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vigil_audit_witness_level",
		Help: "Places outside that keep audit checkpoints: 0 all agree, 1 one cannot be reached, 2 one was not asked since the start, 3 one has seen records that are missing.",
	}, func() float64 {
		w.mu.Lock()
		defer w.mu.Unlock()
		return float64(w.level())
	})
}

// Publish hands the newest checkpoint to the witnesses at intervals, when it has
// changed, and once more when ctx ends.
func (w *Witnesses) Publish(ctx context.Context, log *slog.Logger, every time.Duration) {
	if len(w.all) == 0 {
		return
	}
	for _, one := range w.all {
		w.mu.Lock()
		away := one.away
		w.mu.Unlock()
		if away != nil {
			log.ErrorContext(ctx, "a place that keeps audit checkpoints could not be asked at start: a loss of records would not have been noticed", "place", one.Name(), "err", away)
		}
	}
	tick := time.NewTicker(every)
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

// publishTime is how long one round may take.
const publishTime = 10 * time.Second

func (w *Witnesses) publish(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	c, err := w.log.Checkpoint(ctx)
	if err != nil {
		log.WarnContext(ctx, "audit checkpoint not made", "err", err)
		return
	}
	for _, one := range w.all {
		w.tell(ctx, log, one, c)
	}
}

// tell compares a witness that was not compared yet, and hands the checkpoint to
// one that was.
func (w *Witnesses) tell(ctx context.Context, log *slog.Logger, one *witnessed, c Checkpoint) {
	w.mu.Lock()
	before := *one
	w.mu.Unlock()
	if before.compared && before.sent == c.Number {
		return
	}
	// Asking and telling take their time, and Notice must not wait for them.
	after := before
	err := w.compare(ctx, &after)
	if err == nil {
		if err = after.Put(ctx, c); err == nil {
			after.sent = c.Number
		}
	}
	after.away = nil
	switch {
	case after.lost != nil:
		log.ErrorContext(ctx, "audit records are missing", "seen by", one.Name(), "err", after.lost)
	case err != nil:
		after.away = err
		log.WarnContext(ctx, "audit checkpoint not handed over", "to", one.Name(), "err", err, "compared since the start", after.compared)
	case !before.compared:
		log.InfoContext(ctx, "audit checkpoint compared after the start", "with", one.Name())
	}
	w.mu.Lock()
	*one = after
	w.mu.Unlock()
}
