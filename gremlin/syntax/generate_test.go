package syntax

import (
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPrintParseRoundTrip checks for every tree that parse(print(tree)) is the tree.
func TestPrintParseRoundTrip(t *testing.T) {
	t.Parallel()
	options := Options{AllowMutation: true, Limits: Limits{Length: 1 << 20, Steps: 1 << 20, Depth: 64, Literals: 1 << 20, Regex: 1 << 20}}
	rapid.Check(t, func(t *rapid.T) {
		want := generator{T: t, depth: 4}.query()
		got, err := Parse(want.String(), options)
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if diff := cmp.Diff(want, got, sameTree...); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", want, diff)
		}
	})
}

// generator draws trees from the signature table. depth is the remaining nesting depth.
type generator struct {
	*rapid.T
	depth int
}

func (g generator) deeper() generator { return generator{g.T, g.depth - 1} }

func (g generator) upTo(n int) int { return rapid.IntRange(0, n).Draw(g.T, "n") }

func pick[E any](g generator, from []E) E { return from[g.upTo(len(from)-1)] }

// stepsWhere returns the signatures that satisfy ok.
func stepsWhere(ok func(*Signature) bool) []*Signature {
	var found []*Signature
	for _, s := range Steps() {
		// The parser rewrites the deprecated step store().
		if ok(s) && s.Category != RefusedStep && s.Name != "store" {
			found = append(found, s)
		}
	}
	return found
}

var (
	sourceSteps   = stepsWhere(func(s *Signature) bool { return s.Category == SourceStep })
	startSteps    = stepsWhere(func(s *Signature) bool { return s.Start })
	terminalSteps = stepsWhere(func(s *Signature) bool { return s.Category == TerminalStep })
	chainSteps    = stepsWhere(func(s *Signature) bool { return s.Category != SourceStep && s.Category != TerminalStep })
)

func (g generator) query() *Query {
	q := &Query{}
	for range g.upTo(2) {
		q.Source = append(q.Source, g.step(pick(g, sourceSteps)))
	}
	q.Steps = append([]Step{g.step(pick(g, startSteps))}, g.chain(3)...)
	if g.upTo(1) == 1 {
		s := g.step(pick(g, terminalSteps))
		q.Terminal = &s
	}
	return q
}

func (g generator) chain(limit int) []Step {
	var steps []Step
	for range g.upTo(limit) {
		steps = append(steps, g.step(pick(g, chainSteps)))
	}
	return steps
}

func (g generator) step(sig *Signature) Step {
	forms := sig.Forms
	if sig.Name == "aggregate" {
		forms = forms[:1] // the parser rewrites the deprecated form with a scope
	}
	s := Step{Name: sig.Name}
	for _, p := range pick(g, forms) {
		n := 1
		if p.Variadic {
			n = g.upTo(3)
		}
		for range n {
			s.Args = append(s.Args, g.arg(p.Kinds))
		}
	}
	return s
}

// arg draws an argument of one of the kinds.
func (g generator) arg(kinds Kind) Arg {
	if g.depth <= 0 {
		// At the maximum depth use only kinds that do not nest, if there are any.
		if shallow := kinds &^ (KindTraversal | KindQuery | KindCollection | KindMap | KindCardinalityValue); shallow != 0 {
			kinds = shallow
		}
	}
	var single []Kind
	for k := KindString; k <= kindOfEnum(enumCount); k <<= 1 {
		if kinds&k != 0 {
			single = append(single, k)
		}
	}
	return g.argOf(pick(g, single))
}

func (g generator) argOf(kind Kind) Arg {
	switch kind {
	case KindNull:
		return &Literal{}
	case KindString:
		return &Literal{Value: g.text()}
	case KindInteger:
		return &Literal{Value: pick(g, g.integers())}
	case KindFloat:
		return &Literal{Value: pick(g, g.floats())}
	case KindBool:
		return &Literal{Value: g.upTo(1) == 1}
	case KindDate:
		return g.date()
	case KindUUID:
		return pick(g, []Arg{&RuntimeValue{Name: uuidName}, &Literal{Value: UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(g.T, "uuid"))}})
	case KindCollection:
		return g.deeper().collection()
	case KindMap:
		return g.deeper().mapLiteral()
	case KindPredicate:
		return g.deeper().predicate()
	case KindTraversal:
		d := g.deeper()
		return &Traversal{Steps: append([]Step{d.step(pick(d, chainSteps))}, d.chain(2)...)}
	case KindQuery:
		d := g.deeper()
		q := d.query()
		s := d.step(pick(d, terminalSteps))
		q.Terminal = &s
		return q
	case KindVariable:
		return &Variable{Name: pick(g, []string{"x", "vid1", "größe", "$a", "a_b"})}
	case KindStrategy:
		return g.deeper().strategy()
	case KindCardinalityValue:
		d := g.deeper()
		return &CardinalityValue{Cardinality: pick(g, Cardinality.Names()), Value: d.arg(kindValue | KindTraversal)}
	}
	for e := NoEnum + 1; e < enumCount; e++ {
		if kind == kindOfEnum(e) {
			return &Token{Enum: e, Name: pick(g, e.Names())}
		}
	}
	g.Fatalf("no argument of kind %s", kind)
	return nil
}

