package resource

import (
	"context"
	"errors"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
)

// A Cloud knows how one cloud names its resources.
type Cloud interface {
	// Identify returns who an item of a type is. It fails when the item has no
	// name.
	Identify(t *Type, item *Item, v Vars) (Identity, error)

	// Ref returns the id of the entity that a value names: an ARN, an id, a link or
	// a bare name. The entity is of one of the types. It returns "" when the value
	// names none.
	Ref(v Vars, to []posture.EntityType, value string) posture.EntityID

	// Asked returns the name by which calls ask for what an event names, which may
	// be a part of the resource or spell it differently. It returns "" when the
	// event does not name a resource of the type.
	Asked(t *Type, v Vars, name string) string
}

// An Identity is who an entity is.
type Identity struct {
	ID      posture.EntityID
	Name    string // the last part of the id
	Display string // what people call it
	XID     string // the cloud's own long name
	Region  string
}

// A Context is where entities are built.
type Context struct {
	Vars
	Cloud Cloud
}

// Begin starts the entity of an item with what the item itself tells.
func (t *Type) Begin(ctx context.Context, item *Item, c Context, caller Caller) (*Builder, Context, error) {
	who, err := t.identify(item, c)
	if err != nil {
		return nil, c, err
	}
	b := &Builder{Entity: posture.Entity{
		ID: who.ID, Type: t.Type, Name: who.Display, XID: who.XID, Account: c.Account, Provider: t.Type.Provider(),
		Region: who.Region, Service: t.Type.Service(),
	}}
	c.Name = who.Name
	if item.None { // nothing is known of it but its name
		item = &Item{Result: gjson.Parse(`{"id":` + string(gjson.AppendJSONString(nil, who.XID)) + `}`)}
	}
	t.Answer.Put(ctx, b, item, item, c, caller)
	if display := t.Display.Text(item, c.Vars); display != "" {
		b.Name = display
	}
	return b, c, nil
}

// Finish adds to an entity what its identity takes from the answers of calls.
func (t *Type) Finish(b *Builder, item *Item, v Vars) {
	if len(t.Display.answers()) > 0 {
		if display := t.Display.Text(item, v); display != "" {
			b.Name = display
		}
	}
	if len(t.XID.answers()) > 0 {
		if xid := t.XID.Text(item, v); xid != "" {
			b.XID = xid
		}
	}
}

func (t *Type) identify(item *Item, c Context) (Identity, error) {
	if item.Result.Raw == "" {
		return Identity{}, errors.New("an item without content")
	}
	return c.Cloud.Identify(t, item, c.Vars)
}

// Put adds what an answer tells. The item is that of the list; of an answer of a
// further call it is the answer's parent. What a function cannot tell, because a
// call that it makes fails, is unknown.
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
		}
		if (!value.Exists() || value.Type == gjson.Null) && !d.At.IsZero() {
			if d.function.Absent != nil {
				d.function.Absent(b)
			}
			continue
		}
		in := FunctionInput{Context: c, Ctx: ctx, Value: value, Item: item, Caller: caller}
		in.Items = func(t posture.EntityType) ([]Item, error) { return caller.Items(ctx, t) }
		if err := d.function.Apply(in, b); err != nil {
			b.Unread(err, d.function.names()...)
		}
	}
}

// PutAbsent adds what it means that there is nothing to tell.
func (a *Answer) PutAbsent(b *Builder) {
	for i := range a.Properties {
		if a.Properties[i].Some {
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

// first returns the first member of these names.
func first(object gjson.Result, names ...string) gjson.Result {
	for _, name := range names {
		if value := object.Get(name); value.Exists() {
			return value
		}
	}
	return gjson.Result{}
}
