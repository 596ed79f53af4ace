package gcp

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// A ruleCheck reports whether the resource with the description o violates a rule. The
// checker v has the facts about other resources of the project.
type ruleCheck func(v *checker, o world.Object) bool

// checker checks the resources of one project.
type checker struct {
	*Cloud
	project  Project
	bindings []world.Object  // of the project's policy
	admins   map[string]bool // service accounts with too many permissions
	logs     map[string]bool // buckets that receive logs
	logged   map[string]bool // names of networks whose DNS queries are logged
	open     []world.Object  // firewall rules that allow ingress from the internet
	rings    map[string]bool // key rings with public access
	keys     map[string]bool // keys that encrypt something
	disabled map[string]bool // whether a service account is disabled, by email
	parent   string          // name of the resource in which the checked one is nested
}

// Findings returns the findings that the built-in rules must report for a
// project, including changes.
func (c *Cloud) Findings(project string) iter.Seq[world.Finding] {
	return func(yield func(world.Finding) bool) {
		p, ok := c.projects[project]
		if !ok {
			return
		}
		v := &checker{Cloud: c, project: p, admins: map[string]bool{}, logs: map[string]bool{}, logged: map[string]bool{}, rings: map[string]bool{}, keys: map[string]bool{}, disabled: map[string]bool{}}
		v.prepare()
		for _, t := range slices.Sorted(maps.Keys(ruleChecks)) {
			more := v.visit(t, func(a address, name string, o world.Object) bool {
				v.parent = a.parent
				for _, rule := range slices.Sorted(maps.Keys(ruleChecks[t])) {
					if ruleChecks[t][rule](v, o) && !yield(world.Finding{Rule: rule, Entity: a.entityOf(name, locationOf(a, o))}) {
						return false
					}
				}
				return true
			})
			if !more {
				return
			}
		}
	}
}

// locationOf returns the location in a resource's link or name, or global.
func locationOf(a address, o world.Object) string {
	if a.k.where == inProject {
		return posture.Global
	}
	return placeOf(linkOf(o))
}

// visit calls f for every resource of a kind, which may be nested in another kind, until f
// returns false. It reports whether f always returned true.
func (c *checker) visit(t posture.EntityType, f func(a address, name string, o world.Object) bool) bool {
	a := address{Cloud: c.Cloud, k: kinds[t], project: c.project}
	more := true
	list := func(a address) bool {
		a.list(0, -1, func(name string, o world.Object) bool {
			more = f(a, name, o)
			return more
		})
		return more
	}
	if a.k.in == "" {
		return list(a)
	}
	return c.visit(a.k.in, func(_ address, name string, _ world.Object) bool {
		a.parent = name
		return list(a)
	})
}

// each visits the descriptions of a kind.
func (c *checker) each(t posture.EntityType) iter.Seq[world.Object] {
	return func(yield func(world.Object) bool) {
		c.visit(t, func(_ address, _ string, o world.Object) bool { return yield(o) })
	}
}

// prepare collects the facts that the checks of other kinds of resources need.
func (c *checker) prepare() {
	for o := range c.each(projectType) {
		c.bindings = o.Objects("_policy", "bindings")
	}
	inherited := address{Cloud: c.Cloud, k: kinds[projectType], project: c.project}.folderPolicy().Objects("bindings")
	for _, b := range slices.Concat(c.bindings, inherited) {
		role := b.Text("role")
		if role != "roles/owner" && role != "roles/editor" {
			continue
		}
		for _, m := range b.List("members") {
			c.admins[strings.TrimPrefix(m.(string), "serviceAccount:")] = true
		}
	}
	for o := range c.each(sinkType) {
		if bucket, ok := strings.CutPrefix(o.Text("destination"), "storage.googleapis.com/"); ok {
			c.logs[bucket] = true
		}
	}
	for o := range c.each(dnsPolicyType) {
		for _, n := range o.Objects("networks") {
			if o.Flag("enableLogging") {
				c.logged[last(n.Text("networkUrl"))] = true
			}
		}
	}
	for o := range c.each(firewallType) {
		if allowsIngress(o) {
			c.open = append(c.open, o)
		}
	}
	for o := range c.each(accountType) {
		c.disabled[o.Text("email")] = o.Flag("disabled")
	}
	for t := range kinds {
		if t != cryptoType { // the description of a key contains its own name
			for o := range c.each(t) {
				c.recordKeys(o)
			}
		}
	}
	c.visit(ringType, func(_ address, name string, o world.Object) bool {
		c.rings[name] = isPublic(o)
		return true
	})
}

// recordKeys records the encryption keys that a value refers to.
func (c *checker) recordKeys(value any) {
	switch value := value.(type) {
	case string:
		if strings.Contains(value, "/cryptoKeys/") {
			key, _, _ := strings.Cut(value, "/cryptoKeyVersions/")
			c.keys[key] = true
		}
	case world.Object:
		for _, f := range value {
			c.recordKeys(f.Value)
		}
	case []any:
		for _, e := range value {
			c.recordKeys(e)
		}
	}
}

func last(link string) string { return link[strings.LastIndexByte(link, '/')+1:] }

// isOlder reports whether a time is more than a number of days before Today.
func (c *checker) isOlder(text string, days int) bool {
	t, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && t.Before(c.options.Today.AddDate(0, 0, -days))
}
