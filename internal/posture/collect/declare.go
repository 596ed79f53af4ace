package collect

import "vigil/internal/posture"

// TextProperty declares a string property.
func TextProperty(name, doc string) Property {
	return Property{Name: name, Kind: posture.StringProperty, Doc: doc}
}

// TextsProperty declares a string property that may occur more than once.
func TextsProperty(name, doc string) Property {
	return Property{Name: name, Kind: posture.StringProperty, List: true, Doc: doc}
}

// FlagProperty declares a bool property.
func FlagProperty(name, doc string) Property {
	return Property{Name: name, Kind: posture.BoolProperty, Doc: doc}
}

// LongProperty declares an integer property.
func LongProperty(name, doc string) Property {
	return Property{Name: name, Kind: posture.LongProperty, Doc: doc}
}

// EdgeTo declares an edge.
func EdgeTo(label, doc string, to ...posture.EntityType) Edge {
	return Edge{Label: label, To: to, Doc: doc}
}

// Declarations returns the declarations of collectors.
func Declarations[S any](all []Collector[S]) []Declaration {
	declared := make([]Declaration, len(all))
	for i, c := range all {
		declared[i] = c.Declaration
	}
	return declared
}
