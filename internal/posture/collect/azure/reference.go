package azure

import (
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// id returns the entity id of a resource of the given type. Roles of Azure
// itself belong to each subscription that uses them.
func (s *session) id(t posture.EntityType, id string) posture.EntityID {
	a, ok := parseID(id)
	if !ok {
		return ""
	}
	account := s.account
	if a.subscription != "" {
		account = posture.AccountID(strings.ToLower(a.subscription))
	}
	return t.ID(account, a.place(), a.name())
}

// global returns the id of an entity of no group.
func (s *session) global(t posture.EntityType, name string) posture.EntityID {
	if name == "" {
		return ""
	}
	return t.ID(s.account, posture.Global, strings.ToLower(name))
}

// holder declares the edge that leads from a resource to what it is in.
func (k *kind) holder() collect.Edge {
	in := []posture.EntityType{resourceGroupType, subscriptionType}
	switch {
	case k.typ == subscriptionType:
		in = []posture.EntityType{tenantType}
	case k.in != "":
		in = []posture.EntityType{k.in}
	}
	return collect.Edge{Label: "IN", To: in, Doc: "What it is part of."}
}

// held returns the id of what a resource is in.
func (k *kind) held(s *session, id string, a armID) posture.EntityID {
	switch {
	case k.typ == subscriptionType:
		return s.global(tenantType, s.tenant)
	case k.in != "":
		whole, _ := within(id, kindOf(k.in).arm)
		return s.id(k.in, whole)
	case a.group != "" && k.typ != resourceGroupType:
		return s.global(resourceGroupType, a.group)
	}
	return s.global(subscriptionType, string(s.account))
}
