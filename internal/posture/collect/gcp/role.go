package gcp

import (
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/declared"
)

// Permissions returns the least that a service account must be granted for
// everything to be read. None of them reaches what customers store.
func Permissions() []string {
	var all []string
	for _, d := range declarations(declared.Catalog()) {
		all = append(all, d.Permissions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parentPermissions are how the permissions begin that folders and organisations
// alone can grant, which roles of projects cannot have. link.sh grants them with
// roles of Google.
var parentPermissions = []string{"resourcemanager.folders.", "resourcemanager.organizations.", "iam.denypolicies."}

// APIs returns the names of the services that are asked. They must be enabled in
// the project of the service account, which is where Google counts its calls.
func APIs() []string {
	all := []string{"cloudresourcemanager.googleapis.com"}
	catalog := declared.Catalog()
	for _, t := range catalog.Of(posture.GCP) {
		for r := range catalog.Requests(t) {
			if r.Call != "" {
				all = append(all, apiOf(r)+".googleapis.com")
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Role returns a custom role with these permissions, as
//
//	gcloud iam roles create vigil --project=PROJECT --file=role.yaml
//
// takes it. What is granted on folders and organisations cannot be in it.
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
