package canned

import (
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"sync"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/resource"
)

// Defaults are default answers of a cloud: those of the first case of each declared type.
// They give an account one or a few resources of every type.
type Defaults struct {
	provider posture.Provider
	cloud    *Cloud
	root     fs.FS
	types    map[string][]*resource.Type // by call, the types whose cases may have an answer to it, the likeliest first

	mu      sync.Mutex
	answers map[*resource.Type]map[string]any
}

// NewDefaults returns the default answers for the types of a cloud. Root contains their
// declarations.
func NewDefaults(p posture.Provider, types *resource.Catalog, root fs.FS) (*Defaults, error) {
	d := &Defaults{provider: p, root: root, types: map[string][]*resource.Type{}, answers: map[*resource.Type]map[string]any{}}
	for _, t := range types.Of(p) { // a type that is listed by a call has the best answer to it
		if stages := types.Stages(t); len(stages) > 0 {
			call := stages[len(stages)-1].Call
			d.types[call] = append(d.types[call], t)
		}
	}
	for _, t := range types.Of(p) {
		for r := range types.Requests(t) {
			d.types[r.Call] = append(d.types[r.Call], t)
		}
	}
	var err error
	d.cloud, err = New(p, types, nil)
	return d, err
}

// Serve answers a request. Replace are pairs of texts; see [Responses]. It reports false
// when there is no default answer.
func (d *Defaults) Serve(w http.ResponseWriter, r *http.Request, replace []string) bool {
	body, err := readBody(r)
	if err != nil {
		return false
	}
	var chosen request
	var answer any
	for _, x := range d.cloud.declared.find(r, body) {
		switch other := d.answer(x.call); {
		case other == nil:
		case answer == nil:
			chosen, answer = x, other
		case d.provider == posture.AWS: // RDS, Neptune and DocumentDB share an interface: each lists the resources of all
			answer = joinLists(answer, other)
		}
	}
	if answer == nil {
		return false
	}
	rs := Responses{Replace: replace}
	rs.answer(w, chosen, answer)
	return true
}

// joinLists returns answer with the lists of other added to its own.
func joinLists(answer, other any) any {
	to, _ := answer.(map[string]any)
	from, _ := other.(map[string]any)
	if to == nil || from == nil {
		return answer
	}
	out := maps.Clone(to)
	for name, value := range from {
		list, isList := value.([]any)
		before, _ := out[name].([]any)
		if isList {
			out[name] = append(slices.Clone(before), list...)
		}
	}
	return out
}

// answer returns the default answer to a call, or nil.
func (d *Defaults) answer(call string) any {
	for _, t := range d.types[call] {
		d.mu.Lock()
		answers, ok := d.answers[t]
		if !ok {
			answers, _ = cases.First(d.root, t) // a type without a complete case has no default answers
			d.answers[t] = answers
		}
		d.mu.Unlock()
		if answer, ok := answers[call]; ok {
			return answer
		}
	}
	return nil
}
