package gcp

import "testing"

func TestNamesHaveTheFormsOfTheirTypes(t *testing.T) {
	t.Parallel()
	clusters := []string{"projects/*/locations/*/clusters/*", "projects/*/zones/*/clusters/*"}
	for _, tt := range []struct {
		forms []string
		name  string
		want  bool
	}{
		{clusters, "projects/p/zones/z/clusters/c", true},
		{clusters, "projects/p/zones/z/clusters/c/nodePools/n", true},
		{clusters, "projects/p/zones/z", false},
		{clusters, "projects/p/zones//clusters/c", false},
		{[]string{"projects/*/managedZones/*"}, "managedZones/example", true},
		{[]string{"projects/*/managedZones/*"}, "policies/example", false},
		{[]string{"projects/*"}, "projects/p/sinks/s", true},
		{[]string{"projects/*"}, "anything", false},
		{nil, "projects/p/global/firewalls/f", false},
	} {
		if got := isNamed(tt.forms, tt.name); got != tt.want {
			t.Errorf("%s has one of the forms %v: %v, want %v", tt.name, tt.forms, got, tt.want)
		}
	}
}

func TestCollectionsAreToldFromResources(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"":                                       true,
		"projects/p/global/firewalls":            true,
		"projects/p/global/firewalls/ssh":        false,
		"projects/p/zones/z/instances":           true,
		"projects/p/locations/global/keys":       true,
		"projects/p/locations/global/keys/k":     false,
		"projects/p/locations/global/buckets/_D": false,
	} {
		if got := isCollection(name); got != want {
			t.Errorf("%q is a collection: %v, want %v", name, got, want)
		}
	}
}
