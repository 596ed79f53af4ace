package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// A Change is a change of a resource while the simulation runs. Exactly one of
// Patch, Make and Gone is set.
type Change struct {
	// ID is the resource's id, or a directory object's path in Microsoft Graph,
	// such as graph/users/<id>.
	ID    string       `json:"id"`
	Patch world.Object `json:"patch,omitempty"` // merged into its description
	Make  world.Object `json:"make,omitempty"`  // its description
	Gone  bool         `json:"gone,omitempty"`
}

// Change applies a change. Fields whose names are an underscore and a sub-path,
// such as _config/web, are returned by calls for that sub-path.
func (c *Cloud) Change(change Change) error {
	ref, err := c.resolve(change.ID)
	if err != nil {
		return err
	}
	if change.Make != nil {
		change.Make = append(world.Obj("id", change.ID, "name", path.Base(change.ID)), change.Make...)
	}
	c.Changes.Apply(world.Change{Ref: ref, Patch: change.Patch, Make: change.Make, Gone: change.Gone})
	return nil
}

// resolve returns the overlay's reference of a resource.
func (c *Cloud) resolve(id string) (world.Ref, error) {
	if rest, ok := strings.CutPrefix(id, "graph/"); ok {
		name := path.Dir(rest)
		if _, ok := collections[name]; ok {
			return directoryRef(name, c.tenantOf(name, path.Base(rest)), path.Base(rest)), nil
		}
		return world.Ref{}, fmt.Errorf("the directory has no %s", name)
	}
	parts := strings.Split(strings.Trim(id, "/"), "/")
	if len(parts) < 2 {
		return world.Ref{}, fmt.Errorf("%q is not the id of a resource", id)
	}
	t, _ := c.find(id, c.subs[strings.ToLower(parts[1])].Government)
	if t.in.k == nil || t.rest != "" || strings.EqualFold(path.Base(t.in.k.arm), path.Base(id)) {
		return world.Ref{}, fmt.Errorf("%q is not the id of a resource", id)
	}
	name := strings.ToLower(path.Base(id))
	if t.object != nil {
		name = t.object.Text("name")
	}
	return world.Ref{Type: t.in.k.typ, Place: t.in.place, Name: name}, nil
}

// tenantOf returns the directory that has an object.
func (c *Cloud) tenantOf(name, id string) string {
	for _, government := range []bool{false, true} {
		tenant := c.tenant(government)
		s := collections[name]
		for i := range s.count(c) {
			if s.make(c, tenant, i).Text("id") == id {
				return tenant
			}
		}
	}
	return c.tenant(false)
}

// directoryRef returns the overlay's reference of a directory object.
func directoryRef(name, tenant, id string) world.Ref {
	return world.Ref{Type: posture.EntityType("graph/" + name), Place: world.Place{Account: tenant}, Name: id}
}

// Admin adds the routes about the cloud to the gateway's admin host:
//
//	POST /azure/changes                  applies a Change
//	GET  /azure/findings/{subscription}  the findings that the rules must report
func (c *Cloud) Admin(mux *http.ServeMux) {
	mux.HandleFunc("POST /azure/changes", func(w http.ResponseWriter, r *http.Request) {
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
	mux.HandleFunc("GET /azure/findings/{subscription}", func(w http.ResponseWriter, r *http.Request) {
		all := []world.Finding{}
		for f := range c.Findings(r.PathValue("subscription")) {
			all = append(all, f)
		}
		writeJSON(w, http.StatusOK, all)
	})
}
