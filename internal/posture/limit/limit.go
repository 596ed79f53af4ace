// Package limit restricts callers to some accounts of their organisation.
//
// The guard puts the accounts that a caller may see into the context of the
// request ([With]). The stores of this package wrap those that the API uses: with
// such a context they return and change only what belongs to these accounts.
// Anything else does not exist for the caller. A context without a limit, as
// that of a job, is not restricted.
//
// The wrappers implement every method themselves, so that a new method of a
// store needs a decision here. Methods that limited callers have no use for fail
// with fault.Forbidden.
package limit

import (
	"context"
	"slices"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// A Limit is the set of accounts that a caller may see. It may be empty.
type Limit struct {
	ids map[string]posture.AccountID // by the id in lower case
}

type limitKey struct{}

// New returns the limit to the given accounts.
func New(accounts []posture.Account) Limit {
	l := Limit{map[string]posture.AccountID{}}
	for _, a := range accounts {
		l.ids[strings.ToLower(string(a.ID))] = a.ID
	}
	return l
}

func (l Limit) has(id string) bool {
	_, ok := l.ids[strings.ToLower(id)]
	return ok
}

// And returns the limit to the accounts that both limits have.
func (l Limit) And(other Limit) Limit {
	both := Limit{map[string]posture.AccountID{}}
	for key, id := range l.ids {
		if other.has(key) {
			both.ids[key] = id
		}
	}
	return both
}

// With returns a context that is restricted to the accounts.
func With(ctx context.Context, l Limit) context.Context { return context.WithValue(ctx, limitKey{}, l) }

// From returns the limit of a context; false if it has none.
func From(ctx context.Context) (Limit, bool) {
	l, ok := ctx.Value(limitKey{}).(Limit)
	return l, ok
}

// Allows reports whether the context may see an account.
func Allows(ctx context.Context, id posture.AccountID) bool {
	l, limited := From(ctx)
	return !limited || l.has(string(id))
}

// none is not the id of any account. It replaces an empty list of allowed accounts in
// filters, where an empty list would select all accounts.
const none = "-"

// within returns the accounts of a filter that the context may see. An empty filter
// selects all accounts. The result is empty only if the context has no limit and the
// filter is empty.
func within[ID ~string](ctx context.Context, ids []ID) []ID {
	l, limited := From(ctx)
	if !limited {
		return ids
	}
	var allowed []ID
	for _, id := range ids {
		if l.has(string(id)) {
			allowed = append(allowed, id)
		}
	}
	if len(ids) == 0 {
		for _, id := range l.ids {
			allowed = append(allowed, ID(id))
		}
		slices.Sort(allowed)
	}
	if len(allowed) == 0 {
		return []ID{none}
	}
	return allowed
}

// refuse returns an error if the context is limited.
func refuse(ctx context.Context) error {
	if _, limited := From(ctx); limited {
		return fault.New(fault.Forbidden, "your access is limited to some cloud accounts; this concerns the whole organisation")
	}
	return nil
}

func noAccount(id posture.AccountID) error {
	return fault.New(fault.NotFound, "cloud account %q was not found", id)
}

// CheckAccount fails with fault.NotFound if the context may not see an account.
func CheckAccount(ctx context.Context, id posture.AccountID) error {
	if !Allows(ctx, id) {
		return noAccount(id)
	}
	return nil
}
