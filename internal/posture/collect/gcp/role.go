package gcp

import (
	"fmt"
	"slices"
	"strings"
)

// Permissions returns the least that a service account must be granted for
// everything to be read. None of them reaches what customers store.
func Permissions() []string {
	var all []string
	for _, c := range collectors {
		all = append(all, c.Permissions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// APIs returns the names of the services that are asked. They must be enabled in
// the project of the service account, which is where Google counts its calls.
func APIs() []string {
	all := []string{"cloudresourcemanager.googleapis.com"}
	for _, c := range collectors {
		all = append(all, strings.TrimSuffix(c.Service, ".gcp")+".googleapis.com") // AWS has an iam, too
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Role returns a custom role with these permissions, as
//
//	gcloud iam roles create vigil --project=PROJECT --file=role.yaml
//
// takes it.
func Role() []byte {
	var b strings.Builder
	b.WriteString("title: Vigil reader\n")
	b.WriteString("description: Reads how resources are configured. It cannot change anything, nor read what they store.\n")
	b.WriteString("stage: GA\n")
	b.WriteString("includedPermissions:\n")
	for _, p := range Permissions() {
		fmt.Fprintf(&b, "- %s\n", p)
	}
	return []byte(b.String())
}
