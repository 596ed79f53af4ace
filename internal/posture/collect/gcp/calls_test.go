package gcp_test

import (
	"net/http"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/collecttest"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
	simgcp "vigil/internal/sim/gcp"
)

// TestKeysAndRingsShareLists checks that types which start from the same lists share the
// responses: locations, and the key rings of each, are listed once for rings and keys.
func TestKeysAndRingsShareLists(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 3, Size: 30})
	calls := func(types ...posture.EntityType) (locations, rings int) {
		c.faults.ResetCounts()
		if got := collecttest.All(t, c.source(), c.access(0), types...); len(got.Entities) == 0 || len(got.Failures) > 0 {
			t.Fatalf("%d entities, %v", len(got.Entities), got.Failures)
		}
		for call, n := range c.faults.Calls() {
			switch call.Service + " " + call.Action {
			case "cloudkms projects.locations.list":
				locations += n
			case "cloudkms projects.locations.keyRings.list":
				rings += n
			}
		}
		return locations, rings
	}
	_, alone := calls("GCP.KMS.KeyRing")
	if locations, rings := calls("GCP.KMS.KeyRing", "GCP.KMS.CryptoKey"); locations != 1 || rings != alone || rings == 0 {
		t.Errorf("locations were listed %d times, rings %d times; want 1 and %d", locations, rings, alone)
	}
}

// TestRequestsNeedTheirMethodsPermission checks the permission that each request declares,
// also of requests that are made only after an event, against that of the simulated method.
func TestRequestsNeedTheirMethodsPermission(t *testing.T) {
	t.Parallel()
	catalog, permissions := declared.Catalog(), simgcp.Methods()
	for _, typ := range catalog.Of(posture.GCP) {
		for r := range catalog.Requests(typ) {
			if r.Call == "" {
				continue // it only declares a permission, for the calls of a function
			}
			method := methodOf(typ, r.Call)
			if want, ok := permissions[method]; !ok || permissionOf(r) != want {
				t.Errorf("%s: %s needs %s, but the simulated method %q needs %q", typ.Type, r.Call, permissionOf(r), method, want)
			}
		}
	}
}

// permissionOf returns the permission that a request needs for its call. It may declare
// others, which the call needs for some resources.
func permissionOf(r *resource.Request) string {
	if r.Permission == "" {
		return resource.GooglePermission(r.Call)
	}
	permission, _, _ := strings.Cut(r.Permission, " ")
	return permission
}

// methodOf returns the simulated method that a call of a type reaches, or "": of the methods whose
// paths match, the one with the most segments in common.
func methodOf(typ *resource.Type, call string) string {
	verb := http.MethodGet
	if rest, ok := strings.CutPrefix(call, http.MethodPost+" "); ok {
		verb, call = http.MethodPost, rest
	}
	found, most := "", -1
	for id, request := range simgcp.Routes() {
		routeVerb, address, _ := strings.Cut(request, " https://")
		api, path, _ := strings.Cut(address, ".googleapis.com/")
		// Calls begin with the name of the API. So do the paths of some APIs, such as compute/v1.
		if !strings.HasPrefix(path, api+"/") {
			path = api + "/" + path
		}
		for _, wanted := range addressesOf(typ, call) {
			if n := matchingSegments(path, wanted); routeVerb == verb && n > most {
				found, most = id, n
			}
		}
	}
	return found
}

// addressesOf returns the addresses that a call can have. If the full name of a resource follows
// the version, as in pubsub/v1/$name, there is one address for each form of the name. In
// cloudkms/v1/$name/cryptoKeys, the name is that of the parent if the type is CryptoKey.
func addressesOf(typ *resource.Type, call string) []string {
	version, rest, ok := strings.Cut(strings.ReplaceAll(call, "${name}", "$name"), "/$name")
	if !ok || strings.Count(version, "/") != 1 {
		return []string{call}
	}
	var all []string
	for _, form := range typ.Google {
		name := form.Path()
		if strings.HasPrefix(rest, "/") {
			name, _, _ = strings.Cut(name, rest+"/") // the name of the parent
		}
		all = append(all, version+"/"+name+rest)
	}
	return all
}

// matchingSegments returns how many segments of an address are equal to those of a method's path,
// or -1 if the address is not one of the method. Parameters of the path match without being equal.
func matchingSegments(path, address string) int {
	segments, wanted := strings.Split(path, "/"), strings.Split(address, "/")
	if len(segments) != len(wanted) {
		return -1
	}
	n := 0
	for i, s := range segments {
		switch {
		case s == wanted[i]:
			n++
		case !matchesParameter(s, wanted[i]):
			return -1
		}
	}
	return n
}

// matchesParameter reports whether a segment of a path is a parameter that matches a segment of an
// address. A custom verb after the parameter, as in {resource}:getIamPolicy, must be in both.
func matchesParameter(segment, wanted string) bool {
	parameter, verb, ok := strings.Cut(segment, "}")
	if !ok || !strings.HasPrefix(parameter, "{") {
		return false
	}
	if verb == "" {
		return !strings.Contains(wanted, ":")
	}
	return strings.HasSuffix(wanted, verb)
}
