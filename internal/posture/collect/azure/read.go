package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// list emits all resources of the kind.
func (k *kind) list(ctx context.Context, s *session, emit collect.Emit) error {
	var any atomic.Bool
	err := k.each(ctx, s, func(ctx context.Context, it item) error {
		any.Store(true)
		return k.emit(ctx, s, it, emit)
	})
	if k.none != "" && !any.Load() && (err == nil || errors.Is(err, collect.ErrOff)) {
		return k.emit(ctx, s, k.nothing(s), emit)
	}
	return err
}

// nothing is the item that stands for there being none.
func (k *kind) nothing(s *session) item {
	id := "/subscriptions/" + string(s.account) + "/providers/" + k.arm + "/" + k.none
	return item{Result: gjson.Parse(`{}`), id: id}
}

// get emits the one resource with the given id, or that the given id is part of.
func (k *kind) get(ctx context.Context, s *session, name string, emit collect.Emit) error {
	it, err := k.one(ctx, s, name)
	if k.none != "" && errors.Is(err, collect.ErrGone) {
		return k.list(ctx, s, emit) // others may be there in its place
	}
	if err != nil {
		return err
	}
	return k.emit(ctx, s, it, emit)
}

// one reads one resource.
func (k *kind) one(ctx context.Context, s *session, name string) (item, error) {
	id, ok := within(name, k.arm)
	if !ok {
		return item{}, fmt.Errorf("%.300q is not the id of a %s", name, k.typ)
	}
	j, err := s.get(ctx, s.arm(id+k.query, k.version), k.permission())
	if err != nil {
		return item{}, err
	}
	it := item{Result: j, id: cmp.Or(j.Get("id").String(), id), location: region(j)}
	if it.location == "" && k.in != "" { // it is where what it is part of is
		whole, err := kindOf(k.in).one(ctx, s, id)
		if err != nil {
			return item{}, err
		}
		it.location = whole.location
	}
	return it, nil
}

// inTurn visits all resources of the kind one after another.
func (k *kind) inTurn(ctx context.Context, s *session, visit func(item) error) error {
	var mu sync.Mutex
	return k.each(ctx, s, func(_ context.Context, it item) error {
		mu.Lock()
		defer mu.Unlock()
		return visit(it)
	})
}

// each visits all resources of the kind. Where they are parts of others, what
// cannot be read of one does not keep the rest from being read.
func (k *kind) each(ctx context.Context, s *session, visit func(context.Context, item) error) error {
	if k.in == "" {
		address := s.arm("/subscriptions/"+string(s.account)+k.from()+k.query, k.version)
		return s.pages(ctx, address, k.permission(), k.shared, func(page gjson.Result) error {
			return parallel(ctx, items(page, item{}), visit)
		})
	}
	var f collect.Failures
	parent := kindOf(k.in)
	err := parent.each(ctx, s, func(ctx context.Context, whole item) error {
		var stop error
		err := k.parts(ctx, s, whole, func(it item) error {
			stop = visit(ctx, it)
			return stop
		})
		if stop != nil {
			return stop
		}
		return f.Note(err)
	})
	if err != nil {
		return err
	}
	return f.Err()
}

// from returns the path to the list.
func (k *kind) from() string {
	if k.path != "" || k.typ == subscriptionType {
		return k.path
	}
	if k.in == "" {
		return "/providers/" + k.arm
	}
	return "/" + strings.TrimPrefix(k.arm, kindOf(k.in).arm+"/")
}

// parts visits the resources of the kind that are parts of another.
func (k *kind) parts(ctx context.Context, s *session, whole item, visit func(item) error) error {
	if k.of != nil && !k.of(whole.Result) {
		return nil
	}
	each := func(page gjson.Result) error {
		for _, it := range items(page, whole) {
			if err := visit(it); err != nil {
				return err
			}
		}
		return nil
	}
	if k.inside != "" {
		return each(gjson.Parse(`{"value":` + cmp.Or(whole.Get(k.inside).Raw, "[]") + `}`))
	}
	err := s.pages(ctx, s.arm(whole.id+k.from(), k.version), k.permission(), k.shared, each)
	if errors.Is(err, collect.ErrGone) || errors.Is(err, collect.ErrOff) {
		return nil // it was removed meanwhile, or cannot have any
	}
	return err
}

