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
	for i, c := range []struct {
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
			t.Errorf("%d: the filter %v becomes %v, want %v", i, c.ids, got, c.want)
		}
	}
	for what, ok := range map[string]bool{
		"without a limit, every account is allowed":         CheckAccount(free, "x") == nil,
		"an account of the limit is allowed":                CheckAccount(some, "a") == nil,
		"another account does not exist":                    fault.Is(CheckAccount(some, "x"), fault.NotFound),
		"the id that stands for no account does not exist":  fault.Is(CheckAccount(nothing, none), fault.NotFound),
		"without a limit, nothing is refused":               refuse(free) == nil,
		"what limited callers have no use for is forbidden": fault.Is(refuse(nothing), fault.Forbidden),
	} {
		if !ok {
			t.Errorf("it does not hold that %s", what)
		}
	}
}
