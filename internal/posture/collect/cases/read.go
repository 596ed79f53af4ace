package cases

import (
	"context"
	"errors"
	"fmt"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// A Reading holds the entities that were read from raw responses according to the
// declarations of several types.
type Reading struct {
	Entities []posture.Entity
	Failed   map[posture.EntityType]error // types whose list failed and may be incomplete
}

// ReadAll reads types from raw responses in the form of [Case.Answers]. A list without a
// response is empty. Any other call without a response is denied, so that verdicts that
// depend on it are unknown. A response to a call that no type makes is an error.
func ReadAll(ctx context.Context, catalog *resource.Catalog, types []posture.EntityType, answers map[string]any) (Reading, error) {
	out := Reading{Failed: map[posture.EntityType]error{}}
	listing := map[string]bool{}
	for _, name := range types {
		for _, call := range catalog.ListCalls(name) {
			listing[call] = true
		}
	}
	canned := newTransport(answers)
	canned.unanswered = func(call string) any {
		if listing[call] {
			return map[string]any{}
		}
		return "denied"
	}
	cache := collect.NewAnswers()
	for _, name := range types {
		t := catalog.Type(name)
		if t == nil {
			continue // a type that is not declared cannot be read
		}
		vars := Vars[name.Provider()]
		if t.Scope == resource.PerAccount {
			vars.Region = posture.Global
		}
		reader := &collect.Reader{
			Catalog: catalog, Transport: canned, Answers: cache,
			Context: resource.Context{Vars: vars, Cloud: naming.Of(name.Provider(), catalog)},
		}
		emit := collect.Emit(func(r *collect.Resource) error {
			r.Normalize()
			out.Entities = append(out.Entities, r.Entity)
			return nil
		}).Serial()
		// A service that is off has no resources: its list is complete, as in a collection.
		if err := reader.List(ctx, t, emit); err != nil && !errors.Is(err, collect.ErrOff) {
			out.Failed[name] = err
		}
	}
	if call := canned.unusedResponse(); call != "" {
		return out, fmt.Errorf("no type makes the call %s", call)
	}
	return out, nil
}
