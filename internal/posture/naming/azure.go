package naming

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// Azure converts the ids by which Azure names resources to the ids of entities, and back.
// Types that are declared with arm have the ids of Resource Manager; the others have the
// names that they declare, mostly object ids of Microsoft Graph. It implements
// [resource.Cloud].
type Azure struct{ Catalog *resource.Catalog }

const azureSubscription posture.EntityType = "Azure.Subscription.Subscription"

// Identify implements [resource.Cloud].
func (n Azure) Identify(t *resource.Type, item *resource.Item, v resource.Vars) (resource.Identity, error) {
	if t.ARM == "" {
		return n.identifyObject(t, item, v)
	}
	id := withCallSpelling(t, item.Get("id").String())
	if item.None { // the placeholder for a type without resources has an id of its own
		id = "/subscriptions/" + string(v.Account) + "/providers/" + t.ResourceType() + "/" + t.None
	}
	a, ok := ParseARMID(id)
	if !ok {
		return resource.Identity{}, fmt.Errorf("Azure lists a %s without an id: %.100s", t.Type, item.Raw) //nolint:staticcheck // a name
	}
	display := cmp.Or(item.Get("name").String(), path.Base(id))
	return resource.Identity{
		ID: t.Type.ID(v.Account, a.Place(), a.Name()), Name: a.Name(), XID: id, Region: location(item),
		Display: display[strings.LastIndex(display, "/")+1:],
	}, nil
}

// withCallSpelling returns an id with the resource type in the spelling that API calls use.
func withCallSpelling(t *resource.Type, id string) string {
	if t.Spelled == "" || id == "" {
		return id
	}
	return "/" + strings.TrimPrefix(strings.Replace(id, "/"+t.Spelled+"/", "/"+t.ResourceType()+"/", 1), "/")
}

// identifyObject identifies an object that is not in Resource Manager, by its declared
// name.
func (n Azure) identifyObject(t *resource.Type, item *resource.Item, v resource.Vars) (resource.Identity, error) {
	name := bareName(t.Name.Text(item, v))
	if name == "" {
		return resource.Identity{}, fmt.Errorf("Azure lists a %s without %s: %.100s", t.Type, t.Name, item.Raw) //nolint:staticcheck // a name
	}
	return resource.Identity{
		ID: t.Type.ID(v.Account, posture.Global, name), Name: name, Display: name, XID: cmp.Or(t.XID.Eval(item, v).String(), name),
		Region: cmp.Or(t.Region.Text(item, v), posture.Global),
	}, nil
}

// location returns the location of a resource, or of its nearest parent that has one.
func location(item *resource.Item) string {
	for ; item != nil; item = item.Parent {
		if where := bareName(item.Get("location").String()); where != "" {
			return where
		}
	}
	return posture.Global
}

// bareName returns a name in the form of entity ids. Azure spells locations with and
// without spaces.
func bareName(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, " ", ""))
}

// Ref implements [resource.Cloud]. The value is the id of a resource or of a child
// resource, the object id of a principal or directory object, or the name of a
// location.
func (n Azure) Ref(v resource.Vars, to []posture.EntityType, value string) posture.EntityID {
	for _, name := range to {
		t := n.Catalog.Type(name)
		if t == nil {
			continue
		}
		if t.ARM == "" {
			if bare := bareName(value); bare != "" && !strings.Contains(bare, "/") {
				return t.Type.ID(v.Account, posture.Global, bare)
			}
			continue
		}
		if ancestor, ok := Within(value, t.ResourceType()); ok {
			a, _ := ParseARMID(ancestor)
			account := v.Account // for ids without a subscription, such as those of built-in roles
			if a.Subscription != "" {
				account = posture.AccountID(strings.ToLower(a.Subscription))
			}
			return t.Type.ID(account, a.Place(), a.Name())
		}
		// A resource whose id names no subscription, such as a built-in role, is in the subscription that
		// is read, because Azure lists it there.
		if a, ok := ParseARMID(value); ok && name == azureSubscription && a.Subscription == "" {
			return t.Type.ID(v.Account, posture.Global, string(v.Account))
		}
	}
	return ""
}

// RequestName implements [resource.Cloud]. Events may name a child resource; RequestName returns
// its parent that has the type.
func (n Azure) RequestName(t *resource.Type, _ resource.Vars, name string) string {
	if t.ARM == "" {
		return strings.ToLower(name)
	}
	id, _ := Within(name, t.ResourceType())
	return id
}
