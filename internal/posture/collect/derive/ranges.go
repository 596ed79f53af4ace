package derive

import (
	"vigil/internal/posture/predicate/ipset"
	"vigil/internal/posture/resource"
)

// openRanges adds whether a list of address ranges, of any cloud, contains the internet. The
// ranges are evaluated together, because two halves of the internet are as open as all of it.
var openRanges = resource.Function{
	Properties: []resource.Property{{Name: "rangesAreInternet", Kind: resource.Flag, Doc: "The address ranges that it admits are, together, the internet at large; false when none are listed."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		putAnswer(b, "rangesAreInternet", ipset.Admits(texts(in.Value)))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("rangesAreInternet", false) },
}
