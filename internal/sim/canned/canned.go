// Package canned simulates clouds that answer calls with given responses, in the real
// protocols and under the real host names.
//
// Responses have the form of those in the cases of resource declarations. A call is named
// as declarations name it; the package finds the name by the address of a request.
package canned

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/resource"
)

// A Cloud answers calls with the responses that were set last, and passes the other
// requests to another handler.
type Cloud struct {
	next      http.Handler
	provider  posture.Provider
	declared  finder
	responses atomic.Pointer[responses]
}

// A finder finds the calls that a request may mean.
type finder interface {
	find(r *http.Request, body []byte) []request
}

// responses are the responses of a cloud. Own finds the calls that have a response here. These
// include calls that no declaration names, because Go functions make them.
type responses struct {
	Responses
	own finder
}

// Responses are the responses of one cloud.
type Responses struct {
	// Answers are the responses by call; see [cases.Case].
	Answers map[string]any
	// Unanswered returns the response of a call that Answers does not have, or nil to
	// pass the request on. It may be nil.
	Unanswered func(call string) any
	// Replace are pairs of texts: an id in the cases, and the id that the account has instead.
	// In answers, the first of a pair is replaced by the second; in requests, the second
	// by the first.
	Replace []string
}

// A request is an HTTP request, read as one of the calls that it may mean.
type request struct {
	call     string
	literals int // how specific the name of the call is: see route
	address  string
	input    []byte // JSON
	write    func(w http.ResponseWriter, answer json.RawMessage)
	refuse   func(w http.ResponseWriter, f failure)
}

// A failure is an error response.
type failure struct {
	status        int
	code, message string
}

// New returns a cloud that has the calls of the declared types. Requests without a
// response are passed to next.
func New(p posture.Provider, types *resource.Catalog, next http.Handler) (*Cloud, error) {
	c := &Cloud{next: next, provider: p}
	c.responses.Store(&responses{own: newREST(p)}) // none before Set
	if p != posture.AWS {
		calls := newREST(p)
		for _, t := range types.Of(p) {
			for r := range types.Requests(t) {
				calls.add(r.Call, cmp.Or(r.Path, r.Call))
			}
		}
		c.declared = calls
		return c, nil
	}
	var calls []string
	for _, t := range types.Of(p) {
		for r := range types.Requests(t) {
			calls = append(calls, r.Call)
		}
	}
	var err error
	c.declared, err = newAWS(calls)
	return c, err
}

// Set replaces the responses.
func (c *Cloud) Set(r Responses) error {
	calls := slices.Collect(maps.Keys(r.Answers))
	if c.provider == posture.AWS {
		own, err := newAWS(calls)
		if err == nil {
			c.responses.Store(&responses{r, own})
		}
		return err
	}
	own := newREST(c.provider)
	for _, call := range calls {
		if strings.ContainsAny(call, "$:") { // otherwise it is a type of Azure or a path below a resource, not a template
			own.add(call, call)
		}
	}
	c.responses.Store(&responses{r, own})
	return nil
}

// ServeHTTP implements [http.Handler].
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rs := c.responses.Load()
	candidates := append(c.declared.find(r, body), rs.own.find(r, body)...)
	slices.SortStableFunc(candidates, func(a, b request) int { return cmp.Compare(b.literals, a.literals) })
	if !rs.serve(w, candidates) {
		c.next.ServeHTTP(w, r)
	}
}

// serve answers an HTTP request, which may mean any of the candidates. It reports false when
// there is no response.
func (rs *Responses) serve(w http.ResponseWriter, candidates []request) bool {
	for _, x := range candidates {
		if answer, ok := rs.Answers[x.call]; ok {
			rs.answer(w, x, answer)
			return true
		}
	}
	if rs.Unanswered == nil || len(candidates) == 0 {
		return false
	}
	best, answer := candidates[0], rs.Unanswered(candidates[0].call)
	for _, x := range candidates[1:] {
		if _, isError := answer.(string); !isError && answer != nil {
			break // prefer the first response that is not an error
		}
		if other := rs.Unanswered(x.call); other != nil {
			best, answer = x, other
		}
	}
	if answer == nil {
		return false
	}
	rs.answer(w, best, answer)
	return true
}

// answer sends a response.
func (rs *Responses) answer(w http.ResponseWriter, x request, answer any) {
	back := make([]string, len(rs.Replace))
	for i := 0; i+1 < len(back); i += 2 {
		back[i], back[i+1] = rs.Replace[i+1], rs.Replace[i]
	}
	original := strings.NewReplacer(back...)
	answer = cases.Select(answer, original.Replace(x.address), gjson.Parse(original.Replace(string(x.input))))
	if word, ok := answer.(string); ok {
		x.refuse(w, failureOf(word))
		return
	}
	text, err := json.Marshal(answer)
	if err != nil {
		x.refuse(w, failure{http.StatusBadRequest, "ValidationException", err.Error()})
		return
	}
	x.write(w, json.RawMessage(strings.NewReplacer(rs.Replace...).Replace(string(text))))
}

// failureOf returns the error response that a case names by a word.
func failureOf(word string) failure {
	switch word {
	case "denied":
		return failure{http.StatusForbidden, "AccessDenied", "not authorized"}
	case "notFound":
		return failure{http.StatusNotFound, "ResourceNotFoundException", "not found"}
	case "notEnabled":
		return failure{http.StatusForbidden, notEnabled, "the service is not enabled"}
	case "notOffered":
		return failure{http.StatusNotFound, word, "the service does not exist in the region"}
	case "throttled":
		return failure{http.StatusTooManyRequests, "ThrottlingException", "rate exceeded"}
	}
	if message, ok := strings.CutPrefix(word, "denied "); ok {
		return failure{http.StatusForbidden, "AccessDenied", message}
	}
	if code, ok := strings.CutPrefix(word, "code "); ok {
		return failure{http.StatusNotFound, code, "not found"}
	}
	// A status that collectors do not expect, so that misspelt words do not pass for missing resources.
	return failure{http.StatusBadRequest, "ValidationException", fmt.Sprintf("unknown error response %q", word)}
}

// notEnabled stands for the code with which a cloud reports a service that is not enabled.
const notEnabled = "notEnabled"

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
