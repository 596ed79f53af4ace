package gcp

import (
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/declared"
)

// Permissions returns the minimal permissions that a service account needs to
// read every type. None of them gives access to stored data.
func Permissions() []string {
	var all []string
	for _, d := range declarations(declared.Catalog()) {
		all = append(all, d.Permissions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parentPermissions are the prefixes of permissions that only folders and
// organisations can grant. Roles of projects cannot contain them; link.sh grants
// them with predefined roles.
var parentPermissions = []string{"resourcemanager.folders.", "resourcemanager.organizations.", "iam.denypolicies."}

// APIs returns the host names of the APIs that collections call. They must be enabled in
// the project of the service account, where Google counts the calls.
func APIs() []string {
	all := []string{"cloudresourcemanager.googleapis.com"}
	catalog := declared.Catalog()
	for _, t := range catalog.Of(posture.GCP) {
		for r := range catalog.Requests(t) {
			if r.Call != "" { // other requests only declare a permission
				all = append(all, apiOf(r)+".googleapis.com")
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Role returns a custom role with the permissions of [Permissions] as a file for
//
//	gcloud iam roles create vigil --project=PROJECT --file=role.yaml
//
// It lacks the permissions that only folders and organisations can grant.
func Role() []byte {
	var b strings.Builder
	b.WriteString("title: Vigil reader\n")
	b.WriteString("description: Reads how resources are configured. It cannot change anything, nor read what they store.\n")
	b.WriteString("stage: GA\n")
	b.WriteString("includedPermissions:\n")
	for _, p := range Permissions() {
		if slices.ContainsFunc(parentPermissions, func(prefix string) bool { return strings.HasPrefix(p, prefix) }) {
			continue
		}
		fmt.Fprintf(&b, "- %s\n", p)
	}
	return []byte(b.String())
}
