package rulebook_test

import (
	"context"
	"sync"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/rulebook"
)

// A ruleStore holds one custom rule per organisation, whose version is the generation
// of the organisation's rules.
type ruleStore struct {
	rulebook.Store

	mu         sync.Mutex
	generation map[posture.OrgID]int64
	reads      int // calls of Rules
}

func (s *ruleStore) change(org posture.OrgID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation[org]++
}

func (s *ruleStore) RuleGeneration(_ context.Context, org posture.OrgID) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation[org], nil
}

func (s *ruleStore) Rules(_ context.Context, org posture.OrgID) (map[posture.RuleID]posture.Rule, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	at := s.generation[org]
	if at == 0 {
		return nil, 0, nil
	}
	return map[posture.RuleID]posture.Rule{"own": {ID: "own", Source: posture.Custom, Name: string(org), Version: int(at)}}, at, nil
}

func newBook() (*rulebook.Book, *ruleStore) {
	s := &ruleStore{generation: map[posture.OrgID]int64{}}
	native := catalog.Entry{Rule: posture.Rule{ID: "native", Source: posture.Native, Version: 1}}
	return &rulebook.Book{Catalog: &catalog.Catalog{Rules: []catalog.Entry{native}}, Store: s}, s
}

// TestRulesAreReadOncePerGeneration reads rules repeatedly, before and after a change.
func TestRulesAreReadOncePerGeneration(t *testing.T) {
	t.Parallel()
	book, s := newBook()
	check := func(org posture.OrgID, version, reads int) {
		t.Helper()
		rules, at, err := book.RulesAt(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		own := 0
		for _, r := range rules {
			if r.ID == "own" && r.Name == string(org) {
				own = r.Version
			}
		}
		if at != int64(version) || own != version || rules[0].ID != "native" {
			t.Errorf("organisation %s has %+v at generation %d, want its own rule in version %d", org, rules, at, version)
		}
		if s.reads != reads {
			t.Errorf("the rules were read %d times, want %d", s.reads, reads)
		}
	}
	check("a", 0, 1)
	check("a", 0, 1)
	check("b", 0, 1) // it shares the rules of organisations without changes
	s.change("a")
	check("a", 1, 2)
	check("a", 1, 2)
	check("b", 0, 2)
	s.change("b")
	check("b", 1, 3)
	check("a", 1, 3)
	s.change("a")
	check("a", 2, 4)
}

// TestNoReaderGetsOlderRules changes rules while several goroutines read them. No reader
// may get rules that are older than a change which was complete before it asked.
func TestNoReaderGetsOlderRules(t *testing.T) {
	t.Parallel()
	book, s := newBook()
	const changes, readers = 500, 4
	var work sync.WaitGroup
	work.Go(func() {
		for range changes {
			s.change("a")
		}
	})
	for range readers {
		work.Go(func() {
			for before := int64(0); before < changes; {
				before, _ = s.RuleGeneration(t.Context(), "a")
				rules, at, err := book.RulesAt(t.Context(), "a")
				if err != nil || at < before {
					t.Errorf("got generation %d after %d: %v", at, before, err)
					return
				}
				for _, r := range rules {
					if r.ID == "own" && int64(r.Version) != at {
						t.Errorf("got version %d at generation %d", r.Version, at)
						return
					}
				}
			}
		})
	}
	work.Wait()
}
