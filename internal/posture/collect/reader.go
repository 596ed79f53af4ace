package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// A Reader reads declared types of one account in one region. It implements what
// the clouds have in common: listing, pagination, completing items and relating
// entities.
type Reader struct {
	Catalog   *resource.Catalog
	Transport Transport
	Context   resource.Context
	// Answers caches the responses that several types need; nil disables caching.
	Answers *Answers
	// Earlier has responses of earlier runs; nil if there are none.
	Earlier *EarlierAnswers

	cache *callCache // cache of the current list
}

// concurrency is the number of items of a page that are completed concurrently.
// It bounds memory and connections; the limiter bounds the rate.
const concurrency = 8

// Unit returns the unit that reads a type.
func (r *Reader) Unit(t *resource.Type, service string) Unit {
	u := Unit{
		Type: t.Type, Region: r.Context.Region, Service: service,
		List: func(ctx context.Context, emit Emit) error { return r.List(ctx, t, emit.Serial()) },
		Get:  func(ctx context.Context, name string, emit Emit) error { return r.Get(ctx, t, name, emit.Serial()) },
	}
	if r.Answers != nil {
		u.Reserve = func() func() { return r.Answers.reserve(r.Context.Region, r.Catalog.Uses(t)) }
	}
	return u
}

// List emits every resource of a type.
func (r *Reader) List(ctx context.Context, t *resource.Type, emit Emit) error {
	list := r.begin()
	var found atomic.Bool
	err := list.stages(ctx, t.List, nil, func(ctx context.Context, items []resource.Item) error {
		found.Store(true)
		return list.complete(ctx, t, items, emit)
	})
	if t.None != "" && !found.Load() && (err == nil || errors.Is(err, ErrOff)) {
		// Emit the entity that represents the absence of resources.
		return list.complete(ctx, t, []resource.Item{{Result: gjson.Parse("{}"), None: true}}, emit)
	}
	return err
}

// begin returns a reader with an empty cache for one list.
func (r *Reader) begin() *Reader {
	list := *r
	list.cache = new(callCache)
	return &list
}

// Get emits the resource of a name, or fails with ErrGone. For a gathered type, whose
// entities are made from several resources each, it emits all entities to which the
// resource of the name contributes.
func (r *Reader) Get(ctx context.Context, t *resource.Type, name string, emit Emit) error {
	var found, emitted atomic.Bool // the parts of a list are visited concurrently
	emitFound := func(b *Resource) error {
		emitted.Store(true)
		return emit(b)
	}
	list := r.begin()
	if t.Gathered && t.Get == nil {
		return list.List(ctx, t, emit)
	}
	requestName := name
	if !t.Gathered {
		requestName = r.Context.Cloud.RequestName(t, r.Context.Vars, name)
	}
	if requestName == "" {
		return notNamed(t, name)
	}
	id := r.Context.Cloud.Ref(r.Context.Vars, []posture.EntityType{t.Type}, requestName)
	pick := func(ctx context.Context, items []resource.Item) error {
		if t.Gathered {
			return list.complete(ctx, t, items, emitFound)
		}
		for i := range items {
			item := &items[i]
			identity, err := r.Context.Cloud.Identify(t, item, r.Context.Vars)
			if err != nil {
				continue
			}
			if identity.Name != requestName && identity.ID != id && !strings.EqualFold(identity.XID, requestName) {
				continue
			}
			if !found.CompareAndSwap(false, true) {
				continue // another visit is completing an item with this name; returning errFound here would cancel it
			}
			// The region of a child may be that of its parent, which is not known when the child was read by its name.
			if identity.Region == posture.Global && t.In != "" && item.Parent == nil {
				// The name of a child contains the name of its parent.
				if item.Parent, err = list.itemNamed(ctx, r.Catalog.Type(t.In), name); err != nil {
					return err
				}
			}
			if err := list.complete(ctx, t, items[i:i+1], emitFound); err != nil {
				return err
			}
			return errFound
		}
		return nil
	}
	err := list.find(ctx, t, requestName, pick)
	switch {
	case emitted.Load() && (err == nil || errors.Is(err, errFound)):
		return nil
	case t.None != "" && errors.Is(err, ErrGone):
		return r.List(ctx, t, emit) // the list may have a placeholder entity instead
	case err != nil && !errors.Is(err, errFound):
		return err
	case t.Gathered:
		return nil // the resource contributes to no entity
	}
	return ErrGone // no item has the name, or a call reported that the resource was deleted
}

