package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"vigil/internal/posture"
)

// printUnavailable prints the services that have no resources because the account has not
// enabled them or a region does not offer them: rules about resources of these services do
// not apply. It also prints how many resources were deleted during the scan.
func (r *scanReport) printUnavailable(w io.Writer) {
	notEnabled, notOffered := map[string][]string{}, map[string][]string{} // regions by service
	for _, s := range r.results {
		for kind, c := range s.Outcome.Collectors {
			service := string(kind[:strings.LastIndexByte(string(kind), '.')])
			notEnabled[service] = append(notEnabled[service], c.NotEnabled...)
			notOffered[service] = append(notOffered[service], c.NotOffered...)
		}
	}
	printServices(w, "Not enabled, so there is nothing to read:", notEnabled)
	printServices(w, "Not offered by the region, so there is nothing to read:", notOffered)
	r.printGone(w)
}

// printGone prints how many resources of each type were deleted while the scan ran.
func (r *scanReport) printGone(w io.Writer) {
	gone := map[posture.EntityType]int{}
	for _, s := range r.results {
		for kind, c := range s.Outcome.Collectors {
			gone[kind] += c.Gone
		}
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(gone)) {
		if gone[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", kind, gone[kind]))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "\nListed but gone when their details were read:\n       %s\n", strings.Join(parts, ", "))
	}
}

func printServices(w io.Writer, title string, regions map[string][]string) {
	var parts []string
	for _, service := range slices.Sorted(maps.Keys(regions)) {
		all := namedRegions(regions[service])
		switch {
		case len(regions[service]) == 0:
		case len(all) == 0:
			parts = append(parts, service)
		case len(all) <= 2:
			parts = append(parts, service+" in "+strings.Join(all, " and "))
		default:
			parts = append(parts, fmt.Sprintf("%s in %d regions", service, len(all)))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "\n%s\n       %s\n", title, strings.Join(parts, ", "))
	}
}
