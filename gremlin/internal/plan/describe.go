package plan

import (
	"fmt"
	"strconv"
	"strings"

	"vigil/graph"
)

// Describe formats a step in query syntax, as far as possible.
func Describe(s Step) string {
	text := describe(s)
	if _, isChoose := s.(*Choose); !isChoose { // its By is an argument, not a by()
		for _, by := range Bys(s) {
			text += ".by(" + by.describe() + ")"
		}
	}
	if ls := s.Info().Labels; len(ls) > 0 {
		text += ".as(" + quoted(ls) + ")"
	}
	return text
}

// String formats a traversal in query syntax.
func (t *Traversal) String() string {
	parts := make([]string, len(t.Steps))
	for i, s := range t.Steps {
		parts[i] = Describe(s)
	}
	return strings.Join(parts, ".")
}

func (b *By) describe() string {
	var parts []string
	switch b.Kind {
	case ByKey:
		parts = append(parts, strconv.Quote(b.Key))
	case ByPart:
		parts = append(parts, partNames[b.Part])
	case ByTraversal:
		parts = append(parts, b.Traversal.String())
	}
	switch b.Sort {
	case Desc:
		parts = append(parts, "desc")
	case Shuffle:
		parts = append(parts, "shuffle")
	}
	return strings.Join(parts, ", ")
}

var partNames = map[Part]string{
	PartID: "id", PartLabel: "label", PartKey: "key", PartValue: "value", PartKeys: "keys", PartValues: "values",
}

func quoted(ss []string) string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}

func traversals(ts []*Traversal) string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.String()
	}
	return strings.Join(out, ", ")
}

// describe formats a step without its by() and labels.
func describe(s Step) string {
	name := s.Info().Name
	switch s := s.(type) {
	case *Graph:
		text := "V("
		if s.Edges {
			text = "E("
		}
		if s.ByID {
			text += values(s.IDs)
		}
		return text + ")" + conds(s.Conds)
	case *Move:
		return name + "(" + quoted(s.EdgeLabels) + ")"
	case *Properties:
		return name + "(" + quoted(s.Keys) + ")"
	case *PropertyMap:
		return name + "(" + quoted(s.Keys) + ")"
	case *Has:
		return strings.TrimPrefix(conds(s.Conds), ".")
	case *HasNot:
		return "hasNot(" + strconv.Quote(s.Key) + ")"
	case *Is:
		return "is(" + s.Pred.String() + ")"
	case *Items:
		return name + "(" + s.Pred.String() + ")"
	case *WherePred:
		if s.Start != "" {
			return "where(" + strconv.Quote(s.Start) + ", " + s.Pred.String() + ")"
		}
		return "where(" + s.Pred.String() + ")"
	case *WhereStart:
		return "as(" + strconv.Quote(s.Label) + ")"
	case *WhereEnd:
		return "as(" + strconv.Quote(s.Label) + ")"
	case *Count:
		if s.Of != nil {
			return describe(s.Of) + ".count()"
		}
	case *Range, *RangeLocal, *Tail, *TailLocal:
		return describeRange(s)
	case *Repeat:
		return describeRepeat(s)
	case *Choose:
		return describeChoose(s)
	case *Match:
		return describeMatch(s)
	}
	return describeRest(s, name)
}

func describeRest(s Step, name string) string {
	switch s := s.(type) {
	case *Dedup:
		return "dedup(" + quoted(s.Over) + ")"
	case *Sample:
		return fmt.Sprintf("sample(%d)", s.N)
	case *Coin:
		return fmt.Sprintf("coin(%g)", s.Probability)
	case *Constant:
		return "constant(" + s.Value.String() + ")"
	case *Project:
		return "project(" + quoted(s.Keys) + ")"
	case *Select:
		return "select(" + quoted(s.Keys) + ")"
	case *SelectColumn:
		if s.Values {
			return "select(values)"
		}
		return "select(keys)"
	case *Group:
		return "group(" + optional(s.SideEffect) + ")"
	case *GroupCount:
		return "groupCount(" + optional(s.SideEffect) + ")"
	case *TreeOf:
		return "tree(" + optional(s.SideEffect) + ")"
	case *Aggregate:
		return "aggregate(" + optional(s.SideEffect) + ")"
	case *SubgraphOf:
		return "subgraph(" + optional(s.SideEffect) + ")"
	case *Cap:
		return "cap(" + quoted(s.Keys) + ")"
	case *Math:
		return "math(" + strconv.Quote(s.Expr) + ")"
	case *Format:
		return "format(" + strconv.Quote(s.Template) + ")"
	case *Loops:
		return "loops(" + optional(s.Loop) + ")"
	case *Inject:
		return "inject(" + values(s.Values) + ")"
	case *Call:
		args := values(s.Args)
		if len(s.Traversals) > 0 {
			args = strings.TrimPrefix(args+", "+traversals(s.Traversals), ", ")
		}
		return name + "(" + args + ")"
	case *SackPut:
		return "sack(" + string(s.Op) + ")"
	}
	if ts := appendTraversals(nil, s); len(ts) > 0 {
		return name + "(" + traversals(ts) + ")"
	}
	return name + "()"
}

func optional(name string) string {
	if name == "" {
		return ""
	}
	return strconv.Quote(name)
}

