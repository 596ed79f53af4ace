package resource_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"vigil/internal/posture/resource"
)

// googleFunctions are the functions that expanded Google Cloud declarations use.
var googleFunctions = resource.Functions{Derive: map[string]resource.Function{"gcp.policy": {}}}

func TestExpandGoogleForms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string // call and permission of every request
		bad  string
	}{
		// On Compute Engine, one resource is read with the call of the list and a filter.
		"across locations of Compute Engine": {
			text: "google: compute/v1/projects/{project}/{place}/disks/{name}",
			want: []string{"compute/v1/projects/$project/aggregated/disks compute.disks.list", "compute/v1/projects/$project/aggregated/disks compute.disks.list"},
		},
		"global, with a further permission": {
			text: "google: compute/v1/projects/{project}/global/routes/{name}\npermissions: [compute.other.list]",
			want: []string{"compute/v1/projects/$project/global/routes compute.routes.list compute.other.list", "compute/v1/projects/$project/global/routes compute.routes.list compute.other.list"},
		},
		"all locations at once": {
			text: "google: redis/v1/projects/{project}/locations/{location}/instances/{name}",
			want: []string{"redis/v1/projects/$project/locations/-/instances redis.instances.list", "redis/v1/$name redis.instances.get"},
		},
		"each location, with a policy": {
			text: "google: cloudkms/v1/projects/{project}/locations/{location}/keyRings/{name}\neachLocation: v1\npolicy: true",
			want: []string{
				"cloudkms/v1/projects/$project/locations cloudkms.locations.list", "cloudkms/v1/projects/$project/locations/${locationId}/keyRings cloudkms.keyRings.list",
				"cloudkms/v1/$name cloudkms.keyRings.get", "cloudkms/v1/${name}:getIamPolicy cloudkms.keyRings.getIamPolicy",
			},
		},
		"permissions of another name": {
			text: "google: logging/v2/projects/{project}/metrics/{name*}\ngranted: logging.logMetrics",
			want: []string{"logging/v2/projects/$project/metrics logging.logMetrics.list", "logging/v2/$name logging.logMetrics.get"},
		},
		"no project":      {text: "google: compute/v1/global/disks/{name}", bad: "must be an API, its version and the form of a name"},
		"an unknown part": {text: "google: compute/v1/projects/{project}/{zone}/disks/{name}", bad: "{zone}"},
		"no address":      {text: "list: [{call: disks}]\nname: name", bad: "must be an API, its version and the path"},
	} {
		files := fstest.MapFS{"gcp/x/y.yaml": {Data: []byte("type: GCP.Test.Thing\ndoc: A thing.\n" + tt.text + "\n")}}
		catalog, err := resource.Load(googleFunctions, files)
		if tt.bad != "" {
			if err == nil || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%s: %v, want %q", name, err, tt.bad)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for r := range catalog.Requests(catalog.Types()[0]) {
			got = append(got, r.Call+" "+r.Permission)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}
