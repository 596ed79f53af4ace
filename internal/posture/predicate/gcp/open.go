package gcp

import (
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
)

// Admits answers whether a list of networks that may connect, taken together, is the
// internet.
func Admits(networks []string) predicate.Answer {
	var all ipset.Set
	unclear := ""
	for _, text := range networks {
		set, err := ipset.Parse(text)
		if err != nil {
			unclear = "the network \"" + text + "\" is not understood"
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
