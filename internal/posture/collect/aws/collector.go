package aws

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sync/errgroup"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

type (
	collector   = collect.Collector[*scope]
	declaration = collect.Declaration
	resource    = collect.Resource
)

// A pages function lists what there is, page by page: everything, or with names
// only the ones of these names. It returns what page returns.
type pages[T any] func(ctx context.Context, s *scope, names []string, page func([]T) error) error

// listed is a collector of what a list tells all about.
func listed[T any](d declaration, list pages[T], entity func(s *scope, item *T) *resource) collector {
	return gather(d, list, func(s *scope, items []T, emit collect.Emit) error {
		for i := range items {
			if err := emit(entity(s, &items[i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// details is how many resources of a page are looked at more closely at a time.
// The limiter keeps the pace; this keeps memory and connections in bounds.
const details = 8

// detailed is a collector of what takes more calls for each. The entity function
// returns an error only when the run is over; what it cannot read it leaves
// unknown. A nil entity is left out.
func detailed[T any](d declaration, list pages[T], entity func(ctx context.Context, s *scope, item *T) (*resource, error)) collector {
	c := collector{Declaration: d}
	c.List = func(ctx context.Context, s *scope, emit collect.Emit) error {
		return plain(list(ctx, s, nil, func(items []T) error { return closely(ctx, s, items, entity, emit) }))
	}
	c.Get = func(ctx context.Context, s *scope, name string, emit collect.Emit) error {
		return one(name, emit, func(emit collect.Emit) error {
			return list(ctx, s, []string{name}, func(items []T) error { return closely(ctx, s, items, entity, emit) })
		})
	}
	return c
}

func closely[T any](ctx context.Context, s *scope, items []T, entity func(context.Context, *scope, *T) (*resource, error), emit collect.Emit) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(details)
	for i := range items {
		group.Go(func() error {
			r, err := entity(ctx, s, &items[i])
			if err != nil || r == nil {
				return err
			}
			return emit(r)
		})
	}
	return group.Wait()
}

// gather is a collector whose pages become entities by one function.
func gather[T any](d declaration, list pages[T], entities func(s *scope, items []T, emit collect.Emit) error) collector {
	return collector{
		Declaration: d,
		List: func(ctx context.Context, s *scope, emit collect.Emit) error {
			return plain(list(ctx, s, nil, func(items []T) error { return entities(s, items, emit) }))
		},
		Get: func(ctx context.Context, s *scope, name string, emit collect.Emit) error {
			return one(name, emit, func(emit collect.Emit) error {
				return list(ctx, s, []string{name}, func(items []T) error { return entities(s, items, emit) })
			})
		},
	}
}

// single is a collector of what an account or region has exactly one of. When
// nothing of it can be read it is still there, with unknown properties: rules
// must not take it for absent.
func single(d declaration, read func(ctx context.Context, s *scope) (*resource, error)) collector {
	list := func(ctx context.Context, s *scope, emit collect.Emit) error {
		r, err := read(ctx, s)
		if r != nil {
			if emitErr := emit(r); emitErr != nil {
				return emitErr
			}
		}
		return plain(err)
	}
	return collector{
		Declaration: d,
		List:        list,
		Get:         func(ctx context.Context, s *scope, _ string, emit collect.Emit) error { return list(ctx, s, emit) },
	}
}

// errFound stops a list that has found what it was for.
var errFound = errors.New("found")

// one passes on the entity of one name. Calls that cannot ask for a single one
// list all until it comes by.
func one(name string, emit collect.Emit, list func(collect.Emit) error) error {
	found := false
	match := func(r *resource) error {
		if found || !named(r, name) {
			return nil
		}
		found = true
		if err := emit(r); err != nil {
			return err
		}
		return errFound
	}
	err := list(collect.Emit(match).Serial())
	switch {
	case found && (err == nil || errors.Is(err, errFound)):
		return nil
	case err != nil:
		return plain(err)
	}
	return collect.ErrGone
}

// named reports whether an entity has this name, the last part of its id.
func named(r *resource, name string) bool {
	for _, place := range []string{r.Region, posture.Global} {
		if r.ID == r.Type.ID(r.Account, place, name) {
			return true
		}
	}
	return false
}

// A pager is one of the SDK's paginators.
type pager[O, Opt any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Opt)) (*O, error)
}

// each passes on every page.
func each[O, Opt any](ctx context.Context, p pager[O, Opt], page func(*O) error) error {
	for p.HasMorePages() {
		out, err := p.NextPage(ctx)
		if err != nil {
			return err
		}
		if err := page(out); err != nil {
			return err
		}
	}
	return nil
}

// detail reads more of a resource; see [collect.Resource.Detail].
func detail(r *resource, names []string, f func() error) error {
	return collect.Detail(r, func() error { return plain(f()) }, names...)
}

// resource begins an entity of the scope's region.
func (s *scope) resource(t posture.EntityType, name string) *resource {
	return collect.NewResource(t, s.account, s.region, name)
}

// id returns the id of an entity of the scope's region.
func (s *scope) id(t posture.EntityType, name *string) posture.EntityID {
	return s.at(t, s.region, aws.ToString(name))
}

// global returns the id of an entity of no region.
func (s *scope) global(t posture.EntityType, name string) posture.EntityID {
	return s.at(t, posture.Global, name)
}

func (s *scope) at(t posture.EntityType, region, name string) posture.EntityID {
	if name == "" {
		return ""
	}
	return t.ID(s.account, region, name)
}

// arn returns the resource name of something in the account and region.
func (s *scope) arn(service, name string) string {
	region := s.region
	if region == posture.Global {
		region = ""
	}
	return "arn:" + s.partition.name + ":" + service + ":" + region + ":" + string(s.account) + ":" + name
}

// set adds a list of strings whose order means nothing.
func set(r *resource, name string, values []string) *resource {
	values = slices.Clone(values)
	slices.Sort(values)
	return r.Texts(name, slices.Compact(values)...)
}

// when adds a time.
func when(r *resource, name string, t *time.Time) *resource {
	if t == nil || t.IsZero() {
		return r
	}
	return r.Text(name, t.UTC().Format(time.RFC3339))
}

// number adds a number that may be absent.
func number[N int32 | int64](r *resource, name string, n *N) *resource {
	if n == nil {
		return r
	}
	return r.Number(name, int64(*n))
}

// strs returns enumeration values as strings.
func strs[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// limit returns the largest page there is, or nothing when names are given:
// many calls take one or the other.
func limit(names []string, n int32) *int32 {
	if len(names) > 0 {
		return nil
	}
	return &n
}

// whole reads all there is to know of a resource that was listed by name alone.
// When it is gone by now there is no entity.
func whole(r *resource, names []string, f func() error) (*resource, error) {
	gone := false
	err := detail(r, names, func() error {
		err := f()
		gone = errors.Is(err, collect.ErrGone)
		return err
	})
	if gone || err != nil {
		return nil, err
	}
	return r, nil
}
