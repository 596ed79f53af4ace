package azure

import (
	"slices"
	"strings"
	"sync"

	"vigil/internal/sim/world"
)

// applications are the applications that were registered for the product. They may read
// only what their roles allow.
type applications struct {
	mu      sync.Mutex
	created map[string]*registration // by application id
	number  int                      // of registrations so far, including removed ones
}

type registration struct {
	Credential
	keys    []string            // the valid ones, oldest first
	roles   map[string][]string // allowed actions by subscription
	consent []string            // permissions in Graph
}

// registeredRole is what roleOf returns as the role of a registered application.
const registeredRole = "registered"

// Register registers an application without a key in the directory.
func (c *Cloud) Register(government bool) Credential {
	c.applications.mu.Lock()
	defer c.applications.mu.Unlock()
	if c.applications.created == nil {
		c.applications.created = map[string]*registration{}
	}
	seed := c.options.Seed.With("registered").Nth(c.applications.number)
	c.applications.number++
	a := &registration{Credential: Credential{Tenant: c.tenant(government), Application: seed.UUID(0)}, roles: map[string][]string{}}
	c.applications.created[a.Application] = a
	return a.Credential
}

// Unregister removes an application.
func (c *Cloud) Unregister(id string) {
	c.applications.mu.Lock()
	defer c.applications.mu.Unlock()
	delete(c.applications.created, id)
}

// withRegistration calls fn with a registered application, under the lock. It does nothing if
// there is none with the id.
func (c *Cloud) withRegistration(id string, fn func(*registration)) {
	c.applications.mu.Lock()
	defer c.applications.mu.Unlock()
	if a, ok := c.applications.created[id]; ok {
		fn(a)
	}
}

// NewKey adds a key to an application and returns it. The earlier keys stay valid, as with
// az ad app credential reset --append.
func (c *Cloud) NewKey(id string) (key string) {
	c.withRegistration(id, func(a *registration) {
		key = "sim8Q~" + world.Seed(1).With(id).With("key").Nth(len(a.keys)).Hex(34)
		a.keys = append(a.keys, key)
	})
	return key
}

// Assign sets the actions that an application is allowed in a subscription. An empty list
// removes the assignment.
func (c *Cloud) Assign(id, subscription string, actions []string) {
	c.withRegistration(id, func(a *registration) {
		if len(actions) == 0 {
			delete(a.roles, subscription)
			return
		}
		a.roles[subscription] = actions
	})
}

// Consent grants an application permissions in Graph.
func (c *Cloud) Consent(id string, permissions ...string) {
	c.withRegistration(id, func(a *registration) { a.consent = permissions })
}

// hasRole reports whether an application has a role in a subscription.
func (c *Cloud) hasRole(id, subscription string) (ok bool) {
	c.withRegistration(id, func(a *registration) { _, ok = a.roles[subscription] })
	return ok
}

// isAllowed reports whether a role of an application allows the request.
func (c *Cloud) isAllowed(id string, t target) (allowed bool) {
	if t.sub.ID == "" { // a list of subscriptions: it contains only those that the application can read
		return true
	}
	want := t.space + "/" + t.action
	c.withRegistration(id, func(a *registration) {
		allowed = slices.ContainsFunc(a.roles[t.sub.ID], func(action string) bool { return strings.EqualFold(action, want) || action == "*/read" })
	})
	return allowed
}

// hasConsent reports whether an application may read the directory.
func (c *Cloud) hasConsent(id string) (yes bool) {
	c.withRegistration(id, func(a *registration) { yes = slices.Contains(a.consent, "Directory.Read.All") })
	return yes
}
