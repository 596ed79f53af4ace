package collect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// complete converts the items of a page to entities and emits them.
func (r *Reader) complete(ctx context.Context, t *resource.Type, items []resource.Item, emit Emit) error {
	completeItem := func(ctx context.Context, item *resource.Item) error {
		b, allRefused, err := r.entity(ctx, t, item)
		item.Answers = nil // no longer needed, but the item stays in memory as long as its page
		switch {
		case err != nil:
			return err
		case b == nil:
			countGone(ctx)
			return nil
		}
		if err := emit(b); err != nil {
			return err
		}
		if t.IsSingle() {
			return allRefused
		}
		return nil
	}
	if len(t.Calls) > 0 {
		return parallel(ctx, items, completeItem)
	}
	for i := range items { // no calls are needed
		if err := completeItem(ctx, &items[i]); err != nil {
			return err
		}
	}
	return nil
}

// entity makes the calls that complete an item. It returns nil when the resource was
// deleted in the meantime, and a fatal error only when the unit cannot continue. When all
// calls were refused, it also returns the reason: for a resource that is listed without a
// call, nothing was read at all in that case.
func (r *Reader) entity(ctx context.Context, t *resource.Type, item *resource.Item) (b *resource.Builder, allRefused, fatal error) {
	b, where, err := t.Begin(ctx, item, r.Context, caller{r})
	if err != nil {
		return nil, nil, err
	}
	if err := fatalProblem(b); err != nil {
		return nil, nil, err
	}
	if len(t.Calls) > 0 {
		item.Answers = map[string]gjson.Result{}
	}
	var empty []string            // calls that found nothing
	refused := map[string]error{} // errors by the name of the call (its member as)
	answered := false
	for i := range t.Calls {
		call := &t.Calls[i]
		if cause := firstRefused(refused, call.UsesAnswersOf()); cause != nil {
			b.Unread(cause, call.Names()...) // the call depends on a refused one
			continue
		}
		if !call.When.Hold(item, where.Vars) {
			continue
		}
		if slices.Contains(empty, call.Needs) {
			call.PutAbsent(b)
			empty = append(empty, call.Key())
			continue
		}
		meaning, cause, err := r.call(ctx, t, call, b, item, where)
		switch {
		case err != nil:
			return nil, nil, err
		case cause != nil:
			refused[call.As] = cause
			allRefused = cmp.Or(allRefused, cause)
			continue
		case meaning == resource.MeansDeleted:
			return nil, nil, nil
		case meaning == resource.MeansAbsent:
			empty = append(empty, call.Key())
		}
		answered = true
	}
	t.Finish(b, item, where.Vars)
	if answered {
		allRefused = nil
	}
	return b, allRefused, nil
}

// firstRefused returns the error of the first refused call among the names, or nil.
func firstRefused(refused map[string]error, names []string) error {
	for _, name := range names {
		if cause := refused[name]; cause != nil {
			return cause
		}
	}
	return nil
}

// call makes one call and adds its response to an entity. If the call fails, it returns the
// meaning of the failure and, if the failure makes the properties of the call unknown, the cause.
func (r *Reader) call(
	ctx context.Context, t *resource.Type, call *resource.Call, b *resource.Builder, item *resource.Item, where resource.Context,
) (meaning resource.Meaning, cause, fatal error) {
	bound := *r
	bound.Context = where
	result, err := bound.answer(ctx, call, item)
	if err == nil {
		answer := &resource.Item{Result: result, Parent: item, Answers: item.Answers}
		item.Answers[call.As] = result
		call.Put(ctx, b, answer, item, where, caller{&bound})
		err = fatalProblem(b)
	}
	meaning = meaningOf(t, call, err)
	switch {
	case err == nil, meaning == resource.MeansDeleted:
		return meaning, nil, nil
	case meaning == resource.MeansAbsent:
		call.PutAbsent(b)
		return meaning, nil, nil
	case IsFatal(err):
		return "", nil, err
	}
	b.Unread(err, call.Names()...)
	return resource.MeansUnknown, err, nil
}

