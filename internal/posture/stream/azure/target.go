package azure

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/stream/change"
)

// targets returns the resources to read because of the record: those of all types
// whose declaration names the operation, and the nearest collected parent of the
// resource, because the resource may be a part of it.
func (r record) targets(x *change.Index) []posture.Target {
	all := levels(r.resource)
	if !strings.EqualFold(r.status, "Succeeded") || len(r.resource) > 2048 || len(all) == 0 {
		return nil
	}
	verb := verbOf(r.operation)
	found := pick(x, all, all[0], verb)
	for _, ancestor := range all[1:] {
		if strings.HasPrefix(ancestor.kind, "microsoft.resources/subscriptions") {
			break // resources are in a group and a subscription, not parts of them
		}
		// Deleting a part changes the resource that contains it.
		if more := pick(x, all, ancestor, "write"); len(more) > 0 {
			return append(found, more...)
		}
	}
	return found
}

// pick returns the targets of the declarations that name an operation on a resource.
func pick(x *change.Index, all []level, current level, verb string) []posture.Target {
	if verb == "action" {
		verb = "write"
	}
	var found []posture.Target
	for _, d := range x.Of(current.kind, verb) {
		if strings.HasPrefix(ownKind(d), current.kind+"/") { // its resources are inside the current one, which does not tell which of them changed
			if current == all[0] {
				found = append(found, posture.Target{Type: d.Type, Region: posture.Global})
			}
			continue
		}
		// Several declarations may name the same part, such as the diagnostic settings of
		// vaults and of servers. Only those apply whose own type is the resource's or a parent's.
		if !slices.ContainsFunc(all, func(l level) bool { return l.kind == ownKind(d) }) {
			continue
		}
		t := posture.Target{Type: d.Type, Region: posture.Global, Name: current.id}
		if verb == "delete" && d.Declared != nil && d.Declared.Gathered && !d.Declared.Derived {
			t.Name = "" // the id of a deleted role assignment does not tell its principal: read all of the type
		}
		found = append(found, t)
	}
	return found
}

// ownKind returns the resource type of a declaration, which is that of its first
// event.
func ownKind(d collect.Declaration) string {
	if len(d.Events) == 0 {
		return ""
	}
	return strings.ToLower(d.Events[0].Source)
}

// IDs returns the ids that the entity of a target may have.
func IDs(x *change.Index, account posture.AccountID, t posture.Target) []posture.EntityID {
	d, ok := x.Type(t.Type)
	if !ok {
		return nil
	}
	for _, l := range levels(t.Name) {
		if l.kind == ownKind(d) {
			a, _ := naming.ParseARMID(l.id)
			return []posture.EntityID{t.Type.ID(account, a.Place(), a.Name())}
		}
	}
	return nil
}

// verbOf returns the last part of an operation: write, delete or action.
func verbOf(operation string) string {
	verb := strings.ToLower(operation[strings.LastIndex(operation, "/")+1:])
	switch verb {
	case "write", "delete":
		return verb
	}
	return "action"
}

// A level is a resource or one of its parents.
type level struct {
	id   string
	kind string // microsoft.sql/servers/databases
}

// levels returns the resource of an id and its parents, the innermost first.
func levels(id string) (all []level) {
	part := strings.Split(strings.Trim(id, "/"), "/")
	part = part[:len(part)-len(part)%2] // an id consists of pairs of key and value
	parsed, ok := naming.ParseARMID(strings.Join(part, "/"))
	if !ok && len(part) > 2 && strings.EqualFold(part[len(part)-2], "providers") { // ends in a namespace without a resource: check the id before it
		parsed, ok = naming.ParseARMID(strings.Join(part[:len(part)-2], "/"))
	}
	if !ok || parsed.Subscription == "" {
		return nil
	}
	for ; len(part) > 0; part = part[:len(part)-2] {
		id := "/" + strings.Join(part, "/")
		if a, ok := naming.ParseARMID(id); ok {
			all = append(all, level{id, a.ResourceType()})
		}
	}
	return all
}
