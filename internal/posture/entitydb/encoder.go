package entitydb

import (
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// An encoder turns the entities of one scope into documents and their hashes.
type encoder struct {
	scope      posture.Scope
	mark       string // ".account.", which every id must contain
	provider   posture.Provider
	service    string
	idPrefixes map[string]string // by region
	buf        []byte
}

func newEncoder(s posture.Scope) *encoder {
	return &encoder{
		scope: s, mark: "." + string(s.Account) + ".", provider: s.Type.Provider(), service: s.Type.Service(), idPrefixes: map[string]string{},
	}
}

// encode normalises, encodes and hashes an entity. It returns an error if the entity
// does not belong to the scope. The returned document is valid until the next call;
// the id is not hashed, because few callers need it.
func (w *encoder) encode(e *posture.Entity) (stagedEntity, error) {
	if e.Type != w.scope.Type || e.Account != w.scope.Account {
		return stagedEntity{}, fault.New(fault.Invalid, "entity %q of type %s and account %s is not of type %s and account %s",
			e.ID, e.Type, e.Account, w.scope.Type, w.scope.Account)
	}
	if w.scope.Account == "" || !strings.Contains(string(e.ID), w.mark) {
		return stagedEntity{}, fault.New(fault.Invalid, "the id %q does not name account %q", e.ID, e.Account)
	}
	if e.Region == "" {
		e.Region = posture.Global
	}
	e.Provider, e.Service = w.provider, w.service
	e.Normalize()
	idPrefix, ok := w.idPrefixes[e.Region]
	if !ok {
		idPrefix = contextOf(e).idPrefix()
		w.idPrefixes[e.Region] = idPrefix
	}
	// The region is not in the document, but a change of it is a change of the entity.
	w.buf = appendText(w.buf[:0], e.Region)
	n := len(w.buf)
	w.buf = appendDoc(w.buf, idPrefix, e)
	return stagedEntity{hash: digestOf(w.buf), region: e.Region, doc: w.buf[n:]}, nil
}
