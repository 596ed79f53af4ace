package gcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// A Change is a change of a resource while the simulation runs. Exactly one of
// Patch, Make and Gone is set.
type Change struct {
	Type    posture.EntityType `json:"type"`             // GCP.Compute.Firewall
	Project string             `json:"project"`          // its id
	Parent  string             `json:"parent,omitempty"` // name of the enclosing resource: a service account, a key ring
	Name    string             `json:"name"`             // its own name
	Patch   world.Object       `json:"patch,omitempty"`  // merged into its description
	Make    world.Object       `json:"make,omitempty"`   // its description, including name and link
	Gone    bool               `json:"gone,omitempty"`
}

// Change applies a change. To change the IAM policy of a resource, change its field _policy.
func (c *Cloud) Change(change Change) error {
	k, ok := kinds[change.Type]
	p, known := c.projects[change.Project]
	switch {
	case !ok:
		return fmt.Errorf("there are no resources of type %q", change.Type)
	case !known:
		return fmt.Errorf("there is no project %q", change.Project)
	case k.in == "" && change.Parent != "", k.in != "" && change.Parent == "":
		return fmt.Errorf("the parent of a %s is %q; it must be set if the type is nested in another, and only then", change.Type, change.Parent)
	}
	a := address{Cloud: c, k: k, project: p, parent: change.Parent}
	if _, exists := a.get(change.Name); exists == (change.Make != nil) {
		return fmt.Errorf("%s %q: a resource must not exist before it is created, and must exist before it is changed or removed (it exists: %v)", change.Type, change.Name, exists)
	}
	c.Changes.Apply(world.Change{
		Ref:   world.Ref{Type: change.Type, Place: a.place(), Name: change.Name},
		Patch: change.Patch, Make: change.Make, Gone: change.Gone,
	})
	return nil
}

// Resource returns the service and the full resource name, as in audit logs, of
// a change's resource.
func (c *Cloud) Resource(change Change) (service, name string) {
	k, p := kinds[change.Type], c.projects[change.Project]
	if k == nil || p.ID == "" {
		return "", ""
	}
	a := address{Cloud: c, k: k, project: p, parent: change.Parent}
	location := a.locationFor(change.Name)
	if change.Make != nil {
		location = placeOf(linkOf(change.Make))
	}
	service = k.service + ".googleapis.com"
	switch change.Type {
	case projectType, computeProjectType:
		return service, "projects/" + p.ID
	case bucketType:
		return service, "projects/_/buckets/" + change.Name
	}
	return service, a.pathTo(location, change.Name)
}

// Admin adds the routes about the cloud to the gateway's admin host:
//
//	POST /gcp/changes             applies a Change
//	GET  /gcp/findings/{project}  the findings that the rules must report
func (c *Cloud) Admin(mux *http.ServeMux) {
	mux.HandleFunc("POST /gcp/changes", func(w http.ResponseWriter, r *http.Request) {
		var change Change
		err := json.NewDecoder(r.Body).Decode(&change)
		if err == nil {
			err = c.Change(change)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /gcp/findings/{project}", func(w http.ResponseWriter, r *http.Request) {
		all := []world.Finding{}
		for f := range c.Findings(r.PathValue("project")) {
			all = append(all, f)
		}
		writeJSON(w, http.StatusOK, all)
	})
}

// Methods returns the simulated methods by their names in discovery documents,
// with the permission that each needs.
func Methods() map[string]string {
	all := map[string]string{}
	for _, r := range routes {
		all[r.id] = r.permission
	}
	return all
}

// Routes returns the methods with their requests: a verb, host and path.
func Routes() map[string]string {
	all := map[string]string{}
	for _, r := range routes {
		host := r.service()
		if host == "sql" {
			host = "sqladmin"
		}
		all[r.id] = r.method + " https://" + host + ".googleapis.com/" + strings.TrimPrefix(r.path, "/")
	}
	return all
}
