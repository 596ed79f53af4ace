package collect

import "vigil/internal/posture"

// TextProperty declares a property that is a text.
func TextProperty(name, doc string) Property {
	return Property{Name: name, Kind: posture.StringProperty, Doc: doc}
}

// TextsProperty declares a property that is a text and may occur more than once.
func TextsProperty(name, doc string) Property {
	return Property{Name: name, Kind: posture.StringProperty, List: true, Doc: doc}
}

// FlagProperty declares a property that is true or false.
func FlagProperty(name, doc string) Property {
	return Property{Name: name, Kind: posture.BoolProperty, Doc: doc}
}

// LongProperty declares a property that is a number.
func LongProperty(name, doc string) Property {
	return Property{Name: name, Kind: posture.LongProperty, Doc: doc}
}

// EdgeTo declares an edge.
func EdgeTo(label, doc string, to ...posture.EntityType) Edge {
	return Edge{Label: label, To: to, Doc: doc}
}

// Declarations returns what collectors declare.
func Declarations[S any](all []Collector[S]) []Declaration {
	declared := make([]Declaration, len(all))
	for i, c := range all {
		declared[i] = c.Declaration
	}
	return declared
}
