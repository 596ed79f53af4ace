package store

import (
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// A writer turns the entities of one scope into what is kept of them.
type writer struct {
	scope    posture.Scope
	mark     string // that every id holds, by which it is found
	provider posture.Provider
	service  string
	roots    map[string]string // by region
	buf      []byte
}

func newWriter(s posture.Scope) *writer {
	return &writer{
		scope: s, mark: "." + string(s.Account) + ".", provider: s.Type.Provider(), service: s.Type.Service(), roots: map[string]string{},
	}
}

// write puts an entity into the form that is kept, in which it hashes it. The
// doc of what it returns is good until the next call, and the digest of the id
// is left to those who need it. It refuses an entity that does not belong to
// the scope.
func (w *writer) write(e *posture.Entity) (staged, error) {
	if e.Type != w.scope.Type || e.Account != w.scope.Account {
		return staged{}, fault.New(fault.Invalid, "entity %q of type %s and account %s is not of type %s and account %s",
			e.ID, e.Type, e.Account, w.scope.Type, w.scope.Account)
	}
	if w.scope.Account == "" || !strings.Contains(string(e.ID), w.mark) {
		return staged{}, fault.New(fault.Invalid, "the id %q does not name account %q", e.ID, e.Account)
	}
	if e.Region == "" {
		e.Region = posture.Global
	}
	e.Provider, e.Service = w.provider, w.service
	e.Normalize()
	root, ok := w.roots[e.Region]
	if !ok {
		root = homeOf(e).root()
		w.roots[e.Region] = root
	}
	// The region is not in the doc, but part of what the entity is.
	w.buf = appendText(w.buf[:0], e.Region)
	n := len(w.buf)
	w.buf = appendDoc(w.buf, root, e)
	return staged{hash: digestOf(w.buf), region: e.Region, doc: w.buf[n:]}, nil
}
