package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/resource"
)

// transport is a transport with the responses of a case.
type transport struct {
	answers map[string]any
	// unanswered returns the response of a call for which the case has none. If the
	// function is nil, such a call fails and missing is set.
	unanswered func(call string) any

	mu      sync.Mutex
	used    map[string]bool // calls that got a response of the case
	missing string          // the last call without a response
}

func newTransport(answers map[string]any) *transport {
	return &transport{answers: answers, used: map[string]bool{}}
}

// unusedResponse returns a call for which the case has a response and that was not made, or "".
func (t *transport) unusedResponse() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, call := range slices.Sorted(maps.Keys(t.answers)) {
		if !t.used[call] {
			return call
		}
	}
	return ""
}

// Pages implements [collect.Transport].
func (t *transport) Pages(_ context.Context, q *resource.Request, address string, input []byte, page func(gjson.Result) error) error {
	answer, ok := t.answers[q.Call]
	t.mu.Lock()
	switch {
	case ok:
		t.used[q.Call] = true
	case t.unanswered != nil:
		answer = t.unanswered(q.Call)
	default:
		t.missing = q.Call
	}
	t.mu.Unlock()
	if !ok && t.unanswered == nil {
		return errors.New("no response")
	}
	answer = Select(answer, address, gjson.ParseBytes(input))
	if word, ok := answer.(string); ok {
		return refusal(word)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return page(gjson.ParseBytes(text))
}

// Select returns the response of a call to an address with an input. If answer is a list
// of {for, answer}, it returns the answer of the first element that matches, or "notFound" if
// none does. An element matches if the input has the same value as each member of its
// "for". The member "address" is compared with the address instead.
func Select(answer any, address string, input gjson.Result) any {
	list, ok := answer.([]any)
	if !ok {
		return answer
	}
	for _, element := range list {
		option, ok := element.(map[string]any)
		if !ok {
			continue
		}
		condition, _ := option["for"].(map[string]any)
		matches := true
		for name, value := range condition {
			if name == "address" {
				matches = matches && value == address
				continue
			}
			text, err := json.Marshal(value)
			matches = matches && err == nil && input.Get(name).Raw == string(text)
		}
		if matches {
			return option["answer"]
		}
	}
	return "notFound"
}

// A refusedError is an error response of a case.
type refusedError struct {
	kind error
	code string
}

func (e *refusedError) Error() string     { return e.kind.Error() }
func (e *refusedError) ErrorCode() string { return e.code }
func (e *refusedError) Unwrap() error     { return e.kind }

func refusal(word string) error {
	kinds := map[string]error{
		"denied": collect.ErrDenied, "notFound": collect.ErrGone, "notEnabled": collect.ErrOff, "notOffered": collect.ErrNotOffered,
		"throttled": collect.ErrThrottled,
	}
	if kind, ok := kinds[word]; ok {
		return &refusedError{kind, word}
	}
	if message, ok := strings.CutPrefix(word, "denied "); ok {
		return &collect.DeniedError{Err: errors.New(message)}
	}
	if code, ok := strings.CutPrefix(word, "code "); ok {
		if (&awsapi.Error{Code: code}).Gone() {
			return &refusedError{collect.ErrGone, code}
		}
		return &refusedError{errors.New("AWS answers " + code), code}
	}
	return fmt.Errorf("unknown error response %q", word)
}
