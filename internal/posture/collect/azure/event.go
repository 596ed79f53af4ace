package azure

import (
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A Ref names what an event says may have changed.
type Ref struct {
	Type posture.EntityType
	// Name is what the type's Get takes: the id of the resource or directory
	// object.
	Name string
	// Entity is the entity that is gone when Get says so; "" when the event does
	// not say which entities of the type it is about, and Get emits several.
	Entity posture.EntityID
}

// Affected returns what to read again after an operation of the activity log,
// such as Microsoft.Sql/servers/firewallRules/write, on the resource of an id. It
// also knows events of Event Grid and of the directory's audit log. An operation
// on a part of a resource is one on the resource.
func Affected(account posture.AccountID, operation, id string) []Ref {
	s := &session{account: account}
	var all []Ref
	for _, c := range collectors {
		if !concerns(c.Declaration, operation) {
			continue
		}
		k, table := kindByType[c.Type]
		switch {
		case !table && c.Service == graphService:
			all = append(all, Ref{c.Type, id, s.global(c.Type, id)})
		case !table:
			all = append(all, Ref{Type: c.Type, Name: id})
		case strings.Contains(operation, "/diagnosticSettings/") && extends(id) && (c.Type == subscriptionType || c.Type == diagnosticSettingType):
			// A setting of a resource is none of the subscription's.
		default:
			if own, ok := within(id, k.arm); ok {
				all = append(all, Ref{c.Type, own, s.id(c.Type, own)})
			}
		}
	}
	return all
}

// concerns reports whether an operation is one of a type's events.
func concerns(d collect.Declaration, operation string) bool {
	for _, e := range d.Events {
		for _, name := range e.Names {
			if strings.EqualFold(operation, e.Source+"/"+name) || strings.EqualFold(operation, e.Source+"."+name) ||
				e.Source == entraAudit && strings.EqualFold(operation, name) {
				return true
			}
		}
	}
	return false
}

// extends reports whether a resource belongs to another one of another provider.
func extends(id string) bool {
	a, ok := parseID(id)
	return ok && len(a.names) > len(a.types)
}
