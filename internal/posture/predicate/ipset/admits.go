package ipset

import "vigil/internal/posture/predicate"

// Admits decides whether address ranges together admit the internet, as
// [Set.IsInternet] defines it.
func Admits(ranges []string) predicate.Answer {
	var all Set
	unclear := ""
	for _, text := range ranges {
		set, err := Parse(text)
		if err != nil {
			unclear = "the range \"" + text + "\" is not supported"
			continue
		}
		all = all.Union(set)
	}
	switch {
	case all.IsInternet():
		return predicate.Of(true, "its ranges contain the internet")
	case unclear != "":
		return predicate.NotKnown(unclear)
	}
	return predicate.Of(false, "")
}