func values(vs []graph.Value) string {
	const maxShown = 8
	var out []string
	for _, v := range vs[:min(len(vs), maxShown)] {
		out = append(out, literalText(v))
	}
	if len(vs) > maxShown {
		out = append(out, fmt.Sprintf("... %d in all", len(vs)))
	}
	return strings.Join(out, ", ")
}

func literalText(v graph.Value) string {
	if v.Kind() == graph.KindString {
		return strconv.Quote(v.Str())
	}
	return v.String()
}

func describeRange(s Step) string {
	local := ""
	low, high := int64(0), int64(-1)
	switch s := s.(type) {
	case *Tail:
		return fmt.Sprintf("tail(%d)", s.N)
	case *TailLocal:
		return fmt.Sprintf("tail(local, %d)", s.N)
	case *RangeLocal:
		local, low, high = "local, ", s.Low, s.High
	case *Range:
		low, high = s.Low, s.High
	}
	switch {
	case high < 0:
		return fmt.Sprintf("skip(%s%d)", local, low)
	case low == 0:
		return fmt.Sprintf("limit(%s%d)", local, high)
	}
	return fmt.Sprintf("range(%s%d, %d)", local, low, high)
}

func describeRepeat(r *Repeat) string {
	body := "repeat(" + r.Body.String() + ")"
	until, emit := "", ""
	switch {
	case r.Times >= 0:
		until = fmt.Sprintf("times(%d)", r.Times)
	case r.Until != nil:
		until = "until(" + r.Until.String() + ")"
	}
	switch {
	case r.EmitAll:
		emit = "emit()"
	case r.Emit != nil:
		emit = "emit(" + r.Emit.String() + ")"
	}
	parts := []string{body}
	if until != "" {
		parts = insertPart(parts, until, r.UntilFirst)
	}
	if emit != "" {
		parts = insertPart(parts, emit, r.EmitFirst)
	}
	return strings.Join(parts, ".")
}

func insertPart(parts []string, s string, first bool) []string {
	if first {
		return append([]string{s}, parts...)
	}
	return append(parts, s)
}

func describeChoose(c *Choose) string {
	if c.Test != nil {
		ts := []*Traversal{c.Test}
		for _, o := range c.Options {
			ts = append(ts, o.Traversal)
		}
		return "choose(" + traversals(ts) + ")"
	}
	text := c.Name + "(" + c.Choice.describe() + ")"
	for _, o := range c.Options {
		pick := map[Pick]string{PickAny: "any", PickNone: "none", PickUnproductive: "unproductive"}[o.Pick]
		if o.Pred != nil {
			pick = o.Pred.String()
		}
		if o.Test != nil {
			pick = o.Test.String()
		}
		text += ".option(" + pick + ", " + o.Traversal.String() + ")"
	}
	return text
}

func describeMatch(m *Match) string {
	var parts []string
	for _, p := range m.Patterns {
		text := describePattern(p)
		if p.Not {
			text = "not(" + text + ")"
		}
		parts = append(parts, text)
	}
	return "match(" + strings.Join(parts, ", ") + ")"
}

// describePattern formats a pattern without its negation.
func describePattern(p Pattern) string {
	switch {
	case p.Nested != nil:
		name := "and"
		if p.Nested.Any {
			name = "or"
		}
		return name + strings.TrimPrefix(describeMatch(p.Nested), "match")
	case p.Where != nil:
		return p.Traversal.String()
	}
	text := "as(" + strconv.Quote(p.Start) + ")"
	if len(p.Traversal.Steps) > 0 {
		text += "." + p.Traversal.String()
	}
	if p.End != "" {
		text += ".as(" + strconv.Quote(p.End) + ")"
	}
	return text
}

// conds formats conditions as has steps.
func conds(cs []Cond) string {
	var b strings.Builder
	for _, c := range cs {
		key := strconv.Quote(c.Key)
		if c.Part != PartProperty {
			key = partNames[c.Part]
		}
		b.WriteString(".has(" + key)
		if c.Pred != nil {
			b.WriteString(", " + c.Pred.String())
		}
		b.WriteString(")")
	}
	return b.String()
}

var predNames = map[PredOp]string{
	Eq: "eq", Neq: "neq", Lt: "lt", Lte: "lte", Gt: "gt", Gte: "gte", Within: "within", Without: "without", TypeOf: "typeOf",
	StartingWith: "startingWith", EndingWith: "endingWith", Containing: "containing", Regex: "regex",
	AllOf: "and", AnyOf: "or", NotOf: "not",
}

// Name returns the name of the predicate, without a negation.
func (p *Pred) Name() string { return predNames[p.Op] }

// String formats the predicate in query syntax.
func (p *Pred) String() string {
	name := p.Name()
	switch {
	case p.Op < Within: // eq, neq, lt, lte, gt, gte
		return name + "(" + literalText(p.Value) + ")"
	case p.Op == Within || p.Op == Without:
		return name + "(" + values(p.Values) + ")"
	case p.Op < AllOf: // typeOf and the text predicates
		return name + "(" + strconv.Quote(p.Text) + ")"
	}
	args := make([]string, len(p.Args))
	for i, a := range p.Args {
		args[i] = a.String()
	}
	if p.Op == NotOf {
		return "not(" + args[0] + ")"
	}
	return "(" + strings.Join(args, " "+name+" ") + ")"
}
