package gcp

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
