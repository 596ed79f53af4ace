// Package awsapitest generates responses of AWS operations from their models and a seed,
// and encodes them in the protocols of the services. Tests compare decoders with each
// other and with the generated values.
package awsapitest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"vigil/internal/posture/collect/awsapi/model"
)

// A Maker generates values. They depend only on its seed.
type Maker struct {
	rand *rand.Rand
	// Plain excludes strings that need escapes.
	Plain bool
	// Full gives structures all of their members, and lists at least one item.
	Full bool
	// Sparse gives structures few of their members, for small answers.
	Sparse bool
	// Unions are the names of shapes that the model does not mark as unions, but of which
	// only one member is set.
	Unions []string
}

// New returns a maker.
func New(seed uint64) *Maker { return &Maker{rand: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))} }

// maxDepth limits the nesting of structures, which may be recursive.
const maxDepth = 7

// Output generates an output of an operation. Its values are map[string]any for
// structures and maps, []any, string, bool, int64, float64, [time.Time] and
// []byte, so that [encoding/json.Marshal] yields the expected result.
func (m *Maker) Output(op *model.Operation) map[string]any {
	if op.Output == nil {
		return map[string]any{}
	}
	values := m.structure(op.Output, 0)
	if p := op.Output.Payload; values[p] == "" {
		delete(values, p) // an empty body is an absent payload
	}
	return values
}

func (m *Maker) structure(s *model.Shape, depth int) map[string]any {
	values := map[string]any{}
	if s.Union || slices.Contains(m.Unions, s.Name) {
		member := &s.Members[m.rand.IntN(len(s.Members))]
		values[member.Name] = m.value(member, depth+1)
		return values
	}
	for i := range s.Members {
		member := &s.Members[i]
		omit := m.shouldOmit(depth)
		switch {
		case member.Location == "statusCode":
			omit = false // every response has a status code
		case depth > maxDepth && isComposite(member.Shape):
			omit = true
		}
		if !omit {
			values[member.Name] = m.value(member, depth+1)
		}
	}
	return values
}

// shouldOmit decides whether to omit an optional member.
func (m *Maker) shouldOmit(depth int) bool {
	switch {
	case m.Full:
		return false
	case m.Sparse:
		return m.rand.IntN(5+2*depth) > 0
	}
	return m.rand.IntN(5) == 0
}

func isComposite(s *model.Shape) bool {
	return s.Type == model.Structure || s.Type == model.List || s.Type == model.Map
}

func (m *Maker) value(r *model.Member, depth int) any {
	s := r.Shape
	switch s.Type {
	case model.Structure:
		if s.Document {
			return map[string]any{"any": []any{m.text(), true, nil}}
		}
		return m.structure(s, depth)
	case model.List:
		n := m.count(depth)
		if (r.Flattened || s.Flattened) && n == 0 {
			n = 1 // on the wire, an empty flattened list is the same as none
		}
		list := make([]any, 0, n)
		for range n {
			list = append(list, m.value(s.Item, depth+1))
		}
		return list
	case model.Map:
		n := max(m.count(depth), 1)
		values := map[string]any{}
		for range n {
			key := m.text()
			if r.Location == "headers" || m.Plain {
				key = strings.ToLower(m.word())
			} else if len(s.Key.Shape.Enum) > 0 {
				key = s.Key.Shape.Enum[m.rand.IntN(len(s.Key.Shape.Enum))]
			}
			values[key] = m.value(s.Value, depth+1)
		}
		return values
	}
	return m.scalar(r)
}

func (m *Maker) count(depth int) int {
	if depth > maxDepth/2 {
		return 1
	}
	if m.Full {
		return 1 + m.rand.IntN(2)
	}
	return m.rand.IntN(4)
}

func (m *Maker) scalar(r *model.Member) any {
	switch s := r.Shape; s.Type {
	case model.Boolean:
		return m.rand.IntN(2) == 0
	case model.Integer:
		if r.Location == "statusCode" {
			return int64(200)
		}
		return []int64{0, 7, -1, math.MaxInt32, math.MinInt32, int64(m.rand.Int32())}[m.rand.IntN(6)]
	case model.Long:
		return []int64{0, 12345678901, math.MaxInt64, math.MinInt64, m.rand.Int64()}[m.rand.IntN(5)]
	case model.Float, model.Double:
		return float64(m.rand.IntN(1<<20)-1<<19) / 8 // exact in 32 bits too
	case model.Timestamp:
		t := time.Unix(m.rand.Int64N(4e9), 0).UTC()
		// rfc822, the default in headers, has no fractions of seconds.
		mayHaveFractions := cmp.Or(r.TimestampFormat, s.TimestampFormat) != "rfc822" && r.Location != "header"
		if mayHaveFractions && m.rand.IntN(2) == 0 {
			t = t.Add(time.Duration(m.rand.IntN(4)) * 250 * time.Millisecond)
		}
		return t
	case model.Blob:
		raw := make([]byte, 1+m.rand.IntN(20))
		for i := range raw {
			raw[i] = byte(m.rand.IntN(256))
		}
		return raw
	default:
		switch {
		case len(s.Enum) > 0:
			return s.Enum[m.rand.IntN(len(s.Enum))]
		case r.Location != "":
			return m.word()
		}
		return m.text()
	}
}

// pieces are the parts of strings. Some need escapes in XML or JSON.
var pieces = []string{
	"arn:aws:iam::123456789012:role/x", "word", " ", "0", "true", "é", "日本", "😀", "&", "<", ">", `"`, "'", `\`, "\n", "\t", "\r", "]]>", "<b>x</b>", "{\"a\":1}", "%20", "\u2028", "\u0085", "\ufffd",
}

func (m *Maker) text() string {
	if m.Plain {
		return m.word()
	}
	var b strings.Builder
	for range m.rand.IntN(5) {
		b.WriteString(pieces[m.rand.IntN(len(pieces))])
	}
	return b.String()
}

func (m *Maker) word() string {
	letters := make([]byte, 1+m.rand.IntN(12))
	for i := range letters {
		letters[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[m.rand.IntN(36)]
	}
	return string(letters)
}
