package collect

import (
	"context"
	"errors"
	"sync"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// Answers caches the responses of calls that several types or items of one
// collection run share, so that each call is made once. It also caches refusals,
// because the call would be refused again for the next item. After other failures
// the call is made again.
type Answers struct {
	mu   sync.Mutex
	all  map[callKey]map[string]*cacheEntry // of each call, by address and input
	uses map[callKey]int                    // the sum of resource.Catalog.Uses of the reserved units
}

// A callKey is a call, or a function that makes calls, in a region.
type callKey struct{ region, call string }

// NewAnswers returns an empty cache for a run.
func NewAnswers() *Answers {
	return &Answers{all: map[callKey]map[string]*cacheEntry{}, uses: map[callKey]int{}}
}

// reserve announces the calls of a unit, and how often the unit makes each. When all units
// that announced a call have been released, its responses are freed.
func (a *Answers) reserve(region string, uses map[string]int) (release func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for call, n := range uses {
		a.uses[callKey{region, call}] += n
	}
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for call, n := range uses {
			k := callKey{region, call}
			if a.uses[k] -= n; a.uses[k] == 0 {
				delete(a.uses, k)
				delete(a.all, k)
			}
		}
	})
}

// usedOnce reports whether the reserved units make a call only once and no response to it is
// cached. If so, caching the response would only take memory.
func (a *Answers) usedOnce(region, call string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := callKey{region, call}
	return a.uses[k] == 1 && a.all[k] == nil
}

// A readFunc makes a call and returns all pages of its answer.
type readFunc func(ctx context.Context) ([]page, error)

// read returns the cached response of a call for an address and input. The first caller
// reads it; concurrent callers wait for that read.
func (a *Answers) read(ctx context.Context, k callKey, request string, read readFunc) (*cacheEntry, error) {
	a.mu.Lock()
	entries := a.all[k]
	if entries == nil {
		entries = map[string]*cacheEntry{}
		a.all[k] = entries
	}
	entry, ok := entries[request]
	if !ok {
		entry = new(cacheEntry)
		entries[request] = entry
	}
	a.mu.Unlock()
	return entry, entry.read(ctx, read)
}

// A cacheEntry is the cache entry of one call.
type cacheEntry struct {
	mu     sync.Mutex // held while the call is made
	done   bool
	err    error // error of a refused call
	pages  []page
	joined gjson.Result                         // all pages as one document; set by result()
	groups map[string]map[string][]gjson.Result // list elements, by list and path (see group), then by value
}

func (e *cacheEntry) read(ctx context.Context, read readFunc) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		return e.err
	}
	pages, err := read(ctx)
	if refused := errors.Is(err, ErrDenied) || errors.Is(err, ErrOff); err == nil || refused {
		e.done, e.pages, e.err = true, pages, err
	}
	return err
}

// result returns the response with its pages joined.
func (e *cacheEntry) result() gjson.Result {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.joined.Exists() {
		e.joined = joinPages(resultsOf(e.pages))
	}
	return e.joined
}

// partFor returns the part of the response that a call declares: the value at its
// path and, for a list, the elements that meet its conditions.
func (e *cacheEntry) partFor(call *resource.Call, item *resource.Item, v resource.Vars) (gjson.Result, error) {
	conditions := call.Where
	if len(call.Find) > 0 {
		conditions = call.Find
	}
	var found []gjson.Result
	switch path, value, single := conditions.Lookup(v); {
	case len(conditions) == 0:
		return e.resultOf(call, item, v), nil
	case single: // one condition, which compares a path with a value: use the index
		found = e.group(call, path, item, v)[value]
	default:
		for _, element := range e.resultOf(call, item, v).Array() {
			if conditions.Hold(&resource.Item{Result: element, Parent: item}, v) {
				found = append(found, element)
			}
		}
	}
	switch {
	case len(call.Find) == 0:
		return listOf(found), nil
	case len(found) == 0:
		return gjson.Result{}, ErrGone
	}
	return found[0], nil
}

func (e *cacheEntry) resultOf(call *resource.Call, item *resource.Item, v resource.Vars) gjson.Result {
	result := e.result()
	if call.At.IsZero() {
		return result
	}
	return call.At.Eval(&resource.Item{Result: result, Parent: item}, v)
}

// group returns the elements of the list at the call's path, indexed by their value
// at another path. The index is built once: a linear search per item would take
// time proportional to items times elements.
func (e *cacheEntry) group(call *resource.Call, path resource.Expr, item *resource.Item, v resource.Vars) map[string][]gjson.Result {
	name := call.At.String() + " " + path.String()
	e.mu.Lock()
	g, ok := e.groups[name]
	e.mu.Unlock()
	if ok {
		return g
	}
	list := e.resultOf(call, item, v)
	e.mu.Lock()
	defer e.mu.Unlock()
	g = map[string][]gjson.Result{}
	for _, element := range list.Array() {
		value := path.Text(&resource.Item{Result: element}, v)
		g[value] = append(g[value], element)
	}
	if e.groups == nil {
		e.groups = map[string]map[string][]gjson.Result{}
	}
	e.groups[name] = g
	return g
}

// listOf returns the elements as a JSON list.
func listOf(elements []gjson.Result) gjson.Result {
	list := []byte{'['}
	for i, element := range elements {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, element.Raw...)
	}
	return gjson.ParseBytes(append(list, ']'))
}
