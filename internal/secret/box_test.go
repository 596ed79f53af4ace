package secret_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"vigil/internal/secret"
	"vigil/internal/secret/secrettest"
)

// clock is a time that tests advance.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func newBox(t *testing.T, ring secret.Keyring, c *clock, masters ...secret.Master) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(t.Context(), ring, secret.Options{Master: masters[0], Previous: masters[1:], Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var cell = secret.Cell{Org: "o1", Table: "credential", Row: "r1", Field: "key"}

func seal(t *testing.T, b *secret.Box, c secret.Cell, s string) []byte {
	t.Helper()
	sealed, err := b.Seal(t.Context(), c, []byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealedValuesOpenOnlyInTheirCell(t *testing.T) {
	t.Parallel()
	b := newBox(t, secrettest.NewKeyring(), newClock(), newMaster(t))
	// Cells whose fields would be confused by a naive concatenation.
	var cells []secret.Cell
	for _, org := range []string{"", "a", "ab", "a|", "a\x00"} {
		for _, table := range []string{"", "b", "|b", "\x01b"} {
			for _, row := range []string{"", "1", "12"} {
				for _, field := range []string{"", "2", "12"} {
					cells = append(cells, secret.Cell{Org: org, Table: table, Row: row, Field: field})
				}
			}
		}
	}
	for i, c := range cells {
		sealed := seal(t, b, c, canary)
		if bytes.Contains(sealed, []byte(canary)) {
			t.Fatal("the sealed value contains the plaintext")
		}
		for j, other := range cells {
			got, err := b.Open(t.Context(), other, sealed)
			switch {
			case i == j && (err != nil || string(got) != canary):
				t.Fatalf("own cell %+v: %q, %v", c, got, err)
			case i != j && !errors.Is(err, secret.ErrOpen):
				t.Fatalf("sealed for %+v, opened in %+v: %v", c, other, err)
			}
		}
	}
}

func TestAlteredValuesDoNotOpen(t *testing.T) {
	t.Parallel()
	b := newBox(t, secrettest.NewKeyring(), newClock(), newMaster(t))
	sealed := seal(t, b, cell, canary)
	for i := range sealed {
		for bit := range 8 {
			bad := bytes.Clone(sealed)
			bad[i] ^= 1 << bit
			if _, err := b.Open(t.Context(), cell, bad); !errors.Is(err, secret.ErrOpen) {
				t.Fatalf("byte %d bit %d flipped: %v", i, bit, err)
			}
		}
	}
	for n := range sealed {
		if _, err := b.Open(t.Context(), cell, sealed[:n]); !errors.Is(err, secret.ErrOpen) {
			t.Fatalf("truncated to %d bytes: %v", n, err)
		}
	}
}

func TestKeysetSurvivesARestart(t *testing.T) {
	t.Parallel()
	ring, m, c := secrettest.NewKeyring(), newMaster(t), newClock()
	sealed := seal(t, newBox(t, ring, c, m), cell, canary)
	if got, err := newBox(t, ring, c, m).Open(t.Context(), cell, sealed); err != nil || string(got) != canary {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	if _, err := secret.NewBox(t.Context(), ring, secret.Options{Master: newMaster(t)}); err == nil {
		t.Error("another master key opened the keyring")
	}
}

func TestProcessesThatStartTogetherShareOneKeyset(t *testing.T) {
	t.Parallel()
	ring, m := secrettest.NewKeyring(), newMaster(t)
	var (
		wg    sync.WaitGroup
		boxes [8]*secret.Box
	)
	for i := range boxes {
		wg.Go(func() {
			b, err := secret.NewBox(t.Context(), ring, secret.Options{Master: m})
			if err != nil {
				t.Error(err)
			}
			boxes[i] = b
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	sealed := seal(t, boxes[0], cell, canary)
	for i, b := range boxes {
		if _, err := b.Open(t.Context(), cell, sealed); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
}

func TestRotationIsSeenByOtherProcesses(t *testing.T) {
	t.Parallel()
	ring, m, c := secrettest.NewKeyring(), newMaster(t), newClock()
	a, b := newBox(t, ring, c, m), newBox(t, ring, c, m)
	old := seal(t, a, cell, "old")
	c.advance(2 * time.Second) // for a value of an unknown key, Open reloads a keyset older than a second
	if err := a.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh := seal(t, a, cell, "new")
	if bytes.Equal(old[:5], fresh[:5]) { // Tink's prefix, which has the id of the key
		t.Fatal("the new value is under the old key")
	}
	for name, v := range map[string][]byte{"old": old, "new": fresh} {
		if got, err := b.Open(t.Context(), cell, v); err != nil || string(got) != name {
			t.Errorf("the other process opens %s as %q, %v", name, got, err)
		}
	}
	c.advance(secret.MaxAge)
	if value := seal(t, b, cell, "x"); !bytes.Equal(value[:5], fresh[:5]) {
		t.Error("the other process still seals with the old key")
	}
}

func TestRewrapMovesToANewMasterKey(t *testing.T) {
	t.Parallel()
	ring, before, after, c := secrettest.NewKeyring(), newMaster(t), newMaster(t), newClock()
	sealed := seal(t, newBox(t, ring, c, before), cell, canary)
	both := newBox(t, ring, c, after, before)
	if err := both.Rewrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := newBox(t, ring, c, after).Open(t.Context(), cell, sealed); err != nil || string(got) != canary {
		t.Errorf("with the new master key: %q, %v", got, err)
	}
	if _, err := secret.NewBox(t.Context(), ring, secret.Options{Master: before}); err == nil {
		t.Error("the old master key still unwraps")
	}
}

// memoryColumn is an in-memory column.
type memoryColumn struct {
	rows   [][]byte
	fail   int // row at which to fail, if positive
	visits int // rows that Reseal has visited
}

func (c *memoryColumn) Name() string { return "shelf.value" }
func (c *memoryColumn) cell(i int) secret.Cell {
	return secret.Cell{Table: "shelf", Row: fmt.Sprint(i), Field: "v"}
}

func (c *memoryColumn) Reseal(ctx context.Context, r secret.Resealer, after string, limit int) (string, int, error) {
	start, changed := 0, 0
	_, _ = fmt.Sscan(after, &start)
	for i := start; i < min(start+limit, len(c.rows)); i++ {
		c.visits++
		if c.fail > 0 && i == c.fail {
			return "", 0, errors.New("power cut")
		}
		fresh, ok, err := r.Reseal(ctx, c.cell(i), c.rows[i])
		if err != nil {
			return "", 0, err
		}
		if ok {
			c.rows[i] = fresh
			changed++
		}
	}
	if start+limit >= len(c.rows) {
		return "", changed, nil
	}
	return fmt.Sprint(start + limit), changed, nil
}

func TestInterruptedResealingResumes(t *testing.T) {
	t.Parallel()
	ring, c := secrettest.NewKeyring(), newClock()
	b := newBox(t, ring, c, newMaster(t))
	s := &memoryColumn{}
	for i := range 1000 {
		s.rows = append(s.rows, seal(t, b, s.cell(i), fmt.Sprint("v", i)))
	}
	if err := b.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.fail = 650
	if err := b.ResealAll(t.Context(), ring, nil, s); err == nil {
		t.Fatal("the failure was swallowed")
	}
	s.fail, s.visits = 0, 0
	total := 0
	if err := b.ResealAll(t.Context(), ring, func(_ string, n int) { total += n }, s); err != nil {
		t.Fatal(err)
	}
	// The batches have 200 rows: the one from row 600 on is repeated, and 50 of its rows are done.
	if s.visits != 400 || total != 350 {
		t.Errorf("resumed with %d visits and %d changes, want 400 and 350", s.visits, total)
	}
	for i, v := range s.rows {
		if got, err := b.Open(t.Context(), s.cell(i), v); err != nil || string(got) != fmt.Sprint("v", i) {
			t.Fatalf("row %d: %q, %v", i, got, err)
		}
		if _, changed, err := b.Reseal(t.Context(), s.cell(i), v); err != nil || changed {
			t.Fatalf("row %d is not under the primary key: %v", i, err)
		}
	}
}

func TestInterruptedRotationContinuesWithItsKey(t *testing.T) {
	t.Parallel()
	ring, m, c := secrettest.NewKeyring(), newMaster(t), newClock()
	b := newBox(t, ring, c, m)
	s := &memoryColumn{}
	for i := range 500 {
		s.rows = append(s.rows, seal(t, b, s.cell(i), fmt.Sprint("v", i)))
	}
	first := seal(t, b, cell, "x")[:5] // Tink's prefix, which has the id of the key
	begin := func(b *secret.Box, wantAt time.Time, wantAdded bool) {
		t.Helper()
		if at, added, err := b.BeginRotation(t.Context(), ring); err != nil || !at.Equal(wantAt) || added != wantAdded {
			t.Fatalf("key of %v, added: %t, %v; want %v, %t", at, added, err, wantAt, wantAdded)
		}
	}
	rotated := c.now()
	begin(b, rotated, true)
	second := seal(t, b, cell, "x")[:5]
	s.fail = 250
	if err := b.ResealAll(t.Context(), ring, nil, s); err == nil {
		t.Fatal("the failure was swallowed")
	}
	c.advance(time.Hour)
	b = newBox(t, ring, c, m) // of another run of the command
	begin(b, rotated, false)
	s.fail, s.visits = 0, 0
	if err := b.ResealAll(t.Context(), ring, nil, s); err != nil {
		t.Fatal(err)
	}
	if s.visits != 300 {
		t.Errorf("continued with %d rows, want the 300 after the first batch", s.visits)
	}
	for i, v := range s.rows {
		if !bytes.Equal(v[:5], second) || bytes.Equal(v[:5], first) {
			t.Fatalf("row %d is under key %x, want %x", i, v[:5], second)
		}
	}
	begin(b, c.now(), true)
	begin(newBox(t, ring, c, m), c.now(), false) // interrupted before the first batch
	// Rewrap makes a new generation of the keyset, which has no bookmark to continue from.
	if err := b.Rewrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin(b, c.now(), true)
}

func TestSealingAndRotatingTogether(t *testing.T) {
	t.Parallel()
	ring, m := secrettest.NewKeyring(), newMaster(t)
	a, err := secret.NewBox(t.Context(), ring, secret.Options{Master: m})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				c := secret.Cell{Table: "t", Row: fmt.Sprint(w, i)}
				sealed, err := a.Seal(t.Context(), c, []byte("x"))
				if err == nil {
					_, err = a.Open(t.Context(), c, sealed)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 5 {
			if err := a.Rotate(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}