func notNamed(t *resource.Type, name string) error {
	return fmt.Errorf("%.300q is not the name of a %s", name, t.Type)
}

// find visits the items that may include the resource of a name.
func (r *Reader) find(ctx context.Context, t *resource.Type, name string, pick visit) error {
	if t.Get == nil {
		return r.stages(ctx, t.List, nil, pick)
	}
	single := *r
	single.Context.Name = name
	return single.stages(ctx, []resource.Stage{t.GetStage()}, nil, pick)
}

// itemNamed returns the item of the resource that has the name, or that contains a child
// resource with the name.
func (r *Reader) itemNamed(ctx context.Context, t *resource.Type, name string) (item *resource.Item, err error) {
	requestName := r.Context.Cloud.RequestName(t, r.Context.Vars, name)
	if requestName == "" {
		return nil, notNamed(t, name)
	}
	err = r.find(ctx, t, requestName, func(_ context.Context, items []resource.Item) error {
		item = &items[0] // the only one: the request is for one resource
		return nil
	})
	if err == nil && item == nil {
		err = ErrGone
	}
	return item, err
}

// errFound stops a list when the item has been found.
var errFound = errors.New("found")

// A visit processes the items of one page.
type visit func(ctx context.Context, items []resource.Item) error

// stages runs the stages of a list. Each stage is called for the items of the
// previous one; the items of the last stage are visited. When a call for one
// item fails, the other items are still visited, and the list returns an error
// at its end.
func (r *Reader) stages(ctx context.Context, stages []resource.Stage, parent *resource.Item, last visit) error {
	if len(stages) == 0 {
		return nil
	}
	s, rest := &stages[0], stages[1:]
	if s.From != "" { // start with the items of another type's list
		return r.stages(ctx, slices.Concat(r.Catalog.Type(s.From).List, rest), parent, last)
	}
	next := last
	var f Failures
	if len(rest) > 0 {
		next = func(ctx context.Context, items []resource.Item) error { return r.nextStage(ctx, rest, items, &f, last) }
	}
	if err := r.stage(ctx, s, parent, next); err != nil {
		return err
	}
	return f.Err()
}

// nextStage runs the remaining stages for the items of a page.
func (r *Reader) nextStage(ctx context.Context, rest []resource.Stage, items []resource.Item, f *Failures, last visit) error {
	s := &rest[0]
	if s.Function != "" {
		next := last
		if len(rest) > 1 {
			next = func(ctx context.Context, items []resource.Item) error {
				return r.nextStage(ctx, rest[1:], items, f, last)
			}
		}
		return r.apply(ctx, s, items, next)
	}
	if s.Batch != nil {
		for batch := range slices.Chunk(items, s.Batch.Size) {
			if err := r.batch(ctx, rest, batch, f, last); err != nil {
				return err
			}
		}
		return nil
	}
	return parallel(ctx, items, func(ctx context.Context, item *resource.Item) error {
		return r.substage(ctx, rest, item, f, last)
	})
}

// substage runs the remaining stages for one item. An error of last stops the list. For an
// error of a call, f decides whether the list continues with the other items.
func (r *Reader) substage(ctx context.Context, rest []resource.Stage, item *resource.Item, f *Failures, last visit) error {
	var visitErr atomic.Pointer[error] // first error of last, which may be called concurrently
	err := r.stages(ctx, rest, item, func(ctx context.Context, items []resource.Item) error {
		err := last(ctx, items)
		if err != nil {
			visitErr.CompareAndSwap(nil, &err)
		}
		return err
	})
	if first := visitErr.Load(); first != nil {
		return *first
	}
	return f.Note(err)
}

// batch runs the remaining stages for several items in one call.
func (r *Reader) batch(ctx context.Context, rest []resource.Stage, items []resource.Item, f *Failures, last visit) error {
	values := []byte{'['}
	for i := range items {
		if i > 0 {
			values = append(values, ',')
		}
		values = append(values, rest[0].Batch.Of.Eval(&items[i], r.Context.Vars).Raw...)
	}
	batched := *r
	batched.Context.Batch = string(append(values, ']'))
	return batched.substage(ctx, rest, items[0].Parent, f, last) // items of a page have the same parent
}

