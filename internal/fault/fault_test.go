package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"vigil/internal/fault"
)

func TestKindOfReturnsOutermostKind(t *testing.T) {
	t.Parallel()
	inner := fault.New(fault.NotFound, "no account %q", "1")
	for _, tt := range []struct {
		name string
		err  error
		want fault.Kind
	}{
		{"plain errors are internal", errors.New("boom"), fault.Internal},
		{"a fault has its kind", inner, fault.NotFound},
		{"a wrapped fault keeps its kind", fmt.Errorf("read account: %w", inner), fault.NotFound},
		{"the outer fault wins", fault.Wrap(fault.Conflict, inner, "in use"), fault.Conflict},
	} {
		if got := fault.KindOf(tt.err); got != tt.want {
			t.Errorf("%s: KindOf = %d, want %d", tt.name, got, tt.want)
		}
	}
	if fault.Is(nil, fault.Internal) {
		t.Error("Is(nil, Internal) = true, want false")
	}
}

func TestFieldsListsEveryMember(t *testing.T) {
	t.Parallel()
	err := fault.Fields(fault.Detail{Path: "a", Message: "is missing"}, fault.Detail{Path: "b[0]", Message: "must be a string"})
	if got, want := err.Error(), "a is missing; b[0] must be a string"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got := len(fault.Details(fmt.Errorf("bind: %w", err))); got != 2 {
		t.Errorf("%d details, want 2", got)
	}
}
