package resource

import (
	"context"
	"errors"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
)

// A Cloud implements the naming rules of one cloud.
type Cloud interface {
	// Identify returns the identity of an item of a type. It fails when the item
	// has no name.
	Identify(t *Type, item *Item, v Vars) (Identity, error)

	// Ref returns the id of the entity that a value refers to by ARN, id, link or
	// bare name. The entity has one of the types. Ref returns "" when the value
	// refers to no such entity.
	Ref(v Vars, to []posture.EntityType, value string) posture.EntityID

	// RequestName returns the name by which calls request the resource that an
	// event names. The event may name a part of the resource or spell its name
	// differently. RequestName returns "" when the event does not name a resource
	// of the type.
	RequestName(t *Type, v Vars, name string) string
}

// An Identity holds the names of an entity.
type Identity struct {
	ID      posture.EntityID
	Name    string // the last part of the id
	Display string // the name that the user interface shows
	XID     string // the cloud's full name, such as an ARN
	Region  string
}

// A Context is the environment in which entities are built.
type Context struct {
	Vars
	Cloud Cloud
}

// Begin creates the entity of an item and adds the properties, edges and tags that
// the item itself holds. It fails when the item cannot be identified.
func (t *Type) Begin(ctx context.Context, item *Item, c Context, caller Caller) (*Builder, Context, error) {
	item = item.indexed() // many expressions read its members
	identity, err := t.identify(item, c)
	if err != nil {
		return nil, c, err
	}
	b := &Builder{Entity: posture.Entity{
		ID: identity.ID, Type: t.Type, Name: identity.Display, XID: identity.XID, Account: c.Account, Provider: t.Type.Provider(),
		Region: identity.Region, Service: t.Type.Service(),
	}}
	c.Name = identity.Name
	if item.None { // it stands for the absence of resources: its only member, id, is the XID
		item = &Item{Result: gjson.Parse(`{"id":` + string(gjson.AppendJSONString(nil, identity.XID)) + `}`)}
	}
	t.Answer.Put(ctx, b, item, item, c, caller) // the answer is the item itself
	// A declared display name replaces that of Identify.
	if display := t.Display.Text(item, c.Vars); display != "" {
		b.Name = display
	}
	return b, c, nil
}

// Finish sets the names of an entity that come from the responses of calls.
func (t *Type) Finish(b *Builder, item *Item, v Vars) {
	if len(t.Display.usedCalls()) > 0 {
		if display := t.Display.Text(item, v); display != "" {
			b.Name = display
		}
	}
	if len(t.XID.usedCalls()) > 0 {
		if xid := t.XID.Text(item, v); xid != "" {
			b.XID = xid
		}
	}
}

func (t *Type) identify(item *Item, c Context) (Identity, error) {
	if item.Result.Raw == "" {
		return Identity{}, errors.New("the item is empty")
	}
	return c.Cloud.Identify(t, item, c.Vars)
}

// Put adds the declared properties, edges and tags of an answer to the entity of an item.
// The answer is the item itself, or the response of a further call about the item. When a
// function fails, its properties and edges are unknown.
func (a *Answer) Put(ctx context.Context, b *Builder, answer, item *Item, c Context, caller Caller) {
	for i := range a.Properties {
		a.Properties[i].put(b, answer, c.Vars)
	}
	for i := range a.Edges {
		a.Edges[i].put(b, answer, c)
	}
	if len(a.Tags) > 0 {
		putTags(b, a.Tags.Eval(answer, c.Vars))
	}
	for i := range a.Derive {
		d := &a.Derive[i]
		value := answer.Result
		if !d.At.IsZero() {
			value = d.At.Eval(answer, c.Vars)
			if !value.Exists() || value.Type == gjson.Null {
				if d.function.Absent != nil {
					d.function.Absent(b)
				}
				continue
			}
		}
		in := FunctionInput{Context: c, Ctx: ctx, Value: value, Item: item, Caller: caller}
		in.Items = func(t posture.EntityType) ([]Item, error) { return caller.Items(ctx, t) }
		if err := d.function.Apply(in, b); err != nil {
			b.Unread(err, d.function.names()...)
		}
	}
}

// PutAbsent adds the values that properties have when the call found nothing, which means that nothing
// is configured.
func (a *Answer) PutAbsent(b *Builder) {
	for i := range a.Properties {
		if a.Properties[i].NotEmpty { // is false without a value, also if it declares no Absent
			b.Flag(a.Properties[i].Name, false)
			continue
		}
		a.Properties[i].putAbsent(b)
	}
	for i := range a.Derive {
		if absent := a.Derive[i].function.Absent; absent != nil {
			absent(b)
		}
	}
}

// putTags adds tags: an object, or a list of objects with a key and a value.
func putTags(b *Builder, tags gjson.Result) {
	tags.ForEach(func(key, value gjson.Result) bool {
		if !value.IsObject() {
			b.Tag(key.String(), value.String())
			return true
		}
		name, text := first(value, "Key", "key", "TagKey"), first(value, "Value", "value", "TagValue")
		if name.Exists() {
			b.Tag(name.String(), text.String())
		}
		return true
	})
}

// first returns the first of the named members that exists.
func first(object gjson.Result, names ...string) gjson.Result {
	for _, name := range names {
		if value := object.Get(name); value.Exists() {
			return value
		}
	}
	return gjson.Result{}
}
