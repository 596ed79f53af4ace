package gcp

import (
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"

	"vigil/internal/posture"
)

// most is the largest page that Compute Engine returns.
const most = 500

// notReached is the warning on a location that is missing from a list.
const notReached = "UNREACHABLE"

// everywhere passes on what a list across locations has of one page. The take
// function returns a location's items, and whether the location could not be
// reached.
func everywhere[L, T any](locations map[string]L, missing []string, take func(L) (items []T, lost bool), page func([]T) error) error {
	places := make([]string, 0, len(locations))
	for place := range locations {
		places = append(places, place)
	}
	slices.Sort(places)
	missing = slices.Clone(missing)
	for _, place := range places {
		items, lost := take(locations[place])
		if lost {
			missing = append(missing, place)
		}
		if err := page(items); err != nil {
			return err
		}
	}
	return unreachable(missing)
}

// changes declares the methods that change a resource of Compute Engine.
func changes(resource string, methods ...string) events {
	return events{each("compute", "compute."+resource+".", methods...)}
}

// computeType is the beginning of a declaration of a type of Compute Engine. Some
// have further names in permissions, for what is global or in regions.
func computeType(t posture.EntityType, resource, doc string, also ...string) declaration {
	d := declaration{Type: t, Service: "compute", Doc: doc}
	for _, name := range append([]string{resource}, also...) {
		d.Permissions = append(d.Permissions, "compute."+name+".list")
	}
	return d
}

// with adds the rest of a declaration.
func with(d declaration, p properties, e edges, v events) declaration {
	d.Properties, d.Edges, d.Events = p, e, v
	return d
}

// shownMetadata are the keys whose values are settings. Others may hold scripts
// and secrets, so that only their names are kept.
var shownMetadata = []string{
	"block-project-ssh-keys", "disable-legacy-endpoints", "enable-guest-attributes", "enable-os-inventory", "enable-osconfig", "enable-oslogin",
	"enable-oslogin-2fa", "google-logging-enabled", "google-monitoring-enabled", "serial-port-enable", "serial-port-logging-enable", "vmdnssetting",
	"windows-keys-enabled",
}

// metadata returns metadata as key=value, and just the key where the value is
// nobody's business.
func metadata(m *compute.Metadata) []string {
	if m == nil {
		return nil
	}
	var all []string
	for _, item := range m.Items {
		if item.Value != nil && slices.Contains(shownMetadata, strings.ToLower(item.Key)) {
			all = append(all, item.Key+"="+*item.Value)
		} else {
			all = append(all, item.Key)
		}
	}
	return all
}

// setting reports whether metadata has a switch that is on.
func setting(m *compute.Metadata, key string) bool {
	if m == nil {
		return false
	}
	for _, item := range m.Items {
		if strings.EqualFold(item.Key, key) && item.Value != nil {
			return slices.Contains([]string{"true", "1", "y", "yes"}, strings.ToLower(*item.Value))
		}
	}
	return false
}

// kmsKey returns the name of the key that encrypts a disk or image.
func kmsKey(k *compute.CustomerEncryptionKey) string {
	if k == nil {
		return ""
	}
	return k.KmsKeyName
}
