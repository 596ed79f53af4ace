package gcp

import (
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
)

// Admits decides whether the union of some authorized networks is the internet.
func Admits(networks []string) predicate.Answer {
	var all ipset.Set
	unclear := ""
	for _, text := range networks {
		set, err := ipset.Parse(text)
		if err != nil {
			unclear = "the network \"" + text + "\" is not supported"
			continue
		}
		all = all.Union(set)
	}
	switch {
	case all.IsInternet():
		return predicate.Of(true, "its networks hold the internet")
	case unclear != "":
		return predicate.NotKnown(unclear)
	}
	return predicate.Of(false, "")
}
