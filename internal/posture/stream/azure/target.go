package azure

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/stream/change"
)

// targets returns what is to be read because of the record: everything of which
// the collectors say that the operation may change it, and the nearest resource
// above that is read, of which this one may be a part.
func (r record) targets(x *change.Index) []posture.Target {
	all := levels(r.resource)
	if !strings.EqualFold(r.status, "Succeeded") || len(r.resource) > 2048 || len(all) == 0 {
		return nil
	}
	verb := verbOf(r.operation)
	found := pick(x, all, all[0], verb)
	for _, above := range all[1:] {
		if strings.HasPrefix(above.kind, "microsoft.resources/subscriptions") {
			break // resources are in a group and a subscription, not parts of them
		}
		// A part that was removed is a change of the whole.
		if more := pick(x, all, above, "write"); len(more) > 0 {
			return append(found, more...)
		}
	}
	return found
}

// pick returns the targets of the declarations that name an operation on a level.
func pick(x *change.Index, all []level, at level, verb string) []posture.Target {
	if verb == "action" {
		verb = "write"
	}
	var found []posture.Target
	for _, d := range x.Of(at.kind, verb) {
		// Some name the parts of other resources too: a setting that a vault and
		// a server may both have.
		if !slices.ContainsFunc(all, func(l level) bool { return l.kind == ownKind(d) }) {
			continue
		}
		t := posture.Target{Type: d.Type, Region: posture.Global, Name: at.id}
		if verb == "delete" && gathered[d.Type] {
			t.Name = ""
		}
		found = append(found, t)
	}
	return found
}

// ownKind returns the type of the resources that a declaration is about. It comes
// first among its events.
func ownKind(d collect.Declaration) string {
	if len(d.Events) == 0 {
		return ""
	}
	return strings.ToLower(d.Events[0].Source)
}

// gathered are the types that are made from many resources, of which one that is
// gone does not tell what to remove.
var gathered = map[posture.EntityType]bool{"Azure.Authorization.Principal": true, "Azure.Subscription.Location": true}

// IDs returns the ids that the entity of a target may have.
func IDs(x *change.Index, account posture.AccountID, t posture.Target) []posture.EntityID {
	d, ok := x.Type(t.Type)
	if !ok {
		return nil
	}
	for _, l := range levels(t.Name) {
		if l.kind == ownKind(d) {
			place, name := l.place()
			return []posture.EntityID{t.Type.ID(account, place, name)}
		}
	}
	return nil
}

// place returns the resource group and the name of a resource as its entity has
// them: its own name after those of what it is part of.
func (l level) place() (group, name string) {
	part := strings.Split(strings.ToLower(strings.Trim(l.id, "/")), "/")
	var names []string
	for i, provided := 0, false; i+1 < len(part); i += 2 {
		switch {
		case part[i] == "providers":
			provided = true
		case !provided && part[i] == "resourcegroups":
			group = part[i+1]
		case provided:
			names = append(names, part[i+1])
		}
	}
	if len(names) == 0 { // a group, or the subscription itself
		return posture.Global, part[len(part)-1]
	}
	if group == "" {
		group = posture.Global
	}
	return group, strings.Join(names, "/")
}

// verbOf returns how an operation ends: write, delete or action.
func verbOf(operation string) string {
	verb := strings.ToLower(operation[strings.LastIndex(operation, "/")+1:])
	switch verb {
	case "write", "delete":
		return verb
	}
	return "action"
}

// A level is a resource, or one that it is part of.
type level struct {
	id   string
	kind string // microsoft.sql/servers/databases
}

// levels returns the resource of an id and those that it is part of, the
// innermost first.
func levels(id string) []level {
	id = "/" + strings.Trim(id, "/")
	part := strings.Split(id[1:], "/")
	if len(part) < 2 || !strings.EqualFold(part[0], "subscriptions") || part[1] == "" {
		return nil
	}
	var all []level
	namespace, kind := "", "microsoft.resources/subscriptions"
	all = append(all, level{"/" + strings.Join(part[:2], "/"), kind})
	for i := 2; i+1 < len(part); i += 2 {
		key, value := strings.ToLower(part[i]), part[i+1]
		if value == "" {
			return nil
		}
		switch {
		case key == "providers":
			namespace, kind = strings.ToLower(value), ""
			continue
		case namespace == "" && key == "resourcegroups":
			kind = "microsoft.resources/subscriptions/resourcegroups"
		case namespace == "":
			return nil
		case kind == "":
			kind = namespace + "/" + key
		default:
			kind += "/" + key
		}
		all = append(all, level{"/" + strings.Join(part[:i+2], "/"), kind})
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}
