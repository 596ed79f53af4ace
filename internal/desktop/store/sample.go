package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/sqldb"
)

// blockOf returns the time span of one row. A row contains the points of a
// series for an hour, or for a day when the step is coarse.
func blockOf(step time.Duration) time.Duration {
	if step >= desktop.CoarseStep {
		return 24 * time.Hour
	}
	return time.Hour
}

// block is one row of the table.
type block struct {
	series desktop.Series
	start  time.Time
	points []desktop.Point
}

// storedPoint is a point in a row: seconds since the start of the block, count,
// sum, minimum, maximum.
type storedPoint [5]int64

func scanBlock(r sqldb.Row) (b block, err error) {
	var text string
	if err := r.Scan(&b.series.Kind, &b.series.ID, &b.series.Part, &b.series.Measure, moment{&b.start}, &text); err != nil {
		return b, err
	}
	var points []storedPoint
	if err := fromJSON(text, &points); err != nil {
		return b, err
	}
	for _, p := range points {
		b.points = append(b.points, desktop.Point{
			At: b.start.Add(time.Duration(p[0]) * time.Second), Count: p[1], Sum: p[2], Min: p[3], Max: p[4],
		})
	}
	return b, nil
}

func (b block) text() string {
	points := make([]storedPoint, len(b.points))
	for i, p := range b.points {
		points[i] = storedPoint{int64(p.At.Sub(b.start) / time.Second), p.Count, p.Sum, p.Min, p.Max}
	}
	return toJSON(points)
}

// add inserts a point in order, or merges it with the point of the same time.
func (b *block) add(p desktop.Point) {
	i, found := slices.BinarySearchFunc(b.points, p, func(x, y desktop.Point) int { return x.At.Compare(y.At) })
	if found {
		b.points[i].Merge(p)
		return
	}
	b.points = slices.Insert(b.points, i, p)
}

const blockColumns = `kind, component, part, measure, started_at, points`

// AddSamples implements [desktop.SampleStore].
func (s *Store) AddSamples(ctx context.Context, step time.Duration, samples []desktop.Sample) error {
	byStart := make(map[time.Time][]desktop.Sample)
	for _, v := range samples {
		start := v.Point.At.UTC().Truncate(blockOf(step))
		byStart[start] = append(byStart[start], v)
	}
	if len(byStart) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		// Two processes may add to the same block.
		if err := tx.Lock("desktop_sample"); err != nil {
			return err
		}
		for start, samples := range byStart {
			if err := addToBlocks(tx, step, start, samples); err != nil {
				return err
			}
		}
		return nil
	})
}

func addToBlocks(tx *sqldb.Tx, step time.Duration, start time.Time, samples []desktop.Sample) error {
	rows, err := sqldb.Query(tx, scanBlock, `
		SELECT `+blockColumns+`
		FROM desktop_sample
		WHERE step = $1
		  AND started_at = $2`, int64(step/time.Second), millis(start))
	if err != nil {
		return err
	}
	blocks := make(map[desktop.Series]*block, len(rows))
	for _, b := range rows {
		blocks[b.series] = &b
	}
	changed := make(map[desktop.Series]*block, len(samples))
	for _, v := range samples {
		b := blocks[v.Series]
		if b == nil {
			b = &block{series: v.Series, start: start}
			blocks[v.Series] = b
		}
		b.add(v.Point)
		changed[v.Series] = b
	}
	_, err = tx.ExecEach(`
		INSERT INTO desktop_sample (step, `+blockColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (step, kind, measure, component, part, started_at) DO UPDATE
		SET points = excluded.points`,
		func(yield func([]any) bool) {
			for series, b := range changed {
				if !yield([]any{int64(step / time.Second), series.Kind, series.ID, series.Part, series.Measure, millis(start), b.text()}) {
					return
				}
			}
		})
	return err
}

// Samples implements [desktop.SampleStore].
func (s *Store) Samples(ctx context.Context, f desktop.SampleFilter) ([]desktop.Sample, error) {
	// The block that contains f.Since begins less than the length of a block before it.
	args := []any{int64(f.Step / time.Second), f.Kind, f.Measure, f.ID, millis(f.Since.Add(-blockOf(f.Step)))}
	until := ""
	if !f.Until.IsZero() {
		args = append(args, millis(f.Until))
		until = fmt.Sprintf(" AND started_at < $%d", len(args))
	}
	rows, err := list(ctx, s, scanBlock, `
		SELECT `+blockColumns+`
		FROM desktop_sample
		WHERE step = $1
		  AND kind = $2
		  AND measure = $3
		  AND component = $4
		  AND started_at > $5`+until+`
		ORDER BY part, started_at`, args...)
	if err != nil {
		return nil, err
	}
	var out []desktop.Sample
	for _, b := range rows {
		for _, p := range b.points {
			if !p.At.Before(f.Since) && (f.Until.IsZero() || p.At.Before(f.Until)) {
				out = append(out, desktop.Sample{Series: b.series, Point: p})
			}
		}
	}
	return out, nil
}

// ForgetSamples implements [desktop.SampleStore].
func (s *Store) ForgetSamples(ctx context.Context, step time.Duration, before time.Time) error {
	_, err := s.exec(ctx, `
		DELETE FROM desktop_sample
		WHERE step = $1
		  AND started_at < $2`, int64(step/time.Second), millis(before.Add(-blockOf(step))))
	return err
}