// emit reads the rest of a resource and passes it on.
func (k *kind) emit(ctx context.Context, s *session, it item, emit collect.Emit) error {
	it.id = k.usual(it.id)
	r := k.begin(s, it)
	if r == nil {
		return fmt.Errorf("Azure lists a resource without an id: %.100s", it.Raw) //nolint:staticcheck // a name
	}
	for _, row := range k.rows {
		row.put(r, it.Result)
	}
	for _, l := range k.links {
		l.put(s, r, it.Result)
	}
	if k.also != nil {
		if err := k.also(ctx, s, it.Result, r); err != nil {
			return err
		}
	}
	for _, more := range k.details {
		if more.when != nil && !more.when(it.Result) {
			continue
		}
		if err := more.read(ctx, s, it, r); err != nil {
			return err
		}
	}
	for _, t := range k.has {
		err := collect.Detail(r, func() error {
			part := kindOf(t)
			return part.parts(ctx, s, it, func(part item) error {
				r.Edge("HAS", s.id(t, part.id))
				return nil
			})
		}, "HAS")
		if err != nil {
			return err
		}
	}
	return emit(r)
}

// usual returns an id as calls spell it.
func (k *kind) usual(id string) string {
	if k.odd != "" {
		id = "/" + strings.TrimPrefix(strings.Replace(id, "/"+k.odd+"/", "/"+k.arm+"/", 1), "/")
	}
	return id
}

// begin starts the entity of a resource, or returns nil when it has no id.
func (k *kind) begin(s *session, it item) *resource {
	id, ok := parseID(it.id)
	if !ok {
		return nil
	}
	r := collect.NewResource(k.typ, s.account, id.place(), id.name())
	r.Edge(k.holder().Label, k.held(s, it.id, id))
	r.XID, r.Region = it.id, cmp.Or(it.location, posture.Global)
	r.Name = cmp.Or(it.Get("name").String(), path.Base(it.id))
	r.Name = r.Name[strings.LastIndex(r.Name, "/")+1:]
	it.Get("tags").ForEach(func(name, value gjson.Result) bool {
		r.Tag(name.String(), value.String())
		return true
	})
	return r
}

// errVanished says that there was nothing where every such resource has
// something: it was removed while it was read.
var errVanished = errors.New("it went away while it was read")

// read adds what a further call tells. A service that is not in use has nothing
// to tell, and that is known.
func (d detail) read(ctx context.Context, s *session, it item, r *resource) error {
	var names []string
	for _, row := range d.rows {
		names = append(names, row.Name)
	}
	for _, l := range d.links {
		names = append(names, l.Label)
	}
	return collect.Detail(r, func() error {
		j, err := s.get(ctx, s.arm(it.id+d.path, d.version), d.permission)
		if errors.Is(err, collect.ErrGone) {
			return errVanished
		}
		if err != nil && !errors.Is(err, collect.ErrOff) {
			return err
		}
		for _, row := range d.rows {
			row.put(r, j)
		}
		for _, l := range d.links {
			l.put(s, r, j)
		}
		return nil
	}, names...)
}

// items returns the resources of a page, or the one that the page is.
func items(page gjson.Result, whole item) []item {
	values := page.Get("value")
	if !values.IsArray() {
		if page.Get("id").String() == "" {
			return nil
		}
		return []item{{page, page.Get("id").String(), cmp.Or(region(page), whole.location)}}
	}
	var all []item
	values.ForEach(func(_, v gjson.Result) bool {
		all = append(all, item{v, v.Get("id").String(), cmp.Or(region(v), whole.location)})
		return true
	})
	return all
}

// region returns where a resource is, in the spelling that has no spaces.
func region(j gjson.Result) string {
	return strings.ToLower(strings.ReplaceAll(j.Get("location").String(), " ", ""))
}

// parallel visits some items at a time.
func parallel(ctx context.Context, all []item, visit func(context.Context, item) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for _, it := range all {
		group.Go(func() error { return visit(ctx, it) })
	}
	return group.Wait()
}
