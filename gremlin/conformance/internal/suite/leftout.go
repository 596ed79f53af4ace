package suite

import (
	"errors"

	"vigil/gremlin/internal/tinkerpop"
	"vigil/gremlin/syntax"
)

// beyond gives the reason why the engine is not held to scenarios with a tag.
var beyond = map[string]string{
	"@GraphComputerOnly":     "it needs a graph computer",
	"@TinkerServiceRegistry": "it calls a service of the reference graph",
}

// LeftOut says why an engine that only reads, and knows no graph computer, is not
// held to a scenario. It returns nothing when it is.
func LeftOut(s tinkerpop.Scenario) string {
	if s.LeftOut != "" {
		return s.LeftOut
	}
	for _, t := range s.Tags {
		if why := beyond[t]; why != "" {
			return why
		}
	}
	_, err := syntax.Parse(s.Gremlin, syntax.Options{})
	if e, ok := errors.AsType[*syntax.Error](err); ok && e.Kind == syntax.Forbidden {
		return e.Message
	}
	return ""
}
