package aws

import (
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// The functions below keep declarations short.

func text(name, doc string) collect.Property {
	return collect.Property{Name: name, Kind: posture.StringProperty, Doc: doc}
}

func texts(name, doc string) collect.Property {
	return collect.Property{Name: name, Kind: posture.StringProperty, List: true, Doc: doc}
}

func flag(name, doc string) collect.Property {
	return collect.Property{Name: name, Kind: posture.BoolProperty, Doc: doc}
}

func long(name, doc string) collect.Property {
	return collect.Property{Name: name, Kind: posture.LongProperty, Doc: doc}
}

func edge(label, doc string, to ...posture.EntityType) collect.Edge {
	return collect.Edge{Label: label, To: to, Doc: doc}
}

// on declares the events of a service.
func on(source string, names ...string) collect.Event {
	return collect.Event{Source: source + ".amazonaws.com", Names: names}
}

type (
	properties = []collect.Property
	edges      = []collect.Edge
	events     = []collect.Event
)
