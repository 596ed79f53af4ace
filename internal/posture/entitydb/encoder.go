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
// does not belong to the scope. The returned document is valid until the next call. The
// member id is not set: of an unchanged entity, a recording does not need the hash of the id.
func (enc *encoder) encode(e *posture.Entity) (stagedEntity, error) {
	if e.Type != enc.scope.Type || e.Account != enc.scope.Account {
		return stagedEntity{}, fault.New(fault.Invalid, "entity %q of type %s and account %s is not of type %s and account %s",
			e.ID, e.Type, e.Account, enc.scope.Type, enc.scope.Account)
	}
	if enc.scope.Account == "" || !strings.Contains(string(e.ID), enc.mark) {
		return stagedEntity{}, fault.New(fault.Invalid, "the id %q does not name account %q", e.ID, e.Account)
	}
	if e.Region == "" {
		e.Region = posture.Global
	}
	e.Provider, e.Service = enc.provider, enc.service
	e.Normalize()
	idPrefix, ok := enc.idPrefixes[e.Region]
	if !ok {
		idPrefix = contextOf(e).idPrefix()
		enc.idPrefixes[e.Region] = idPrefix
	}
	// The region is not in the document, but a change of it is a change of the entity.
	enc.buf = appendText(enc.buf[:0], e.Region)
	n := len(enc.buf)
	enc.buf = appendDoc(enc.buf, idPrefix, e)
	return stagedEntity{hash: digestOf(enc.buf), region: e.Region, doc: enc.buf[n:]}, nil
}
