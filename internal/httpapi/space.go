package httpapi

import (
	"net/http"
	"strings"
	"time"

	"vigil/internal/fault"
)

// Space is how much room for writing is left.
type Space int

// The levels. See package diskspace.
const (
	SpaceEnough Space = iota
	SpaceLow
	SpaceCritical
)

// checkSpace refuses what may not be written now: first what can be done later,
// then every change but logins and removals. Reads go on.
func (m *Mux) checkSpace(rt *Route) error {
	if m.o.Space == nil {
		return nil
	}
	level := m.o.Space()
	method, _, _ := strings.Cut(rt.Pattern, " ")
	switch {
	case level == SpaceEnough, rt.Login:
		return nil
	case rt.Deferrable, level == SpaceCritical && rt.mutates() && method != http.MethodDelete:
		return &fault.Error{Kind: fault.Unavailable, Message: "the server is short of disk space; try again later", After: time.Minute}
	}
	return nil
}
