package limit

import (
	"context"
	"slices"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func TestFiltersKeepWithinTheLimit(t *testing.T) {
	t.Parallel()
	account := func(ids ...posture.AccountID) (all []posture.Account) {
		for _, id := range ids {
			all = append(all, posture.Account{ID: id})
		}
		return all
	}
	free := t.Context()
	some := With(free, New(account("A", "b")))
	nothing := With(free, New(nil))
	for _, c := range []struct {
		ctx       context.Context
		ids, want []string
	}{
		{free, nil, nil},
		{free, []string{"x"}, []string{"x"}},
		{some, nil, []string{"A", "b"}},
		{some, []string{"a", "x"}, []string{"a"}},
		{some, []string{"x"}, []string{none}},
		{nothing, nil, []string{none}},
		{nothing, []string{"a"}, []string{none}},
		{With(free, New(account("a", "b")).And(New(account("B", "c")))), nil, []string{"b"}},
		{With(free, New(account("a")).And(New(account("b")))), nil, []string{none}},
	} {
		if got := within(c.ctx, c.ids); !slices.Equal(got, c.want) {
			t.Errorf("%v becomes %v, not %v", c.ids, got, c.want)
		}
	}
	if CheckAccount(free, "x") != nil || CheckAccount(some, "a") != nil || !fault.Is(CheckAccount(some, "x"), fault.NotFound) ||
		!fault.Is(CheckAccount(nothing, none), fault.NotFound) || refuse(free) != nil || !fault.Is(refuse(nothing), fault.Forbidden) {
		t.Error("an account is checked wrongly")
	}
}
