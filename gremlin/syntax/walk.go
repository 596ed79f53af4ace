package syntax

// Walk calls fn for a and all nested arguments in depth-first preorder. For a
// Query or Traversal it visits the arguments of its steps.
func Walk(a Arg, fn func(Arg)) {
	fn(a)
	switch a := a.(type) {
	case *Query:
		walkSteps(a.Source, fn)
		walkSteps(a.Steps, fn)
		if a.Terminal != nil {
			walkSteps([]Step{*a.Terminal}, fn)
		}
	case *Traversal:
		walkSteps(a.Steps, fn)
	case *List:
		walkArgs(a.Items, fn)
	case *Set:
		walkArgs(a.Items, fn)
	case *Map:
		walkEntries(a.Entries, fn)
	case *Strategy:
		walkEntries(a.Config, fn)
	case *Predicate:
		walkArgs(a.Args, fn)
	case *CardinalityValue:
		Walk(a.Value, fn)
	}
}

func walkSteps(steps []Step, fn func(Arg)) {
	for _, s := range steps {
		walkArgs(s.Args, fn)
	}
}

func walkArgs(args []Arg, fn func(Arg)) {
	for _, a := range args {
		Walk(a, fn)
	}
}

func walkEntries(entries []Entry, fn func(Arg)) {
	for _, e := range entries {
		Walk(e.Key, fn)
		Walk(e.Value, fn)
	}
}
