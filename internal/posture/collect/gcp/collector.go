package gcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

type (
	collector   = collect.Collector[*scope]
	declaration = collect.Declaration
	resource    = collect.Resource
	failures    = collect.Failures
)

// A pages function lists what there is, page by page. It returns what page
// returns.
type pages[T any] func(ctx context.Context, s *scope, page func([]T) error) error

// A reader reads one resource.
type reader[T any] func(ctx context.Context, s *scope, at spot) (T, error)

// listed is a collector of what a list tells all about.
func listed[T any](d declaration, list pages[T], get reader[T], entity func(s *scope, v T) *resource) collector {
	return collector{
		Declaration: d,
		List: func(ctx context.Context, s *scope, emit collect.Emit) error {
			return s.sorted(list(ctx, s, func(items []T) error { return emitEach(items, emit, func(v T) *resource { return entity(s, v) }) }), d.Permissions[0])
		},
		Get: func(ctx context.Context, s *scope, name string, emit collect.Emit) error {
			v, err := read(ctx, s, d, get, name)
			if err != nil {
				return err
			}
			return emitEach([]T{v}, emit, func(v T) *resource { return entity(s, v) })
		},
	}
}

// details is how many resources of a page are looked at more closely at a time.
// The limiter keeps the pace; this keeps memory and connections in bounds.
const details = 8

// detailed is a collector of what takes more calls for each. The entity function
// returns an error only when the run is over; what it cannot read it leaves
// unknown.
func detailed[T any](d declaration, list pages[T], get reader[T], entity func(ctx context.Context, s *scope, v T) (*resource, error)) collector {
	closely := func(ctx context.Context, s *scope, items []T, emit collect.Emit) error {
		return parallel(ctx, items, func(ctx context.Context, v T) error {
			r, err := entity(ctx, s, v)
			if err != nil {
				return err
			}
			return emitOne(r, emit)
		})
	}
	return collector{
		Declaration: d,
		List: func(ctx context.Context, s *scope, emit collect.Emit) error {
			return s.sorted(list(ctx, s, func(items []T) error { return closely(ctx, s, items, emit) }), d.Permissions[0])
		},
		Get: func(ctx context.Context, s *scope, name string, emit collect.Emit) error {
			v, err := read(ctx, s, d, get, name)
			if err != nil {
				return err
			}
			return closely(ctx, s, []T{v}, emit)
		},
	}
}

// read reads the one resource of a name.
func read[T any](ctx context.Context, s *scope, d declaration, get reader[T], name string) (T, error) {
	at, ok := s.find(d.Type, name)
	if !ok {
		var none T
		return none, fmt.Errorf("%.300q is not the name of a %s", name, d.Type)
	}
	v, err := get(ctx, s, at)
	return v, s.sorted(err, strings.TrimSuffix(d.Permissions[0], ".list")+".get")
}

// A search lists the resources that a filter leaves: all when it is empty.
type search[T any] func(ctx context.Context, s *scope, filter string, page func([]T) error) error

// simpleName is what a filter may be made of.
var simpleName = regexp.MustCompile(`^[a-z0-9_.-]+$`)

// searched is a collector of what can be searched by name, whatever location it
// is in: so are all resources of Compute Engine.
func searched[T any](d declaration, list search[T], entity func(s *scope, v T) *resource) collector {
	all := listed(d, func(ctx context.Context, s *scope, page func([]T) error) error { return list(ctx, s, "", page) }, nil, entity)
	all.Get = func(ctx context.Context, s *scope, name string, emit collect.Emit) error {
		at, ok := s.find(d.Type, name)
		if !ok || !simpleName.MatchString(at.name) {
			return fmt.Errorf("%.300q is not the name of a %s", name, d.Type)
		}
		return only(d.Type.ID(at.account, at.location, at.name), emit, func(emit collect.Emit) error {
			return s.sorted(list(ctx, s, `name="`+at.name+`"`, func(items []T) error {
				return emitEach(items, emit, func(v T) *resource { return entity(s, v) })
			}), d.Permissions[0])
		})
	}
	return all
}