// stage makes the calls of one stage for an item, and visits the items of each page.
func (r *Reader) stage(ctx context.Context, s *resource.Stage, parent *resource.Item, next visit) error {
	switch {
	case s.Single:
		return next(ctx, []resource.Item{{Result: gjson.Parse("{}")}})
	case s.NameOnly:
		item := gjson.ParseBytes(append(gjson.AppendJSONString([]byte(`{"name":`), r.Context.Name), '}'))
		return next(ctx, []resource.Item{{Result: item}})
	case s.Function != "":
		return r.apply(ctx, s, nil, next)
	case parent != nil && !s.When.Hold(parent, r.Context.Vars):
		return nil
	case s.Call == "":
		return visitIfAny(ctx, next, itemsOf(s, parent.Result, parent, r.Context.Vars))
	}
	return r.pages(ctx, &s.Request, parent, r.Catalog.Shared(s.Call), func(answer gjson.Result) error {
		return visitIfAny(ctx, next, itemsOf(s, answer, parent, r.Context.Vars))
	})
}

// apply applies the list function of a stage to items, and visits its results. Results that the
// function returns with an error are visited too: the list is then incomplete.
func (r *Reader) apply(ctx context.Context, s *resource.Stage, items []resource.Item, next visit) error {
	results, err := r.Catalog.ListFunction(s.Function).Apply(ctx, caller{r}, items)
	return errors.Join(visitIfAny(ctx, next, results), err)
}

// visitIfAny visits items unless there are none.
func visitIfAny(ctx context.Context, next visit, items []resource.Item) error {
	if len(items) == 0 {
		return nil
	}
	return next(ctx, items)
}

// itemsOf returns the items of one page.
func itemsOf(s *resource.Stage, answer gjson.Result, parent *resource.Item, v resource.Vars) []resource.Item {
	page := resource.Item{Result: answer, Parent: parent}
	var items []resource.Item
	add := func(value gjson.Result) {
		item := resource.Item{Result: value, Parent: parent}
		if value.Type != gjson.Null && s.Where.Hold(&item, v) {
			items = append(items, item)
		}
	}
	var flatten func(gjson.Result)
	flatten = func(value gjson.Result) {
		if !value.IsArray() {
			add(value)
			return
		}
		value.ForEach(func(_, element gjson.Result) bool {
			flatten(element)
			return true
		})
	}
	if len(s.Items) == 0 {
		flatten(answer)
		return items
	}
	for _, path := range s.Items {
		path.Visit(&page, v, flatten)
	}
	return items
}

// pages makes a call for an item and visits every page. The response of a shared call, which several
// types make, is kept in Answers if another type may still need it.
func (r *Reader) pages(ctx context.Context, q *resource.Request, item *resource.Item, shared bool, visit func(gjson.Result) error) error {
	if r.Answers == nil || !shared || r.Answers.usedOnce(r.Context.Region, q.Call) {
		address, err := q.Address(item, r.Context.Vars)
		if err != nil {
			return err
		}
		return r.send(ctx, q, address, q.Input.JSON(item, r.Context.Vars), visit)
	}
	entry, err := r.cacheEntry(ctx, q, item)
	if err != nil {
		return err
	}
	for _, p := range entry.pages {
		if err := visit(p.result()); err != nil {
			return err
		}
	}
	return nil
}

// cacheEntry returns the cached response of a shared call.
func (r *Reader) cacheEntry(ctx context.Context, q *resource.Request, item *resource.Item) (*cacheEntry, error) {
	address, err := q.Address(item, r.Context.Vars)
	if err != nil {
		return nil, err
	}
	input := q.Input.JSON(item, r.Context.Vars)
	return r.Answers.read(ctx, callKey{r.Context.Region, q.Call}, address+" "+string(input), func(ctx context.Context) ([]page, error) {
		return r.readPages(ctx, q, address, input)
	})
}

// readPages makes a call and returns its pages for a cache.
func (r *Reader) readPages(ctx context.Context, q *resource.Request, address string, input []byte) (pages []page, err error) {
	err = r.send(ctx, q, address, input, func(answer gjson.Result) error {
		pages = append(pages, newPage(answer))
		return nil
	})
	return pages, err
}

// parallel visits items with limited concurrency.
func parallel(ctx context.Context, items []resource.Item, visit func(context.Context, *resource.Item) error) error {
	if len(items) == 1 {
		return visit(ctx, &items[0])
	}
	// A goroutine visits many items: a new one for each item would grow its stack each time.
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(concurrency, len(items)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(items)); i = next.Add(1) - 1 {
				if err := visit(ctx, &items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
