package canned_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"vigil/frameworks"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/catalog/rulecases"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/resource"
	"vigil/internal/sim/canned"
	"vigil/resources"
	"vigil/rules"
)

// TestEveryRuleFiresAndPasses has each rule evaluated on two accounts of a simulated cloud:
// on one it must report a violation, on the other a pass. The collectors read the accounts
// over HTTP in the protocols of the clouds.
//
// The answers of the cloud are those of the rule's cases. Where a case has entities
// instead, the answers are derived from the declarations of their types.
func TestEveryRuleFiresAndPasses(t *testing.T) {
	t.Parallel()
	product, err := catalog.LoadWithCases(rules.Files, frameworks.Files)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench()
	fixtures := map[posture.Provider]chan *fixture{}
	for _, p := range posture.Providers {
		fixtures[p] = make(chan *fixture, workers)
		for range workers {
			fixtures[p] <- newFixture(t, p)
		}
	}
	var origins [3]atomic.Int64 // number of attempts by their origin
	t.Run("rules", func(t *testing.T) {
		for _, e := range product.Rules {
			t.Run(string(e.ID), func(t *testing.T) {
				t.Parallel()
				for _, want := range []verdict{fires, passes} {
					a, err := b.find(t.Context(), e, want)
					if err != nil {
						t.Errorf("no answers with which the rule %s; add a case with raw answers: %v", want, err)
						continue
					}
					origins[a.origin].Add(1)
					r := <-fixtures[e.Provider]
					err = b.confirm(t.Context(), r, e, a, want)
					fixtures[e.Provider] <- r
					if err != nil {
						t.Errorf("case %q, read over HTTP, is not one with which the rule %s: %v", a.Name, want, err)
					}
				}
			})
		}
	})
	t.Logf("answers: %d of cases of rules, %d derived from their entities, %d of cases of types",
		origins[caseOfRule].Load(), origins[derivedFromRule].Load(), origins[caseOfType].Load())
}

// workers is the number of accounts of each cloud that are read at the same time.
const workers = 2

// A verdict is what a rule says about an account.
type verdict string

const (
	fires  verdict = "fires"  // at least one resource violates it
	passes verdict = "passes" // at least one resource passes, and none is unknown
)

// An origin is where the answers of an attempt come from.
type origin int

const (
	caseOfRule      origin = iota
	derivedFromRule        // derived from the entities of a case of the rule
	caseOfType
)

// An attempt is a case with raw answers.
type attempt struct {
	catalog.Case
	origin origin
}

// A bench evaluates rules.
type bench struct {
	*rulecases.Runner
	types  *resource.Catalog
	schema *evaluate.Schema
	// typeCases has the cases of each type, firstAnswers the answers of the first complete
	// one. They are parsed once, because parsing takes longer than evaluating a rule.
	typeCases    map[posture.EntityType]func() ([]cases.Case, error)
	firstAnswers map[posture.EntityType]func() (map[string]any, error)
}

func newBench() *bench {
	all := declarations()
	b := &bench{
		Runner: rulecases.New(declared.Catalog(), all), types: declared.Catalog(), schema: catalog.Schema(all),
		typeCases: map[posture.EntityType]func() ([]cases.Case, error){}, firstAnswers: map[posture.EntityType]func() (map[string]any, error){},
	}
	for _, t := range b.types.Types() {
		b.typeCases[t.Type] = sync.OnceValues(func() ([]cases.Case, error) { return cases.Read(resources.Files, t.File()) })
		b.firstAnswers[t.Type] = sync.OnceValues(func() (map[string]any, error) { return cases.First(resources.Files, t) })
	}
	return b
}

// find returns answers of a cloud with which a rule has the wanted verdict.
func (b *bench) find(ctx context.Context, e catalog.Entry, want verdict) (attempt, error) {
	var problems []error
	for a, err := range b.candidates(ctx, e) {
		var c catalog.Case
		var found []posture.Entity
		if err == nil {
			c, found, err = b.read(ctx, e, a.Case)
		}
		if err == nil && e.Provider == posture.AWS {
			err = checkAnswers(a.Answers)
		}
		if err == nil {
			err = b.judge(ctx, e, c, found, want)
		}
		if err == nil {
			return a, nil
		}
		problems = append(problems, fmt.Errorf("%q: %w", a.Name, err))
	}
	return attempt{}, errors.Join(problems...)
}

