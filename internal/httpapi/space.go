package httpapi

import (
	"net/http"
	"strings"
	"time"

	"vigil/internal/fault"
)

// Space is the level of free disk space.
type Space int

// The levels. See package diskspace.
const (
	SpaceEnough Space = iota
	SpaceLow
	SpaceCritical
)

// checkSpace refuses writes when disk space runs out: at the low level
// deferrable requests, at the critical level every change except logins and
// removals. Reads are always allowed.
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
