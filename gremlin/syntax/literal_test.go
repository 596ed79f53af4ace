package syntax

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// first returns the first argument of inject(text).
func first(t *testing.T, text string) Arg {
	t.Helper()
	q, err := Parse("g.inject("+text+")", Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q.Steps[0].Args[0]
}

func TestScalarTypes(t *testing.T) {
	t.Parallel()
	huge, _ := new(big.Int).SetString("9223372036854775808", 10)
	for text, want := range map[string]any{
		"1": int32(1), "-1": int32(-1), "+7": int32(7), "0": int32(0), "1_000": int32(1000), "2147483647": int32(math.MaxInt32),
		"2147483648": int64(1 << 31), "-2147483649": int64(-1<<31 - 1), "9223372036854775808": huge,
		"5b": int8(5), "-128B": int8(-128), "300s": int16(300), "300S": int16(300), "5i": int32(5), "5I": int32(5), "5l": int64(5), "5L": int64(5),
		"5n": big.NewInt(5), "5N": big.NewInt(5),
		"0x1F": int32(31), "-0xff": int32(-255), "0x1b": int32(27), "0xFFs": int16(255), "0xFFFFFFFF": int64(1<<32 - 1), "0x10l": int64(16), "017": int32(15),
		"1.5": 1.5, ".5": 0.5, "-.5e2": -50.0, "1e3": 1000.0, "1E-3": 0.001, "1d": 1.0, "1.5D": 1.5, "1.5f": float32(1.5), "2F": float32(2),
		"1.50m": Decimal{big.NewInt(150), 2}, "1M": Decimal{big.NewInt(1), 0}, "1.5e3m": Decimal{big.NewInt(15), -2}, "-0.05m": Decimal{big.NewInt(-5), 2},
		"NaN": math.NaN(), "Infinity": math.Inf(1), "+Infinity": math.Inf(1), "-Infinity": math.Inf(-1),
		"true": true, "false": false, "null": nil,
		`"a"`: "a", `'a'`: "a", `""`: "", `'it\'s "x"'`: `it's "x"`, `"a\tb\n\\\"\r\b\f"`: "a\tb\n\\\"\r\b\f", `"\101\7\377"`: "A\aÿ",
		`"\u0041\uu00e9\uD83D\uDE00"`: "Aé😀", `"\uD83D"`: "\uFFFD", "\"a\\\nb\"": "ab", "\"two\nlines\"": "two\nlines", `"täxt 日本"`: "täxt 日本",
		`UUID("f47af10b-58cc-4372-a567-0f02b2f3d479")`: UUID{0xf4, 0x7a, 0xf1, 0x0b, 0x58, 0xcc, 0x43, 0x72, 0xa5, 0x67, 0x0f, 0x02, 0xb2, 0xf3, 0xd4, 0x79},
		`datetime("2018-03")`:                          time.Date(2018, 3, 1, 0, 0, 0, 0, time.UTC),
		`datetime("2018-03-22")`:                       time.Date(2018, 3, 22, 0, 0, 0, 0, time.UTC),
		`DateTime("2018-03-22T00:35")`:                 time.Date(2018, 3, 22, 0, 35, 0, 0, time.UTC),
		`datetime('2018-03-22T00:35:44.741Z')`:         time.Date(2018, 3, 22, 0, 35, 44, 741e6, time.UTC),
		`datetime('2018-03-22T00:35:44+1630')`:         time.Date(2018, 3, 22, 0, 35, 44, 0, time.FixedZone("", 16*3600+1800)),
		`datetime('2018-03-22T00:35:44.5-01:30:15')`:   time.Date(2018, 3, 22, 0, 35, 44, 5e8, time.FixedZone("", -5415)),
	} {
		l, ok := first(t, text).(*Literal)
		if !ok {
			t.Errorf("%s is not a literal", text)
			continue
		}
		if diff := cmp.Diff(want, l.Value, sameTree...); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestInvalidScalars(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"128b", "40000s", "3000000000i", "9223372036854775808l", "08", "1x", "1_", "0x", "1e5000000000m", "1e6145m", "1.5.5", "5fd",
		`"abc`, `'abc"`, `"\q"`, `"\u12"`, `"\u12g4"`, "\"\xff\"", "\xff",
		`UUID("x")`, `UUID("f47af10b-58cc-4372-a567-0f02b2f3d47z")`, `UUID("f47af10b-58cc-4372-a567--f02b2f3d479")`, `UUID(1)`,
		`datetime("2018")`, `datetime("2018-13")`, `datetime("2018-02-30")`, `datetime("2018-02-20T25:00")`, `datetime("2018-02-20T20:00+19:00")`,
		`datetime("2018-02-20T20:00:00.1234567890Z")`, `datetime("2018-02-20x")`, `datetime("2018-02-20T20:00:00 ")`, `datetime(1)`,
		`1.."a"`, `1..2l`, `"ab".."c"`, `1..2000000`, `1..`, `[1, 2`, `{1`, `[1:]`, `[:1]`, `[a: 1, 2]`, `[1, a: 2]`,
	} {
		if q, err := Parse("g.inject("+text+")", Options{}); err == nil {
			t.Errorf("%s is parsed as %s", text, q)
		}
	}
}

func TestSpanOfInvalidEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"a\q"`:      `\q`,
		`"é\q"`:      `\q`,
		`"a\éb"`:     `\é`,
		`"日\日本"`:     `\日`,
		`'\😀'`:       `\😀`,
		"\"a\n\\é\"": `\é`,
	} {
		query := "g.inject(" + text + ")"
		_, err := Parse(query, Options{})
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := query[e.Span.Pos.Offset:e.Span.End.Offset]; got != want {
			t.Errorf("%s: the error is at %q, want %q", text, got, want)
		}
	}
}

func TestCollections(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                         `[]`,
		`[1, "a", null, [2l], {3b}]`: `[1, "a", null, [2l], {3b}]`,
		`{}`:                         `{}`,
		`{1,1}`:                      `{1, 1}`,
		`[:]`:                        `[:]`,
		`[a: 1, "b": 2, 3: [c: 4]]`:  `["a": 1, "b": 2, 3: ["c": 4]]`,
		`[id: 1, (id): 2, T.id: 3, (T.label): 4, (from): 5, Direction.to: 6]`: `["id": 1, (T.id): 2, (T.id): 3, (T.label): 4, (Direction.OUT): 5, (Direction.IN): 6]`,
		`[g: 1, all: 2, new: 3, [1,2]: 4, ({5}): 6, [[x: 1]: 2]: 7]`:          `["g": 1, "all": 2, "new": 3, [1, 2]: 4, {5}: 6, [["x": 1]: 2]: 7]`,
		`[x, T.id, single, to, any, day, int, set("x"), list(1)]`:             `[x, T.id, Cardinality.single, Direction.IN, Pick.any, DT.day, GType.INT, Cardinality.set("x"), Cardinality.list(1)]`,
		`1..3`:             `1..3`,
		`[1..3, 'a'..'c']`: `[1..3, "a".."c"]`,
		`datetime("2018-03-22T00:35:44-00:00:01")`: `datetime("2018-03-22T00:35:44-00:00:01")`,
		`datetime()`:           `datetime()`,
		`DateTime()`:           `datetime()`,
		`UUID()`:               `UUID()`,
		`g.V().count().next()`: `g.V().count().next()`,
	} {
		if got := Format(first(t, text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestRangeItems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]any{
		`1..3`:       {int32(1), int32(2), int32(3)},
		`3..1`:       {int32(3), int32(2), int32(1)},
		`-1..-1`:     {int32(-1)},
		`"xa".."xc"`: {"xa", "xb", "xc"},
		`"c".."a"`:   {"c", "b", "a"},
		`""..""`:     nil,
	} {
		if diff := cmp.Diff(want, first(t, text).(*Range).Items()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
