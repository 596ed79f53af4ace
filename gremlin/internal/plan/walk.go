package plan

// Children returns the nested traversals of a step, including those of its by() modulators.
func Children(s Step) []*Traversal {
	out := appendTraversals(nil, s)
	for _, by := range Bys(s) {
		if by.Traversal != nil {
			out = append(out, by.Traversal)
		}
	}
	return out
}

func appendTraversals(out []*Traversal, s Step) []*Traversal {
	add := func(ts ...*Traversal) {
		for _, t := range ts {
			if t != nil {
				out = append(out, t)
			}
		}
	}
	switch s := s.(type) {
	case *Filter:
		add(s.Traversal)
	case *Not:
		add(s.Traversal)
	case *And:
		add(s.Traversals...)
	case *Or:
		add(s.Traversals...)
	case *Call:
		add(s.Traversals...)
	case *MapTo:
		add(s.Traversal)
	case *FlatMap:
		add(s.Traversal)
	case *Local:
		add(s.Traversal)
	case *Union:
		add(s.Traversals...)
	case *Coalesce:
		add(s.Traversals...)
	case *Optional:
		add(s.Traversal)
	case *SideEffect:
		add(s.Traversal)
	case *SelectBy:
		add(s.Key)
	case *Repeat:
		add(s.Body, s.Until, s.Emit)
	case *Choose:
		add(s.Test)
		for _, o := range s.Options {
			add(o.Test, o.Traversal)
		}
	case *Match:
		for _, p := range s.Patterns {
			add(p.Traversal)
			if p.Nested != nil {
				out = appendTraversals(out, p.Nested)
			}
		}
	case *Properties:
		add(s.Filter)
	case *PropertyMap:
		add(s.Filter)
	}
	return out
}

// Bys returns the by() modulators of a step.
func Bys(s Step) []*By {
	var out []*By
	if list := byList(s); list != nil {
		for i := range *list {
			out = append(out, &(*list)[i])
		}
	}
	if slot, _ := bySlot(s); slot != nil && *slot != nil {
		out = append(out, *slot)
	}
	switch s := s.(type) {
	case *Group:
		if s.Key != nil {
			out = append(out, s.Key)
		}
		if s.Value != nil {
			out = append(out, s.Value)
		}
	case *Choose:
		if s.Test == nil {
			out = append(out, &s.Choice)
		}
	}
	return out
}

// Walk calls fn for every step of t and of its nested traversals.
func Walk(t *Traversal, fn func(Step)) {
	for _, s := range t.Steps {
		fn(s)
		for _, c := range Children(s) {
			Walk(c, fn)
		}
	}
}

// Traversals calls fn for t and its nested traversals.
func Traversals(t *Traversal, fn func(*Traversal)) {
	fn(t)
	for _, s := range t.Steps {
		for _, c := range Children(s) {
			Traversals(c, fn)
		}
	}
}
