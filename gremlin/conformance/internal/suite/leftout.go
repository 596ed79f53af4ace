package suite

import (
	"errors"

	"vigil/gremlin/internal/tinkerpop"
	"vigil/gremlin/syntax"
)

// excludedTags holds, by tag, the reason why scenarios with this tag do not apply to the engine.
var excludedTags = map[string]string{
	"@GraphComputerOnly":     "it needs a graph computer",
	"@TinkerServiceRegistry": "it calls a service of the reference graph",
}

// LeftOut returns the reason why a scenario does not apply to a read-only engine
// without a graph computer, "" if it applies.
func LeftOut(s tinkerpop.Scenario) string {
	if s.LeftOut != "" {
		return s.LeftOut
	}
	for _, t := range s.Tags {
		if reason := excludedTags[t]; reason != "" {
			return reason
		}
	}
	_, err := syntax.Parse(s.Gremlin, syntax.Options{})
	if e, ok := errors.AsType[*syntax.Error](err); ok && e.Kind == syntax.Forbidden {
		return e.Message
	}
	return ""
}
