package aws

import (
	"encoding/json"
	"fmt"
	"net/http"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// Change changes a resource. A patch is merged into it by RFC 7386, with the
// field names of its list call. Fields that begin with an underscore are
// returned by other calls. The name of a created bucket must contain its account
// and region, like those of generated ones.
func (c *Cloud) Change(change world.Change) error {
	kind, ok := c.inventory.kinds[change.Ref.Type]
	if !ok {
		return fmt.Errorf("the simulated AWS has no %s", change.Ref.Type)
	}
	if _, exists := c.Get(kind, change.Ref.Place, change.Ref.Name); exists == (change.Make != nil) {
		return fmt.Errorf("%s %s: a resource must not exist before it is created, and must exist before it is changed or removed", change.Ref.Type, change.Ref.Name)
	}
	if p := change.Ref.Place; kind == c.inventory.buckets && bucketPlace(p.Account, change.Ref.Name) != p {
		return fmt.Errorf("bucket %s: calls find a bucket by its name, which must be <prefix>-%s-%s-<suffix>", change.Ref.Name, p.Account, p.Region)
	}
	c.Changes.Apply(change)
	return nil
}

// SwitchOff disables a region for an account.
func (c *Cloud) SwitchOff(account, region string) {
	c.disabledRegions.Store(world.Place{Account: account, Region: region}, true)
}

// isDisabled reports whether a region is disabled for an account.
func (c *Cloud) isDisabled(account, region string) bool {
	_, disabled := c.disabledRegions.Load(world.Place{Account: account, Region: region})
	return disabled
}

// Resource returns the name and current state of the i-th resource of a type.
func (c *Cloud) Resource(t posture.EntityType, p world.Place, i int) (name string, o world.Object, ok bool) {
	kind, known := c.inventory.kinds[t]
	if !known {
		return "", nil, false
	}
	c.List(kind, p, i, 1, func(n string, found world.Object) bool {
		name, o, ok = n, found, true
		return false
	})
	return name, o, ok
}

// Administer adds the routes about AWS to the gateway's admin host:
//
//	POST /aws/changes             {type, account, region?, name, patch | make | gone}
//	GET  /aws/findings?account=   the findings that the rules must report
//	GET  /aws/accounts            the access data of the accounts
func (c *Cloud) Administer(mux *http.ServeMux) {
	mux.HandleFunc("POST /aws/changes", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Type    posture.EntityType `json:"type"`
			Account string             `json:"account"`
			Region  string             `json:"region"`
			Name    string             `json:"name"`
			Patch   world.Object       `json:"patch"`
			Make    world.Object       `json:"make"`
			Gone    bool               `json:"gone"`
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		if err == nil {
			ref := world.Ref{Type: body.Type, Place: world.Place{Account: body.Account, Region: body.Region}, Name: body.Name}
			err = c.Change(world.Change{Ref: ref, Patch: body.Patch, Make: body.Make, Gone: body.Gone})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("GET /aws/findings", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(c.Findings(r.URL.Query().Get("account")))
	})
	mux.HandleFunc("GET /aws/accounts", func(w http.ResponseWriter, _ *http.Request) {
		all := make([]Account, c.options.Accounts)
		for i := range all {
			all[i] = c.Account(i)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(all)
	})
}
