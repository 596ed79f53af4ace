package gcp

import "vigil/internal/posture/collect"

// What declarations are made of, by short names.
var (
	text  = collect.TextProperty
	texts = collect.TextsProperty
	flag  = collect.FlagProperty
	long  = collect.LongProperty
	edge  = collect.EdgeTo
)

// on declares the methods of a service that change something, as the audit log
// names them but without the version that some begin with.
func on(service string, names ...string) collect.Event {
	return collect.Event{Source: service + ".googleapis.com", Names: names}
}

// each declares methods that share the beginning of their names.
func each(service, prefix string, names ...string) collect.Event {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = prefix + name
	}
	return on(service, all...)
}

type (
	properties = []collect.Property
	edges      = []collect.Edge
	events     = []collect.Event
)