func (g generator) text() string {
	if g.upTo(2) > 0 {
		return pick(g, []string{"", "a", "name", `"`, "'", `\`, "\n", "null", "ä", "\u2028", "\x00", "a b"})
	}
	return rapid.String().Draw(g.T, "text")
}

func (g generator) integers() []any {
	n := rapid.Int64().Draw(g.T, "integer")
	huge := new(big.Int).Mul(big.NewInt(n), big.NewInt(n))
	return []any{int8(n), int16(n), int32(n), n, big.NewInt(n), huge, int32(0), int64(1)}
}

func (g generator) floats() []any {
	f := rapid.Float64().Draw(g.T, "float")
	scale := int32(rapid.IntRange(-40, 40).Draw(g.T, "scale"))
	return []any{f, float32(f), 1.0, float32(1), Decimal{big.NewInt(rapid.Int64().Draw(g.T, "coef")), scale}}
}

func (g generator) date() Arg {
	if g.upTo(4) == 0 {
		return &RuntimeValue{Name: "datetime"}
	}
	zone := time.UTC
	if offset := rapid.IntRange(-18*3600, 18*3600).Draw(g.T, "offset"); offset != 0 && g.upTo(1) == 1 {
		zone = time.FixedZone("", offset)
	}
	seconds := rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(g.T, "seconds")
	return &Literal{Value: time.Unix(seconds, int64(g.upTo(999_999_999))).In(zone)}
}

func (g generator) collection() Arg {
	if g.upTo(3) == 0 {
		from := int32(rapid.IntRange(-1000, 1000).Draw(g.T, "from"))
		return pick(g, []Arg{
			&Range{From: &Literal{Value: from}, To: &Literal{Value: int32(g.upTo(1000))}},
			&Range{From: &Literal{Value: "xa"}, To: &Literal{Value: "xz"}},
		})
	}
	var items []Arg
	for range g.upTo(3) {
		items = append(items, g.arg(kindItem))
	}
	return pick(g, []Arg{&List{Items: items}, &Set{Items: items}})
}

func (g generator) mapLiteral() Arg {
	m := &Map{}
	for range g.upTo(3) {
		m.Entries = append(m.Entries, Entry{Key: g.arg(kindKey), Value: g.arg(kindItem)})
	}
	return m
}

func (g generator) strategy() Arg {
	s := &Strategy{Name: pick(g, []string{"ReadOnlyStrategy", "SubgraphStrategy", "V"})}
	for range g.upTo(2) {
		key := &Literal{Value: pick(g, []string{"vertices", "x", "all"})}
		s.Config = append(s.Config, Entry{Key: key, Value: g.arg(kindItem)})
	}
	return s
}

// predicate draws a predicate. An operand of and() is never itself an and(), and
// likewise for or(), because the parser flattens such chains.
func (g generator) predicate() *Predicate {
	if g.depth > 0 && g.upTo(3) == 0 {
		p := &Predicate{Name: pick(g, []string{"and", "or"})}
		for range 2 + g.upTo(1) {
			side := g.deeper().predicate()
			if side.Name == p.Name {
				p.Args = append(p.Args, side.Args...)
			} else {
				p.Args = append(p.Args, side)
			}
		}
		return p
	}
	shape := pick(g, predicateShapes)
	if g.depth <= 0 && shape.name == "not" {
		shape = predicateShapes[0] // eq, which does not nest
	}
	p := &Predicate{Name: shape.name}
	n := shape.max
	if n < 0 {
		n = g.upTo(3)
	}
	for range n {
		p.Args = append(p.Args, g.deeper().arg(shape.kinds))
	}
	return p
}
