package azure

import (
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

// Names of services in rate limits.
const (
	armService   = "arm"
	graphService = "graph"
)

// graphCall is the prefix of calls of Microsoft Graph.
const graphCall = "graph:"

// conventions are those of Azure. They implement [collect.Conventions].
type conventions struct{}

// Permission implements [collect.Conventions]. The catalog has already set it.
func (conventions) Permission(r *resource.Request) string { return r.Permission }

// Service implements [collect.Conventions].
func (conventions) Service(r *resource.Request) string {
	if strings.HasPrefix(r.Call, graphCall) {
		return graphService
	}
	return armService
}

// EventSource implements [collect.Conventions].
func (conventions) EventSource(source string) string { return source }

// declarations returns the declared facts about the types of a catalog.
func declarations(c *resource.Catalog) []collect.Declaration {
	return collect.Declarations(c, collect.InOrderOfCalls(c, posture.Azure), conventions{})
}
