package collect_test

import (
	"context"
	"sync"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// shelves and books begin with the same call.
const (
	shelves = `
type: AWS.Test.Shelf
doc: A shelf.
scope: region
list: [{call: test.ListShelves, items: shelves}]
name: id
`
	books = `
type: AWS.Test.Book
doc: A book.
scope: region
list: [{from: AWS.Test.Shelf}, {items: books}]
name: title
`
)

// TestSharedResponsesAreFreed reads units that share a call, and counts how often it is made.
func TestSharedResponsesAreFreed(t *testing.T) {
	t.Parallel()
	answers := map[string][]string{"test.ListShelves {}": {`{"shelves":[{"id":"a","books":[{"title":"x"}]}]}`}}
	r, calls := newReader(t, answers, shelves, books)
	reserve := func(name posture.EntityType) (release func()) { return r.Unit(r.Catalog.Type(name), "test").Reserve() }
	read := func(name posture.EntityType, when string, want int) {
		t.Helper()
		before := len(calls.calls)
		if got, err := list(t, r, name); err != nil || len(got) != 1 {
			t.Errorf("%s: %s are %v, %v", when, name, got, err)
		}
		if made := len(calls.calls) - before; made != want {
			t.Errorf("%s: reading %s makes %d calls, want %d", when, name, made, want)
		}
	}
	releaseShelf, releaseBook := reserve("AWS.Test.Shelf"), reserve("AWS.Test.Book")
	read("AWS.Test.Shelf", "both are reserved", 1)
	read("AWS.Test.Shelf", "the response is cached", 0)
	releaseShelf()
	releaseShelf() // has no further effect
	read("AWS.Test.Book", "one has been released", 0)
	releaseBook()
	read("AWS.Test.Book", "both have been released", 1)

	r.Answers = collect.NewAnswers()
	release := reserve("AWS.Test.Book")
	read("AWS.Test.Book", "no other unit of the run needs the call", 1)
	read("AWS.Test.Book", "its response was not kept", 1)
	release()
}

// TestRunsFreeSharedResponses runs units that share a call. The units of another type, which is
// not in the scope of the run, are not reserved.
func TestRunsFreeSharedResponses(t *testing.T) {
	t.Parallel()
	const outside = posture.EntityType("AWS.Test.Shelf")
	var mu sync.Mutex
	var reserved, read, released int
	counted := func(name posture.EntityType) collect.Unit {
		u := unit(name, "eu-west-1", 1, nil, nil)
		u.Reserve = func() func() {
			mu.Lock()
			defer mu.Unlock()
			reserved++
			return func() {
				mu.Lock()
				defer mu.Unlock()
				released++
			}
		}
		list := u.List
		u.List = func(ctx context.Context, emit collect.Emit) error {
			mu.Lock()
			defer mu.Unlock()
			read++
			// All units are reserved before the first is read, and this one is not released yet.
			if reserved != 2 || released >= read {
				t.Errorf("%d units are reserved and %d released when unit %d is read", reserved, released, read)
			}
			return list(ctx, emit)
		}
		return u
	}
	run(t, t.Context(), cloud{units: []collect.Unit{counted(bucket), counted(outside), counted(key)}}, posture.RunScope{Types: []posture.EntityType{bucket, key}})
	if reserved != 2 || read != 2 || released != 2 {
		t.Errorf("%d units were reserved, %d read and %d released; want 2 of each", reserved, read, released)
	}
}
