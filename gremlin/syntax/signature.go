package syntax

import (
	"slices"
	"strings"
)

// Category is what a step does to the stream of traversers, or that it is rejected.
type Category uint8

// The categories of steps.
const (
	SourceStep     Category = iota // configures g, before the first step
	MapStep                        // one result per traverser
	FlatMapStep                    // any number of results per traverser
	FilterStep                     // keeps or drops a traverser
	SideEffectStep                 // updates a side effect and passes traversers on
	BranchStep                     // sends traversers to nested traversals
	ModulatorStep                  // modifies the previous step
	TerminalStep                   // says how results are returned
	MutatingStep                   // changes the graph: rejected
	RefusedStep                    // accesses external resources, controls a transaction or needs a graph computer: rejected
)

var categoryNames = [...]string{"source", "map", "flatMap", "filter", "sideEffect", "branch", "modulator", "terminal", "mutating", "refused"}

// String returns the category's name.
func (c Category) String() string { return categoryNames[c] }

// A Signature describes one step: its forms and what it does.
type Signature struct {
	Name     string
	Category Category
	Forms    []Form
	Start    bool   // may follow g directly
	Doc      string // one sentence; for a rejected step, the reason
	Instead  string // replacement for a rejected step, if any

	accept   []Kind // accepted kinds by position, over all forms
	variadic Kind   // accepted kinds of further positions; 0 for none
}

// A Form is one way to call a step.
type Form []Param

// A Param is one parameter of a Form. Only the last may be Variadic: it then
// accepts any number of arguments, including none.
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

// Usage formats every form: "has(key), has(key, value)".
func (s *Signature) Usage() string {
	var forms []string
	for _, f := range s.Forms {
		forms = append(forms, s.Name+"("+f.String()+")")
	}
	return strings.Join(forms, ", ")
}

// String formats the form's parameters: "scope, labels...".
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

// acceptAt returns the kinds that are accepted at position i, over all forms.
func (s *Signature) acceptAt(i int) Kind {
	if i < len(s.accept) {
		return s.accept[i]
	}
	return s.variadic
}

// matches reports whether args match one of the forms.
func (s *Signature) matches(args []Arg) bool {
	return slices.ContainsFunc(s.Forms, func(f Form) bool { return f.matches(args) })
}

func (f Form) matches(args []Arg) bool {
	fixed, variadic := len(f), false
	if fixed > 0 && f[fixed-1].Variadic {
		fixed, variadic = fixed-1, true
	}
	if len(args) < fixed || len(args) > fixed && !variadic {
		return false
	}
	for i, a := range args {
		p := f[min(i, len(f)-1)] // a variadic parameter also takes all further arguments
		if KindOf(a)&p.Kinds == 0 {
			return false
		}
	}
	return true
}

// index computes the tables of acceptAt.
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

// kindWords are the words for kinds in the table's notation.
var kindWords = map[string]Kind{
	"str": KindString, "int": KindInteger, "num": kindNumber, "bool": KindBool, "date": KindDate, "map": KindMap,
	"value": kindValue, "P": KindPredicate, "traversal": KindTraversal, "strategy": KindStrategy,
	"T": kindOfEnum(T), "Scope": kindOfEnum(Scope), "Order": kindOfEnum(Order), "Pop": kindOfEnum(Pop), "Column": kindOfEnum(Column),
	"Direction": kindOfEnum(Direction), "Operator": kindOfEnum(Operator), "Pick": kindOfEnum(Pick), "Barrier": kindOfEnum(Barrier),
	"Merge": kindOfEnum(Merge), "GType": kindOfEnum(GType), "DT": kindOfEnum(DT), "Cardinality": kindOfEnum(Cardinality),
	"WithOptions": kindOfEnum(WithOptions),
}

// parseForms parses the table's notation: forms are separated by "|", parameters
// by ",", each "name:kind/kind". "?" after a kind adds null, "$" a variable;
// "..." after the name makes the parameter variadic. A form without parameters
// is "-".
func parseForms(notation string) []Form {
	var forms []Form
	for text := range strings.SplitSeq(notation, "|") {
		var form Form
		for param := range strings.SplitSeq(text, ",") {
			param = strings.TrimSpace(param)
			if param != "-" {
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
