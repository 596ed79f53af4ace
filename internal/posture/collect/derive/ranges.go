package derive

import (
	"vigil/internal/posture/predicate/ipset"
	"vigil/internal/posture/resource"
)

// rangesAreInternet adds the property rangesAreInternet: whether a list of address ranges, of
// any cloud, admits the internet. It evaluates the union of the ranges, because two ranges that
// each hold half of the internet admit all of it.
var rangesAreInternet = resource.Function{
	Properties: []resource.Property{{Name: "rangesAreInternet", Kind: resource.Flag, Doc: "It admits the internet at large: its address ranges together have more public addresses than a /8 of IPv4 or a /32 of IPv6. False when none are listed."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		putAnswer(b, "rangesAreInternet", ipset.Admits(texts(in.Value)))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("rangesAreInternet", false) },
}
