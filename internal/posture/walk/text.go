package walk

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"vigil/gremlin"
	"vigil/internal/gctune"
)

// A budget tracks the memory and time of a query while its response is built. The result of the
// query counts as used while it is held. The methods must be called from one goroutine.
type budget struct {
	limit    gremlin.Budget
	used     int64        // bytes
	peak     int64        // most bytes used at a time, including those of the run of the query
	deadline time.Time    // no deadline when zero
	until    int          // calls of tick until the next check of the clock
	task     *gctune.Work // told when the query uses much memory, so that garbage is collected sooner
	err      error        // a *gremlin.BudgetError after the budget is exceeded
}

// take reserves bytes. It returns false when the memory or time budget is exceeded.
func (b *budget) take(bytes int64) bool {
	b.used += bytes
	b.peak = max(b.peak, b.used)
	if b.used > gremlin.Large {
		b.task.Grow() // only the first call has an effect
	}
	if b.err == nil && b.limit.Memory > 0 && b.used > b.limit.Memory {
		b.err = &gremlin.BudgetError{Limit: gremlin.LimitMemory, Allowed: b.limit.Memory}
	}
	return b.tick()
}

// tick returns false when the memory or time budget is exceeded. It reads the clock only about
// every 1000 calls.
func (b *budget) tick() bool {
	b.until--
	if b.until < 0 && b.err == nil {
		b.until = 1024
		if !b.deadline.IsZero() && time.Now().After(b.deadline) {
			b.err = &gremlin.BudgetError{Limit: gremlin.LimitTime, Allowed: int64(b.limit.Time)}
		}
	}
	return b.err == nil
}

// release returns reserved bytes to the budget.
func (b *budget) release(bytes int64) { b.used -= bytes }

// A Text is a part of a response as JSON, written within the budget of its query. It is stored in
// pieces, so that a text that grows is not copied. After the budget is exceeded, the text is
// incomplete; see Err.
type Text struct {
	budget *budget
	pieces [][]byte
	size   int64
}

const (
	minPiece = 1 << 10
	maxPiece = 64 << 10
)

// Len returns the number of bytes.
func (t *Text) Len() int64 { return t.size }

// Err returns the error of the exceeded limit, or nil.
func (t *Text) Err() error { return t.budget.err }

// WriteTo implements [io.WriterTo].
func (t *Text) WriteTo(w io.Writer) (n int64, err error) {
	for _, p := range t.pieces {
		m, err := w.Write(p)
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// MarshalJSON implements [json.Marshaler].
func (t *Text) MarshalJSON() ([]byte, error) {
	all := make([]byte, 0, t.size)
	for _, p := range t.pieces {
		all = append(all, p...)
	}
	return all, t.Err()
}

// free returns the memory of the text to the budget.
func (t *Text) free() {
	for _, p := range t.pieces {
		t.budget.release(int64(cap(p)))
	}
	t.pieces, t.size = nil, 0
}

// Raw writes JSON unchanged.
func (t *Text) Raw(s string) { write(t, s) }

// Join moves the content of another text of the same response to the end of this one.
func (t *Text) Join(other *Text) {
	t.pieces = append(t.pieces, other.pieces...)
	t.size += other.size
	other.pieces, other.size = nil, 0
}

func write[S string | []byte](t *Text, s S) {
	for len(s) > 0 {
		last := len(t.pieces) - 1
		if last < 0 || len(t.pieces[last]) == cap(t.pieces[last]) {
			size := int64(minPiece)
			if last >= 0 {
				size = min(2*int64(cap(t.pieces[last])), maxPiece)
			}
			if !t.budget.take(size) {
				return
			}
			t.pieces = append(t.pieces, make([]byte, 0, size))
			last++
		}
		p := t.pieces[last]
		n := min(cap(p)-len(p), len(s))
		t.pieces[last] = append(p, s[:n]...)
		t.size += int64(n)
		s = s[n:]
	}
}

// String writes a string.
func (t *Text) String(s string) {
	t.Raw(`"`)
	begin := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			t.Raw(s[begin:i])
			t.escape(c)
			i++
			begin = i
		} else {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				t.Raw(s[begin:i])
				t.Raw(`\ufffd`)
				begin = i + n
			}
			i += n
		}
		if !t.budget.tick() {
			return
		}
	}
	t.Raw(s[begin:])
	t.Raw(`"`)
}

// escape writes a character that must be escaped in a JSON string.
func (t *Text) escape(c byte) {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		write(t, []byte{'\\', c})
	case '\n':
		t.Raw(`\n`)
	case '\r':
		t.Raw(`\r`)
	case '\t':
		t.Raw(`\t`)
	default:
		write(t, []byte{'\\', 'u', '0', '0', hex[c>>4], hex[c&15]})
	}
}

// Int writes a whole number.
func (t *Text) Int(n int64) {
	var digits [20]byte
	write(t, strconv.AppendInt(digits[:0], n, 10))
}

// float writes a number, or a string for a value that JSON lacks.
func (t *Text) float(f float64, single bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		t.String(strconv.FormatFloat(f, 'g', -1, 64))
		return
	}
	var number any = f
	if single {
		number = float32(f)
	}
	t.marshal(number)
}

// marshal writes a small value that JSON can represent.
func (t *Text) marshal(v any) {
	data, err := json.Marshal(v)
	if err != nil { // never happens; keeps the response valid JSON
		data, _ = json.Marshal(err.Error()) // a string always marshals
	}
	write(t, data)
}
