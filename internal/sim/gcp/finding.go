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

// A judge says whether a resource violates a rule, from its description alone.
type judge func(v *verdicts, o world.Object) bool

// verdicts finds what is wrong in one project.
type verdicts struct {
	*Cloud
	project  Project
	bindings []world.Object  // of the project's policy
	admins   map[string]bool // service accounts that may do too much
	logs     map[string]bool // buckets that take logs
	logged   map[string]bool // networks whose DNS queries are logged, by name
	open     []world.Object  // firewall rules that let the internet in
	rings    map[string]bool // key rings that everybody has access to
	keys     map[string]bool // keys that something is encrypted by
	disabled map[string]bool // service accounts
	parent   string          // the name of what the resource is part of
}

// Findings lists what the built-in rules ought to say of a project as it is now.
func (c *Cloud) Findings(project string) iter.Seq[world.Finding] {
	return func(yield func(world.Finding) bool) {
		p, ok := c.projects[project]
		if !ok {
			return
		}
		v := &verdicts{Cloud: c, project: p, admins: map[string]bool{}, logs: map[string]bool{}, logged: map[string]bool{}, rings: map[string]bool{}, keys: map[string]bool{}, disabled: map[string]bool{}}
		v.prepare()
		for _, t := range slices.Sorted(maps.Keys(judges)) {
			going := v.visit(t, func(a at, name string, o world.Object) bool {
				v.parent = a.parent
				for _, rule := range slices.Sorted(maps.Keys(judges[t])) {
					if judges[t][rule](v, o) && !yield(world.Finding{Rule: rule, Entity: a.entityOf(name, located(a, o))}) {
						return false
					}
				}
				return true
			})
			if !going {
				return
			}
		}
	}
}

// located returns the location that a resource's name tells, if any.
func located(a at, o world.Object) string {
	switch a.k.where {
	case inProject:
		return posture.Global
	}
	return placeOf(linkOf(o))
}

// visit visits all resources of a kind.
func (v *verdicts) visit(t posture.EntityType, f func(a at, name string, o world.Object) bool) bool {
	a := at{Cloud: v.Cloud, k: kinds[t], project: v.project}
	going := true
	list := func(a at) bool {
		a.list(0, -1, func(name string, o world.Object) bool {
			going = f(a, name, o)
			return going
		})
		return going
	}
	if a.k.in == "" {
		return list(a)
	}
	return v.visit(a.k.in, func(_ at, name string, _ world.Object) bool {
		a.parent = name
		return list(a)
	})
}

// each visits the descriptions of a kind.
func (v *verdicts) each(t posture.EntityType) iter.Seq[world.Object] {
	return func(yield func(world.Object) bool) {
		v.visit(t, func(_ at, _ string, o world.Object) bool { return yield(o) })
	}
}

// prepare reads what judges of other kinds need.
func (v *verdicts) prepare() {
	for o := range v.each(projectType) {
		v.bindings = o.Objects("_policy", "bindings")
	}
	inherited := at{Cloud: v.Cloud, k: kinds[projectType], project: v.project}.folderPolicy().Objects("bindings")
	for _, b := range slices.Concat(v.bindings, inherited) {
		role := b.Text("role")
		if role != "roles/owner" && role != "roles/editor" {
			continue
		}
		for _, m := range b.List("members") {
			v.admins[strings.TrimPrefix(m.(string), "serviceAccount:")] = true
		}
	}
	for o := range v.each(sinkType) {
		if bucket, ok := strings.CutPrefix(o.Text("destination"), "storage.googleapis.com/"); ok {
			v.logs[bucket] = true
		}
	}
	for o := range v.each(dnsPolicyType) {
		for _, n := range o.Objects("networks") {
			if o.Flag("enableLogging") {
				v.logged[last(n.Text("networkUrl"))] = true
			}
		}
	}
	for o := range v.each(firewallType) {
		if ingress(o) {
			v.open = append(v.open, o)
		}
	}
	for o := range v.each(accountType) {
		v.disabled[o.Text("email")] = o.Flag("disabled")
	}
	for t := range kinds {
		if t != cryptoType {
			for o := range v.each(t) {
				v.encrypted(o)
			}
		}
	}
	v.visit(ringType, func(_ at, name string, o world.Object) bool {
		v.rings[name] = everybody(o)
		return true
	})
}

// encrypted notes the keys that a value names.
func (v *verdicts) encrypted(value any) {
	switch value := value.(type) {
	case string:
		if strings.Contains(value, "/cryptoKeys/") {
			key, _, _ := strings.Cut(value, "/cryptoKeyVersions/")
			v.keys[key] = true
		}
	case world.Object:
		for _, f := range value {
			v.encrypted(f.Value)
		}
	case []any:
		for _, e := range value {
			v.encrypted(e)
		}
	}
}

func last(link string) string { return link[strings.LastIndexByte(link, '/')+1:] }

// older reports whether a time is more than some days before the world's day.
func (v *verdicts) older(text string, days int) bool {
	t, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && t.Before(v.options.Today.AddDate(0, 0, -days))
}
