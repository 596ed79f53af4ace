package naming

import (
	"fmt"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// AWS maps between AWS's names of resources and entities, using the ARN formats of the
// declarations. It implements [resource.Cloud].
type AWS struct{ Catalog *resource.Catalog }

// Identify implements [resource.Cloud].
func (n AWS) Identify(t *resource.Type, item *resource.Item, v resource.Vars) (resource.Identity, error) {
	name := t.Name.Text(item, v)
	if item.None { // the placeholder for a type without resources
		name = t.None
	}
	if name == "" {
		return resource.Identity{}, fmt.Errorf("AWS lists a %s without %s: %.100s", t.Type, t.Name, item.Raw)
	}
	if a, ok := resource.ParseARN(name); ok {
		if short, ok := t.ARN.Match(a); ok {
			name = short
		}
	}
	v.Name = name
	identity := resource.Identity{ID: t.Type.ID(v.Account, locationOf(t, v.Region), name), Name: name, Display: name, Region: v.Region}
	identity.XID = t.XID.Eval(item, v).String()
	if identity.XID == "" && len(t.ARN) > 0 {
		identity.XID = t.ARN[0].Format(v, name)
	}
	return identity, nil
}

// RequestName implements [resource.Cloud].
func (n AWS) RequestName(_ *resource.Type, _ resource.Vars, name string) string { return name }

// locationOf returns the location in the entity ids of a type that is read in a region. A
// declared place is always global.
func locationOf(t *resource.Type, region string) string {
	if t.Place != "" || t.Scope == resource.PerAccount {
		return posture.Global
	}
	return region
}

// Ref implements [resource.Cloud]. A bare name refers to a resource in the same account
// and region. If there are several types, the prefix of an EC2 id selects one.
func (n AWS) Ref(v resource.Vars, to []posture.EntityType, value string) posture.EntityID {
	if value == "" {
		return ""
	}
	a, isARN := resource.ParseARN(value)
	for _, name := range to {
		t := n.Catalog.Type(name)
		if t == nil {
			continue
		}
		if prefix := t.IDPrefix(); !isARN && prefix != "" && len(to) > 1 && strings.HasPrefix(value, prefix) {
			return t.Type.ID(v.Account, locationOf(t, v.Region), value)
		}
		if !isARN {
			if short, ok := t.ARN.MatchResource(value); ok {
				return t.Type.ID(v.Account, locationOf(t, v.Region), short)
			}
			continue
		}
		if short, ok := t.ARN.Match(a); ok {
			return n.foreign(t, a, v, short)
		}
	}
	if isARN || len(to) == 0 || strings.HasPrefix(value, "alias/") {
		return ""
	}
	if t := n.Catalog.Type(to[0]); t != nil {
		if len(to) > 1 && t.IDPrefix() != "" {
			return "" // an id of another type
		}
		return t.Type.ID(v.Account, locationOf(t, v.Region), value)
	}
	return to[0].ID(v.Account, v.Region, value)
}

// foreign returns the entity id of an ARN, which may be in another account or region.
// An ARN without an account, such as a bucket's, and an ARN of AWS's managed policies
// are assigned to the account that is read.
func (n AWS) foreign(t *resource.Type, a resource.ARN, v resource.Vars, name string) posture.EntityID {
	account := posture.AccountID(a.Account)
	if a.Account == "" || a.Account == "aws" {
		account = v.Account
	}
	return t.Type.ID(account, locationOf(t, a.Region), name)
}