// fatalProblem returns an error of a function that must end the whole list, if any.
func fatalProblem(b *resource.Builder) error {
	for _, err := range b.Problems() {
		if IsFatal(err) {
			return err
		}
	}
	return nil
}

// answer returns the part of a call's response that concerns an item. A call whose input is
// the same for all items is made once.
func (r *Reader) answer(ctx context.Context, call *resource.Call, item *resource.Item) (gjson.Result, error) {
	entry, err := r.read(ctx, call, item)
	if err != nil {
		return gjson.Result{}, err
	}
	return entry.partFor(call, item, r.Context.Vars)
}

// read returns the whole response of a call or answer function: from a cache if other items,
// types or runs use it too.
func (r *Reader) read(ctx context.Context, call *resource.Call, item *resource.Item) (*cacheEntry, error) {
	applyFunction := func(ctx context.Context) ([]page, error) {
		answer, err := r.Catalog.AnswerFunction(call.Function).Apply(ctx, caller{r})
		return []page{newPage(answer)}, err
	}
	switch {
	case r.Answers != nil && call.Function != "":
		return r.Answers.read(ctx, callKey{r.Context.Region, call.Function}, "", applyFunction)
	case r.Answers != nil && (call.Static() || r.Catalog.Shared(call.Call)):
		return r.cacheEntry(ctx, &call.Request, item)
	case r.Earlier != nil && len(call.Unchanged) > 0:
		return r.unchanged(ctx, call, item)
	}
	entry := new(cacheEntry)
	return entry, entry.read(ctx, func(ctx context.Context) (pages []page, err error) {
		if call.Function != "" {
			return applyFunction(ctx)
		}
		const shared = false // responses of shared calls come from r.Answers above
		err = r.pages(ctx, &call.Request, item, shared, func(answer gjson.Result) error {
			pages = append(pages, page{text: answer}) // used once: not worth compressing
			return nil
		})
		return pages, err
	})
}

// meaningOf returns the meaning of a call's failure for the resource.
func meaningOf(t *resource.Type, call *resource.Call, err error) resource.Meaning {
	if c, ok := errors.AsType[coder](err); ok && slices.Contains(t.Deleted, c.ErrorCode()) {
		return resource.MeansDeleted
	}
	switch {
	case errors.Is(err, ErrGone):
		return call.NotFound
	case errors.Is(err, ErrNotOffered):
		return call.NotOffered
	case errors.Is(err, ErrOff), reportsNotEnabled(call, err):
		return call.NotEnabled
	}
	return resource.MeansUnknown
}

// reportsNotEnabled reports whether the message of a refusal says that the service is not
// enabled.
func reportsNotEnabled(call *resource.Call, err error) bool {
	denied, ok := errors.AsType[*DeniedError](err)
	return ok && call.NotEnabledMessage != "" && denied.Err != nil && strings.Contains(denied.Err.Error(), call.NotEnabledMessage)
}

// joinPages joins several pages into one response by concatenating their lists. Other members
// have the value of the last page.
func joinPages(pages []gjson.Result) gjson.Result {
	switch len(pages) {
	case 0:
		return gjson.Parse("{}")
	case 1:
		return pages[0]
	}
	var names []string
	lists := map[string][]string{}
	values := map[string]string{}
	for _, page := range pages {
		page.ForEach(func(name, value gjson.Result) bool {
			if _, ok := values[name.Str]; !ok {
				names = append(names, name.Str)
			}
			values[name.Str] = value.Raw
			if value.IsArray() {
				for _, element := range value.Array() {
					lists[name.Str] = append(lists[name.Str], element.Raw)
				}
			}
			return true
		})
	}
	joined := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			joined = append(joined, ',')
		}
		joined = append(gjson.AppendJSONString(joined, name), ':')
		if list, ok := lists[name]; ok {
			joined = append(joined, '[')
			for j, element := range list {
				if j > 0 {
					joined = append(joined, ',')
				}
				joined = append(joined, element...)
			}
			joined = append(joined, ']')
		} else {
			joined = append(joined, values[name]...)
		}
	}
	return gjson.ParseBytes(append(joined, '}'))
}
