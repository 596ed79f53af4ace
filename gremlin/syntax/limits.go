package syntax

// Limits limit the cost of parsing a text. A zero field means the default.
type Limits struct {
	Length   int // bytes of text
	Steps    int // steps in total, including nested ones
	Depth    int // nesting of traversals; also of lists, maps and predicates
	Literals int // values in total, without property keys and labels; a range counts its items
	Regex    int // bytes of a regular expression
}

// DefaultLimits are the limits of an interactive query.
var DefaultLimits = Limits{Length: 16 << 10, Steps: 200, Depth: 16, Literals: 1000, Regex: 512}

// maxDepth applies regardless of Limits: deep recursion would exhaust the stack.
const maxDepth = 1000

// The names of the limits in the Limit field of an [Error].
const (
	LimitLength   = "max-length"
	LimitSteps    = "max-steps"
	LimitDepth    = "max-depth"
	LimitLiterals = "max-literals"
	LimitRegex    = "max-regex"
)

// orDefaults replaces zero fields by defaults and limits the depth.
func (l Limits) orDefaults() Limits {
	d := DefaultLimits
	for _, f := range []struct{ actual, want *int }{
		{&l.Length, &d.Length}, {&l.Steps, &d.Steps}, {&l.Depth, &d.Depth}, {&l.Literals, &d.Literals}, {&l.Regex, &d.Regex},
	} {
		if *f.actual == 0 {
			*f.actual = *f.want
		}
	}
	l.Depth = min(l.Depth, maxDepth)
	return l
}