// read reads the entities from the answers of a case, without a server. The returned case
// says what was read.
func (b *bench) read(ctx context.Context, e catalog.Entry, c catalog.Case) (catalog.Case, []posture.Entity, error) {
	reads, err := b.schema.Read(e.Query.Text)
	if err != nil {
		return c, nil, err
	}
	// It is no mistake if an answer is not used: answers are derived for types as a whole.
	reading, _ := cases.ReadAll(ctx, b.types, reads.Types, c.Answers)
	return withScope(c, reading.Entities, reading.Failed), reading.Entities, nil
}

// withScope returns a case in which all types were read in the regions of the found entities,
// except for the types that failed.
func withScope(c catalog.Case, found []posture.Entity, failed map[posture.EntityType]error) catalog.Case {
	c.Unread, c.Regions = slices.Clone(c.Unread), slices.Clone(c.Regions)
	for kind := range failed {
		c.Unread = append(c.Unread, catalog.Unread{Type: kind})
	}
	for _, f := range found {
		if f.Region != posture.Global && !slices.Contains(c.Regions, f.Region) {
			c.Regions = append(c.Regions, f.Region)
		}
	}
	return c
}

// checkAnswers fails when AWS could not give one of the answers. An answer is a single response
// or a list of {for, answer}; see [cases.Case].
func checkAnswers(answers map[string]any) error {
	for call, answer := range answers {
		options, several := answer.([]any)
		if !several {
			options = []any{map[string]any{"answer": answer}}
		}
		for _, option := range options {
			one, _ := option.(map[string]any)
			if _, ok := one["answer"].(map[string]any); !ok {
				continue // a word for an error: "denied"
			}
			if err := canned.CheckAWS(call, one["answer"]); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge fails if a rule does not have the wanted verdict on the entities of a case.
func (b *bench) judge(ctx context.Context, e catalog.Entry, c catalog.Case, found []posture.Entity, want verdict) error {
	account, err := b.Account(e, c, found)
	if err != nil {
		return err
	}
	got, err := b.Judge(ctx, account, e, c)
	if err != nil {
		return err
	}
	if want == fires {
		if len(got.Violating) == 0 {
			return fmt.Errorf("no violation, %d unknown", len(got.Unknown))
		}
		return nil
	}
	outside, err := b.Outside(ctx, account, e, c, found)
	if err != nil {
		return err
	}
	passing := 0
	for _, f := range found {
		if f.Type == e.Type {
			passing++
		}
	}
	passing -= len(got.Violating) + len(got.Unknown) + len(outside)
	if passing < 1 || len(got.Unknown) > 0 {
		return fmt.Errorf("%d pass, %d violate, %d are unknown, %d are outside", passing, len(got.Violating), len(got.Unknown), len(outside))
	}
	return nil
}

// candidates yields cases with raw answers for a rule, or why none could be derived from a
// case. Deriving answers costs more than trying them, so the cases of the rule that have
// answers come first.
func (b *bench) candidates(ctx context.Context, e catalog.Entry) iter.Seq2[attempt, error] {
	return func(yield func(attempt, error) bool) {
		for _, c := range e.Cases {
			if len(c.Answers) == 0 || len(c.Entities) > 0 || len(c.Unread) > 0 {
				continue
			}
			c.Violates, c.Unknown, c.NotApplicable = nil, nil, nil // its expected verdicts are not compared
			if !yield(attempt{c, caseOfRule}, nil) {
				return
			}
		}
		// References by external id are tried before those by name, each with and without
		// removing properties.
		for _, o := range []derivation{
			{remove: true, named: false}, {remove: false, named: false},
			{remove: true, named: true}, {remove: false, named: true},
		} {
			for _, c := range e.Cases {
				if len(c.Entities) == 0 || len(c.Unread) > 0 || len(c.Unknown) > 0 {
					continue
				}
				answers, err := b.derive(ctx, e, c, o)
				if !yield(attempt{catalog.Case{Name: c.Name, Answers: answers, Parameters: c.Parameters, At: c.At}, derivedFromRule}, err) {
					return
				}
			}
		}
		typeCases, err := b.typeCases[e.Type]()
		if err != nil {
			yield(attempt{origin: caseOfType}, err)
			return
		}
		for _, c := range typeCases {
			if c.Get == "" && !c.Fails && !yield(attempt{catalog.Case{Name: c.Name, Answers: c.Answers}, caseOfType}, nil) {
				return
			}
		}
	}
}

// A derivation is a way to derive answers.
type derivation struct {
	remove bool // remove from the answers the properties that the query names and the entities lack
	named  bool // refer to resources by name instead of external id
}

// derive returns answers from which the entities of a case are read.
func (b *bench) derive(ctx context.Context, e catalog.Entry, c catalog.Case, o derivation) (map[string]any, error) {
	types := map[string]posture.EntityType{} // by key
	for _, entity := range c.Entities {
		types[entity.Key] = entity.Type
	}
	answers := map[string]any{}
	seen := map[posture.EntityType]bool{}
	for _, entity := range c.Entities {
		t := b.types.Type(entity.Type)
		if entity.Elsewhere || t == nil {
			continue
		}
		if seen[entity.Type] {
			return nil, fmt.Errorf("there are several entities of type %s", entity.Type)
		}
		seen[entity.Type] = true
		properties := maps.Clone(entity.Properties)
		if properties == nil {
			properties = map[string]any{}
		}
		for a := range t.Answers() {
			for _, p := range a.Properties {
				if _, given := properties[p.Name]; !given && o.remove && strings.Contains(e.Query.Text, "'"+p.Name+"'") {
					properties[p.Name] = nil // cases.Answers removes it
				}
			}
		}
		edges := map[string][]any{}
		for _, edge := range entity.Edges {
			reference, err := b.reference(ctx, types[edge.To], o.named)
			if err != nil {
				return nil, err
			}
			edges[edge.Label] = append(edges[edge.Label], reference)
		}
		first, err := b.firstAnswers[t.Type]()
		if err != nil {
			return nil, err
		}
		derived, err := cases.Answers(b.types, t, first, properties, edges)
		if err != nil {
			return nil, err
		}
		for call, answer := range derived {
			if _, exists := answers[call]; !exists {
				answers[call] = answer
			}
		}
	}
	return answers, nil
}

// reference returns how an edge refers to the first entity in the first answers of a type: by
// name, if named is set, else by external id.
func (b *bench) reference(ctx context.Context, kind posture.EntityType, named bool) (string, error) {
	t := b.types.Type(kind)
	if t == nil {
		return "", fmt.Errorf("%s is not declared", kind)
	}
	answers, err := b.firstAnswers[kind]()
	if err != nil {
		return "", err
	}
	reading, err := cases.ReadAll(ctx, b.types, []posture.EntityType{kind}, answers)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", kind, err)
	}
	if len(reading.Entities) == 0 {
		return "", fmt.Errorf("no %s was read", kind)
	}
	if _, name, ok := strings.Cut(cases.ShortID(reading.Entities[0]), " "); ok && named {
		return name, nil
	}
	return reading.Entities[0].XID, nil
}

// confirm fails if a rule does not have the wanted verdict on the account of a simulated cloud.
func (b *bench) confirm(ctx context.Context, r *fixture, e catalog.Entry, a attempt, want verdict) error {
	reads, err := b.schema.Read(e.Query.Text)
	if err != nil {
		return err
	}
	listing := map[string]bool{}
	for _, name := range reads.Types {
		for _, call := range b.types.ListCalls(name) {
			listing[call] = true
		}
	}
	found, failed, err := r.read(ctx, a.Answers, listing, reads.Types)
	if err != nil {
		return err
	}
	if err := b.judge(ctx, e, withScope(a.Case, found, failed), found, want); err != nil {
		var reasons []error
		for kind, err := range failed {
			reasons = append(reasons, fmt.Errorf("%s: %w", kind, err))
		}
		for _, f := range found {
			for _, p := range f.Properties {
				if p.Type == posture.UnknownProperty {
					reasons = append(reasons, fmt.Errorf("%s of %s: %s", p.Name, f.ID, p.Error))
				}
			}
		}
		return errors.Join(append([]error{fmt.Errorf("%w, of %d entities", err, len(found))}, reasons...)...)
	}
	return nil
}
