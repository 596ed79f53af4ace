package gremlin_test

import (
	"fmt"
	"sync"
	"testing"

	"vigil/gremlin"
)

func TestCacheHit(t *testing.T) {
	t.Parallel()
	var c gremlin.Cache
	a, err := c.Compile(`g.V().out()`, gremlin.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Compile(`g.V().out()`, gremlin.CompileOptions{})
	if err != nil || a != b {
		t.Errorf("the plan was compiled twice (%v)", err)
	}
	if plans, lookups, hits := c.Stats(); plans != 1 || lookups != 2 || hits != 1 {
		t.Errorf("got %d plans, %d lookups, %d hits", plans, lookups, hits)
	}
}

func TestCacheEvictsLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	c := gremlin.Cache{Size: 2}
	compile := func(i int) *gremlin.Plan {
		p, err := c.Compile(fmt.Sprintf("g.V().limit(%d)", i), gremlin.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := compile(1)
	compile(2)
	compile(1) // used again
	compile(3) // evicts 2
	if compile(1) != one {
		t.Error("the recently used plan was evicted")
	}
	if plans, _, _ := c.Stats(); plans != 2 {
		t.Errorf("%d plans are kept, want 2", plans)
	}
}

func TestCacheDistinguishesBudgets(t *testing.T) {
	t.Parallel()
	var c gremlin.Cache
	if _, err := c.Compile(`g.V().out().out()`, gremlin.CompileOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile(`g.V().out().out()`, gremlin.CompileOptions{Budget: gremlin.Budget{Steps: 2}}); err == nil {
		t.Error("a query of three steps was accepted where two are allowed")
	}
}

func TestCacheConcurrentUse(t *testing.T) {
	t.Parallel()
	c := gremlin.Cache{Size: 8}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				if _, err := c.Compile(fmt.Sprintf("g.V().limit(%d)", i%20), gremlin.CompileOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if plans, _, _ := c.Stats(); plans != 8 {
		t.Errorf("%d plans are kept, want 8", plans)
	}
}
