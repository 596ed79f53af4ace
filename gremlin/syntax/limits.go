package syntax

// Limits bound what a text may cost to read. A zero field means the default.
type Limits struct {
	Length   int // bytes of text
	Steps    int // steps in total, nested ones included
	Depth    int // traversals within traversals; lists, maps and predicates likewise
	Literals int // values in total, keys and labels left out; a range counts its items
	Regex    int // bytes of a regular expression
}

// DefaultLimits are those of a query somebody typed.
var DefaultLimits = Limits{Length: 16 << 10, Steps: 200, Depth: 16, Literals: 1000, Regex: 512}

// maxDepth holds whatever Limits say: a parser that recurses must not be sent
// down until the stack ends.
const maxDepth = 1000

// The names of the limits, as in the Limit field of an [Error].
const (
	LimitLength   = "max-length"
	LimitSteps    = "max-steps"
	LimitDepth    = "max-depth"
	LimitLiterals = "max-literals"
	LimitRegex    = "max-regex"
)

// orDefaults fills in the fields that are zero and bounds the depth.
func (l Limits) orDefaults() Limits {
	d := DefaultLimits
	for _, f := range []struct{ have, want *int }{
		{&l.Length, &d.Length}, {&l.Steps, &d.Steps}, {&l.Depth, &d.Depth}, {&l.Literals, &d.Literals}, {&l.Regex, &d.Regex},
	} {
		if *f.have == 0 {
			*f.have = *f.want
		}
	}
	l.Depth = min(l.Depth, maxDepth)
	return l
}