// single is a collector of what a project has exactly one of.
func single(d declaration, entity func(ctx context.Context, s *scope) (*resource, error)) collector {
	list := func(ctx context.Context, s *scope, emit collect.Emit) error {
		r, err := entity(ctx, s)
		if err != nil {
			return s.sorted(err, d.Permissions[0])
		}
		return emitOne(r, emit)
	}
	return collector{
		Declaration: d,
		List:        list,
		Get:         func(ctx context.Context, s *scope, _ string, emit collect.Emit) error { return list(ctx, s, emit) },
	}
}

// derived is a collector of what is not a resource of its own but named by
// others. To read one is to read all until it comes by, and to read it because
// of a resource that names it is to read all there are.
func derived(d declaration, list func(ctx context.Context, s *scope, emit collect.Emit) error) collector {
	return collector{
		Declaration: d,
		List: func(ctx context.Context, s *scope, emit collect.Emit) error {
			return s.sorted(list(ctx, s, emit), d.Permissions[0])
		},
		Get: func(ctx context.Context, s *scope, name string, emit collect.Emit) error {
			if strings.HasPrefix(name, "projects/") {
				return s.sorted(list(ctx, s, emit), d.Permissions[0])
			}
			return only(d.Type.ID(s.account, posture.Global, name), emit, func(emit collect.Emit) error {
				return s.sorted(list(ctx, s, emit), d.Permissions[0])
			})
		},
	}
}

// only passes on the entity of one id.
func only(id posture.EntityID, emit collect.Emit, list func(collect.Emit) error) error {
	found := false
	match := func(r *resource) error {
		if r.ID != id || found {
			return nil
		}
		found = true
		return emit(r)
	}
	err := list(collect.Emit(match).Serial())
	if err == nil && !found {
		return collect.ErrGone
	}
	return err
}

func emitEach[T any](items []T, emit collect.Emit, entity func(T) *resource) error {
	for _, v := range items {
		if err := emitOne(entity(v), emit); err != nil {
			return err
		}
	}
	return nil
}

// emitOne passes an entity on. One that is nil is left out.
func emitOne(r *resource, emit collect.Emit) error {
	switch {
	case r == nil:
		return nil
	case r.ID == "":
		return fmt.Errorf("Google names a %s %.300q", r.Type, r.Name) //nolint:staticcheck // a name
	}
	return emit(r)
}

// parallel visits some items at a time.
func parallel[T any](ctx context.Context, items []T, visit func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(details)
	for _, v := range items {
		group.Go(func() error { return visit(ctx, v) })
	}
	return group.Wait()
}

// detail reads more of a resource; see [collect.Resource.Detail]. The permission
// is what the call takes.
func (s *scope) detail(r *resource, permission string, names []string, f func() error) error {
	return collect.Detail(r, func() error {
		err := f()
		if err == nil {
			return nil
		}
		return s.sorted(err, permission)
	}, names...)
}

// names returns the names of declared properties.
func names(all properties) []string {
	list := make([]string, len(all))
	for i, p := range all {
		list[i] = p.Name
	}
	return list
}

// set adds a list of strings whose order means nothing.
func set(r *resource, name string, values []string) *resource {
	values = slices.Clone(values)
	slices.Sort(values)
	return r.Texts(name, slices.Compact(values)...)
}

// when adds a time. Services write them with and without fractions and offsets.
func when(r *resource, name, value string) *resource {
	t := parseTime(value)
	if t.IsZero() {
		return r
	}
	return r.Text(name, t.Format(time.RFC3339))
}

// parseTime reads a time, or returns the zero time.
func parseTime(value string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// tag adds labels.
func tag(r *resource, labels map[string]string) *resource {
	for name, value := range labels {
		r.Tag(name, value)
	}
	return r
}

// unreachable fails when a list says that it is not all there is: what is missing
// from it is not gone.
func unreachable(places []string) error {
	if len(places) == 0 {
		return nil
	}
	return errors.New("not reached: " + clip(strings.Join(places, ", ")))
}
