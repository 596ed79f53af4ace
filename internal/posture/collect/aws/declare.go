package aws

import "vigil/internal/posture/collect"

// What declarations are made of, by short names.
var (
	text  = collect.TextProperty
	texts = collect.TextsProperty
	flag  = collect.FlagProperty
	long  = collect.LongProperty
	edge  = collect.EdgeTo
)

// on declares the events of a service.
func on(source string, names ...string) collect.Event {
	return collect.Event{Source: source + ".amazonaws.com", Names: names}
}

type (
	properties = []collect.Property
	edges      = []collect.Edge
	events     = []collect.Event
)
