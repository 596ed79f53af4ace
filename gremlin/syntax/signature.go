package syntax

import (
	"slices"
	"strings"
)

// Category says what a step does to the stream of traversers, or that it is
// refused.
type Category uint8

// The categories of steps.
const (
	SourceStep     Category = iota // configures g, before the first step
	MapStep                        // one result for each traverser
	FlatMapStep                    // any number of results for each traverser
	FilterStep                     // lets a traverser pass or not
	SideEffectStep                 // lets traversers pass and notes something
	BranchStep                     // sends traversers into traversals
	ModulatorStep                  // changes the step before it
	TerminalStep                   // says how results are taken
	MutatingStep                   // changes the graph: refused
	RefusedStep                    // reaches outside the graph or needs a graph computer: refused
)

var categoryNames = [...]string{"source", "map", "flatMap", "filter", "sideEffect", "branch", "modulator", "terminal", "mutating", "refused"}

// String returns the category's name.
func (c Category) String() string { return categoryNames[c] }

// A Signature describes one step: how it is called and what it does.
type Signature struct {
	Name     string
	Category Category
	Forms    []Form
	Start    bool   // may come first after g
	Doc      string // one sentence; for a refused step, why
	Instead  string // what to write instead, if there is something

	accept   []Kind // by position, over all forms
	variadic Kind   // what positions past accept take; 0 for nothing
}

// A Form is one way to call a step.
type Form []Param

// A Param is one parameter of a Form. Only the last may be Variadic: it then
// stands for any number of arguments, none included.
type Param struct {
	Name     string
	Kinds    Kind
	Variadic bool
}

// Lookup returns the signature of the step with the given name.
func Lookup(name string) (*Signature, bool) {
	w := words[name]
	if w.step == nil {
		return nil, false
	}
	return w.step, true
}

// Usage writes every form, "has(key), has(key, value)".
func (s *Signature) Usage() string {
	var forms []string
	for _, f := range s.Forms {
		forms = append(forms, s.Name+"("+f.String()+")")
	}
	return strings.Join(forms, ", ")
}

// String writes the form's parameters, "scope, labels...".
func (f Form) String() string {
	names := make([]string, len(f))
	for i, p := range f {
		names[i] = p.Name
		if p.Variadic {
			names[i] += "..."
		}
	}
	return strings.Join(names, ", ")
}

// acceptAt returns what may stand at position i, over all forms.
func (s *Signature) acceptAt(i int) Kind {
	if i < len(s.accept) {
		return s.accept[i]
	}
	return s.variadic
}

// matches reports whether args fit one of the forms.
func (s *Signature) matches(args []Arg) bool {
	return slices.ContainsFunc(s.Forms, func(f Form) bool { return f.matches(args) })
}

func (f Form) matches(args []Arg) bool {
	fixed := len(f)
	if fixed > 0 && f[fixed-1].Variadic {
		fixed--
	}
	if len(args) < fixed || len(args) > fixed && fixed == len(f) {
		return false
	}
	for i, a := range args {
		if KindOf(a)&f[min(i, len(f)-1)].Kinds == 0 {
			return false
		}
	}
	return true
}

// index fills in what acceptAt answers from.
func (s *Signature) index() {
	for _, f := range s.Forms {
		for i, p := range f {
			if p.Variadic {
				s.variadic |= p.Kinds
			}
			for len(s.accept) <= i {
				s.accept = append(s.accept, 0)
			}
		}
	}
	for _, f := range s.Forms {
		for i := range s.accept {
			switch {
			case i < len(f):
				s.accept[i] |= f[i].Kinds
			case len(f) > 0 && f[len(f)-1].Variadic:
				s.accept[i] |= f[len(f)-1].Kinds
			}
		}
	}
}

// kindWords are the words of the table's notation for parameters.
var kindWords = map[string]Kind{
	"str": KindString, "int": KindInteger, "num": kindNumber, "bool": KindBool, "date": KindDate, "map": KindMap,
	"value": kindValue, "P": KindPredicate, "traversal": KindTraversal, "strategy": KindStrategy,
	"T": kindOfEnum(T), "Scope": kindOfEnum(Scope), "Order": kindOfEnum(Order), "Pop": kindOfEnum(Pop), "Column": kindOfEnum(Column),
	"Direction": kindOfEnum(Direction), "Operator": kindOfEnum(Operator), "Pick": kindOfEnum(Pick), "Barrier": kindOfEnum(Barrier),
	"Merge": kindOfEnum(Merge), "GType": kindOfEnum(GType), "DT": kindOfEnum(DT), "Cardinality": kindOfEnum(Cardinality),
	"WithOptions": kindOfEnum(WithOptions),
}

// parseForms reads the table's notation: forms separated by "|", parameters by
// ",", each "name:kind/kind". A kind's "?" adds null, "$" a variable; "..."
// after the name makes the parameter variadic. A form of no parameters is "-".
func parseForms(notation string) []Form {
	var forms []Form
	for text := range strings.SplitSeq(notation, "|") {
		var form Form
		for param := range strings.SplitSeq(text, ",") {
			if param = strings.TrimSpace(param); param != "-" {
				form = append(form, parseParam(param))
			}
		}
		forms = append(forms, form)
	}
	return forms
}

func parseParam(text string) Param {
	name, kinds, _ := strings.Cut(text, ":")
	var p Param
	p.Name, p.Variadic = strings.CutSuffix(name, "...")
	for word := range strings.SplitSeq(kinds, "/") {
		base := strings.TrimRight(word, "?$")
		kind, ok := kindWords[base]
		if !ok {
			panic("syntax: no kind " + base + " in " + text)
		}
		p.Kinds |= kind
		if strings.Contains(word, "?") {
			p.Kinds |= KindNull
		}
		if strings.Contains(word, "$") {
			p.Kinds |= KindVariable
		}
	}
	return p
}
