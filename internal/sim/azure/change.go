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
// such as _config/web, are returned by calls for that sub-path. Directory objects
// can only be patched.
func (c *Cloud) Change(change Change) error {
	resolve := c.resolve
	if strings.HasPrefix(change.ID, "graph/") {
		resolve = c.resolveObject
	}
	ref, err := resolve(change)
	if err != nil {
		return err
	}
	if change.Make != nil {
		change.Make = append(world.Obj("id", change.ID, "name", path.Base(change.ID)), change.Make...)
	}
	c.Changes.Apply(world.Change{Ref: ref, Patch: change.Patch, Make: change.Make, Gone: change.Gone})
	return nil
}

// resolve returns the overlay's reference of the resource of a change.
func (c *Cloud) resolve(change Change) (world.Ref, error) {
	parts := strings.Split(strings.Trim(change.ID, "/"), "/")
	if len(parts) < 2 {
		return world.Ref{}, fmt.Errorf("%q is not the id of a resource", change.ID)
	}
	t, _ := c.find(change.ID, c.subs[strings.ToLower(parts[1])].Government)
	name := parts[len(parts)-1]
	// An id that ends with the type is that of a list.
	if t.in.k == nil || t.rest != "" || strings.EqualFold(path.Base(t.in.k.arm), name) {
		return world.Ref{}, fmt.Errorf("%q is not the id of a resource", change.ID)
	}
	exists := t.object != nil
	if change.Make != nil { // the new name must not exist in any resource group; find searched only that of the id
		_, _, exists = t.in.get(name)
	}
	if exists == (change.Make != nil) {
		return world.Ref{}, fmt.Errorf("%q: a resource must not exist before it is created, and must exist before it is changed or removed", change.ID)
	}
	return world.Ref{Type: t.in.k.typ, Place: t.in.place, Name: t.in.key(name)}, nil
}

// resolveObject returns the overlay's reference of the directory object of a change.
func (c *Cloud) resolveObject(change Change) (world.Ref, error) {
	at := strings.TrimPrefix(change.ID, "graph/")
	name, id := path.Dir(at), path.Base(at)
	s := collections[name]
	if s.count == nil {
		return world.Ref{}, fmt.Errorf("the directory has no %s", name)
	}
	if change.Patch == nil {
		return world.Ref{}, fmt.Errorf("%q: directory objects are neither created nor deleted", change.ID)
	}
	for _, government := range []bool{false, true} {
		tenant := c.tenant(government)
		for i := range s.count(c) {
			if existing := s.make(c, tenant, i).Text("id"); strings.EqualFold(existing, id) {
				return directoryRef(name, tenant, existing), nil
			}
		}
	}
	return world.Ref{}, fmt.Errorf("the directory has no %s with the id %q", name, id)
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
