package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"vigil/internal/posture"
)

// printUnavailable prints the services and types that have no resources because the account has
// not enabled them or a region does not offer them: rules about these resources do not apply. It
// also prints how many resources were deleted during the scan.
func (r *scanReport) printUnavailable(w io.Writer) {
	printServices(w, "Not enabled, so there is nothing to read:",
		r.unavailable(func(c posture.CollectorResult) []string { return c.NotEnabled }))
	printServices(w, "Not offered by the region, so there is nothing to read:",
		r.unavailable(func(c posture.CollectorResult) []string { return c.NotOffered }))
	r.printGone(w)
}

// unavailable returns the regions in which a service has nothing to read, by service. In a region
// where only some types of a service have nothing to read, the region is listed by type instead.
func (r *scanReport) unavailable(regionsOf func(posture.CollectorResult) []string) map[string][]string {
	type place struct{ service, region string }
	found := map[string][]string{}
	for _, s := range r.results {
		types := map[string]int{}                   // number of collected types by service
		without := map[place][]posture.EntityType{} // types that have nothing to read
		for kind, c := range s.Outcome.Collectors {
			service := string(kind[:strings.LastIndexByte(string(kind), '.')])
			types[service]++
			for _, region := range regionsOf(c) {
				p := place{service, region}
				without[p] = append(without[p], kind)
			}
		}
		for p, kinds := range without {
			if len(kinds) == types[p.service] {
				found[p.service] = append(found[p.service], p.region)
				continue
			}
			for _, kind := range kinds {
				found[string(kind)] = append(found[string(kind)], p.region)
			}
		}
	}
	return found
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
